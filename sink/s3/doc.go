// Package s3 tests runs in object stores against a real S3 server, whose dependencies
// the command's module does not get.
package s3
