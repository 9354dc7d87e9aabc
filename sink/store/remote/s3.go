package remote

import (
	"context"
	"net/url"
	"os"

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
func openS3(ctx context.Context, name string) (*blob.Bucket, error) {
	settings := url.Values{"response_checksum_validation": {"when_required"}}
	elsewhere := os.Getenv("AWS_ENDPOINT_URL") != "" || os.Getenv("AWS_ENDPOINT_URL_S3") != ""
	if elsewhere && os.Getenv("AWS_REGION") == "" && os.Getenv("AWS_DEFAULT_REGION") == "" {
		settings.Set("region", "us-east-1")
	}
	config, err := aws.V2ConfigFromURLParams(ctx, settings)
	if err != nil {
		return nil, err
	}
	config.Logger = logging.Nop{} // it would write remarks on broken answers to standard error
	client := s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = elsewhere })
	return s3blob.OpenBucket(ctx, client, name, &s3blob.Options{RequestChecksumCalculation: config.RequestChecksumCalculation})
}
