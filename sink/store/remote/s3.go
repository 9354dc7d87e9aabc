package remote

import _ "gocloud.dev/blob/s3blob"

func init() { schemes = append(schemes, "s3") }
