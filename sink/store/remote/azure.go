//go:build azure

package remote

import (
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	_ "gocloud.dev/blob/azureblob"
)

func init() {
	schemes = append(schemes, "azblob")
	asS3 = append(asS3, func(err error) error {
		var answer *azcore.ResponseError
		if errors.As(err, &answer) {
			return azureError{answer, err}
		}
		return err
	})
}

// azureError is an answer of Azure on one line, with the methods that errors of S3 have.
type azureError struct {
	answer *azcore.ResponseError
	err    error
}

func (e azureError) Error() string {
	return fmt.Sprintf("%s (%d)", e.answer.ErrorCode, e.answer.StatusCode)
}
func (e azureError) Unwrap() error       { return e.err }
func (e azureError) HTTPStatusCode() int { return e.answer.StatusCode }
func (e azureError) ErrorCode() string   { return e.answer.ErrorCode }
