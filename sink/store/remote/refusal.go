package remote

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"gocloud.dev/gcerrors"
)

// refusals are answers that no repetition changes: a wrong key or request.
var refusals = []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
	http.StatusMethodNotAllowed}

// passingCodes are the codes of S3 that have the status of a refusal and may pass: of a
// request that did not arrive whole, of a key that is renewed, of a clock that is set.
var passingCodes = []string{"RequestTimeout", "IncompleteBody", "BadDigest", "XAmzContentSHA256Mismatch",
	"ExpiredToken", "RequestExpired", "TokenRefreshRequired", "RequestTimeTooSkewed"}

// noBucket are the codes of S3 and Azure for a bucket that does not exist. Without
// them, an object that is missing and a bucket that is missing have the same status.
var noBucket = []string{"NoSuchBucket", "ContainerNotFound"}

// asS3 gives errors of other stores the methods that those of S3 have.
var asS3 []func(error) error

// codeOf returns the code of S3 in an error, "" without one.
func codeOf(err error) string {
	var coded interface{ ErrorCode() string }
	if !errors.As(err, &coded) {
		return ""
	}
	return coded.ErrorCode()
}

// statusOf returns the status of the answer that an error tells of, 0 without an answer.
func statusOf(err error) int {
	var answer interface{ HTTPStatusCode() int }
	if !errors.As(err, &answer) {
		return 0
	}
	return answer.HTTPStatusCode()
}

// explain makes the error of an operation on a name, with the causes that package
// fs knows.
func (b *Bucket) explain(op, name string, err error) error {
	if err == nil {
		return nil
	}
	for _, as := range asS3 {
		err = as(err)
	}
	cause := err
	isRefused := slices.Contains(refusals, statusOf(err))
	switch of, code := gcerrors.Code(err), codeOf(err); {
	case slices.Contains(noBucket, code):
		cause = refused{err}
	case of == gcerrors.NotFound:
		cause = fs.ErrNotExist
	case strings.Contains(err.Error(), "Invalid region"):
		cause = refused{fmt.Errorf("set AWS_REGION, or AWS_ENDPOINT_URL for a store that is not Amazon's: %w", err)}
	case strings.Contains(err.Error(), "no EC2 IMDS role found"): // the last place where a key is looked for
		cause = refused{fmt.Errorf("no key is set: give AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the "+
			"machine a role: %w", err)}
	case slices.Contains(passingCodes, code):
	case isRefused, of == gcerrors.InvalidArgument, of == gcerrors.Unimplemented, of == gcerrors.PermissionDenied:
		cause = refused{fmt.Errorf("%w; check the key, what it may do, and the name of the bucket: %w", ErrRefused, err)}
	}
	return &fs.PathError{Op: op, Path: b.URL(name), Err: cause}
}

// call repeats an operation on a name until it succeeds or fails for good.
func (b *Bucket) call(ctx context.Context, op, name string, f func(ctx context.Context) error) error {
	return repeat(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		return b.explain(op, name, f(ctx))
	})
}
