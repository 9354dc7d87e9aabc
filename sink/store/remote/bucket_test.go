package remote

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/robocensus/robocensus/sink/store/internal/storetest"
)

// A store repeats a write whose answer is lost, and then finds the object there. Who
// has written it is in doubt until it is read.
func TestAWriteIsInDoubtUntilItIsRead(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusPreconditionFailed)
			fmt.Fprint(w, "<Error><Code>PreconditionFailed</Code></Error>")
			return
		}
		cancel() // the process ends before it has read the object
		<-r.Context().Done()
	})
	b, err := OpenBucket(t.Context(), url)
	must(t, err)
	defer b.Close()
	won, inDoubt, err := b.Create(ctx, "record.json", []byte("content"))
	if won || !inDoubt || err == nil {
		t.Errorf("won %v, in doubt %v, %v; want a write in doubt", won, inDoubt, err)
	}
}
