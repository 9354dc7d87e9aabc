// Package storetest has what tests of object stores share.
package storetest

import (
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// Bucket starts an S3 server on loopback that handle answers for, sets the environment
// of its clients, and returns the URL of a folder in it.
func Bucket(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1",
		"AWS_ENDPOINT_URL":          server.URL,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	return "s3://bucket/folder"
}
