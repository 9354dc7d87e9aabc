package remote

import (
	"context"
	"errors"
	"math"
	"net/url"
	"os"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"
	"gocloud.dev/aws"
	"gocloud.dev/blob"
	"gocloud.dev/blob/s3blob"
)

func init() { schemes = append(schemes, "s3") }

// openS3 opens a bucket. Stores other than Amazon's need no names of buckets in the
// DNS, and often know no region. Parts have digests of their own, so an answer without
// a checksum is fine.
//
// whole has the client library write an object in one request. Of itself it sends 16 MiB
// and more in parts, and gocloud.dev has no setting for that, but shows the library's
// manager of a write before the write.
func openS3(ctx context.Context, name string) (b *blob.Bucket, whole func(as func(any) bool) error, err error) {
	settings := url.Values{"response_checksum_validation": {"when_required"}}
	elsewhere := os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_S3") != ""
	if elsewhere && os.Getenv("AWS_REGION") == "" && os.Getenv("AWS_DEFAULT_REGION") == "" {
		settings.Set("region", "us-east-1")
	}
	config, err := aws.V2ConfigFromURLParams(ctx, settings)
	if err != nil {
		return nil, nil, err
	}
	config.Logger = logging.Nop{} // it would write remarks on broken answers to standard error
	client := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = elsewhere })
	b, err = s3blob.OpenBucket(ctx, client, name,
		&s3blob.Options{RequestChecksumCalculation: config.RequestChecksumCalculation})
	return b, func(as func(any) bool) error {
		var manager *transfermanager.Client
		if !as(&manager) {
			return errInParts
		}
		*manager = *transfermanager.New(client, func(o *transfermanager.Options) {
			o.RequestChecksumCalculation = config.RequestChecksumCalculation
			o.MultipartUploadThreshold = math.MaxInt64
		})
		return nil
	}, err
}

// errInParts reports a client library that this code does not know.
var errInParts = errors.New("the client library may write the object in parts")
