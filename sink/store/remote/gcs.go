//go:build gcs

package remote

import _ "gocloud.dev/blob/gcsblob"

func init() { schemes = append(schemes, "gs") }
