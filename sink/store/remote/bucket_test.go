package remote

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
)

// A store repeats a write whose answer is lost, and then finds the object there. Who
// has written it is in doubt until it is read.
func TestAWriteIsInDoubtUntilItIsRead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusPreconditionFailed)
			fmt.Fprint(w, "<Error><Code>PreconditionFailed</Code></Error>")
			return
		}
		cancel() // the process ends before it has read the object
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1", "AWS_ENDPOINT_URL": server.URL,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull,
	} {
		t.Setenv(name, value)
	}
	b, err := OpenBucket(t.Context(), "s3://bucket/folder")
	must(t, err)
	defer b.Close()
	won, inDoubt, err := b.Create(ctx, "record.json", []byte("content"))
	if won || !inDoubt || err == nil {
		t.Errorf("won %v, in doubt %v, %v; want a write in doubt", won, inDoubt, err)
	}
}
