//go:build azure

package remote

import _ "gocloud.dev/blob/azureblob"

func init() { schemes = append(schemes, "azblob") }
