package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
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

// Another writer's object is not taken for this one's, even if it is as long.
func TestAnotherWritersObjectIsNotOurs(t *testing.T) {
	for found, want := range map[string]bool{"content": true, "another": false, "content and more": false} {
		url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				w.WriteHeader(http.StatusPreconditionFailed)
				fmt.Fprint(w, "<Error><Code>PreconditionFailed</Code></Error>")
				return
			}
			fmt.Fprint(w, found)
		})
		b, err := OpenBucket(t.Context(), url)
		must(t, err)
		defer b.Close()
		won, inDoubt, err := b.Create(t.Context(), "record.json", []byte("content"))
		if won != want || inDoubt || err != nil {
			t.Errorf("%q is there: won %v, in doubt %v, %v", found, won, inDoubt, err)
		}
	}
}

// An object that some tools create for a folder is not in the folder.
func TestTheObjectOfAFolderIsNotListed(t *testing.T) {
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		const object = "<Contents><Key>%s</Key><Size>1</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
		fmt.Fprintf(w, "<ListBucketResult>"+object+object+"</ListBucketResult>", "folder/", "folder/a.json")
	})
	b, err := OpenBucket(t.Context(), url)
	must(t, err)
	defer b.Close()
	var names []string
	must(t, b.List(t.Context(), "", false, func(e Entry) error { names = append(names, e.Name); return nil }))
	if !slices.Equal(names, []string{"a.json"}) {
		t.Errorf("%q are listed", names)
	}
}

// A key that is missing is as wrong as another one: it does not come by trying again.
func TestAMissingKeyIsRefused(t *testing.T) {
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) { t.Error("a request without a key") })
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"} {
		t.Setenv(name, "")
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	b, err := OpenBucket(t.Context(), url)
	if err == nil {
		defer b.Close()
		_, err = b.Read(t.Context(), "manifest.json", 1)
	}
	if !errors.Is(err, ErrRefused) || !strings.Contains(fmt.Sprint(err), "no key is set: give AWS_ACCESS_KEY_ID") {
		t.Errorf("%v", err)
	}
}
