package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// What several writers may want is written in one request, whatever its size: some stores
// ignore the condition where an upload in parts is completed. Only files of one writer are
// sent in parts.
func TestWhatDecidesIsOneRequest(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, fmt.Sprintf("%s %d MiB, if none match %q", r.Method, n>>20, r.Header.Get("If-None-Match")))
		switch {
		case r.URL.Query().Has("uploads"):
			asked[len(asked)-1] = "begin parts"
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>")
		case r.URL.Query().Has("uploadId"):
			asked = asked[:len(asked)-1]
			w.Header().Set("ETag", `"x"`)
			if r.Method == http.MethodPost {
				fmt.Fprint(w, "<CompleteMultipartUploadResult/>")
			}
		}
	})
	b, err := OpenBucket(t.Context(), url)
	must(t, err)
	defer b.Close()
	large := make([]byte, 33<<20)
	won, _, err := b.Create(t.Context(), "plan.json", large)
	if !won || err != nil {
		t.Errorf("create: %v, %v", won, err)
	}
	must(t, b.Write(t.Context(), "against.json", large))
	must(t, b.Upload(t.Context(), "part.parquet", bytes.NewReader(large)))
	if want := []string{`PUT 33 MiB, if none match "*"`, `PUT 33 MiB, if none match ""`, "begin parts"}; !slices.Equal(
		asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// A store that does not know the condition says so at once, and is not asked again.
func TestAStoreThatRefusesConditions(t *testing.T) {
	asked := 0
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.WriteHeader(http.StatusNotImplemented)
		fmt.Fprint(w, "<Error><Code>NotImplemented</Code><Message>If-None-Match</Message></Error>")
	})
	b, err := OpenBucket(t.Context(), url)
	must(t, err)
	defer b.Close()
	if won, inDoubt, err := b.Create(t.Context(), "plan.json", nil); won || inDoubt || !errors.Is(err, ErrNoCondition) {
		t.Errorf("won %v, in doubt %v, %v", won, inDoubt, err)
	}
	if asked > 3 { // the library repeats what has a status of 500 and more
		t.Errorf("asked %d times", asked)
	}
}

// Another writer's object is not taken for this one's, even if it is as long. So it is
// where the store refuses the write, and where the connection ends before its answer.
func TestAnotherWritersObjectIsNotOurs(t *testing.T) {
	refuses := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusPreconditionFailed)
		fmt.Fprint(w, "<Error><Code>PreconditionFailed</Code></Error>")
	}
	breaks := func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }
	for _, answer := range []func(http.ResponseWriter){refuses, breaks} {
		for found, want := range map[string]bool{"content": true, "another": false, "content and more": false} {
			var writes atomic.Int32
			url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPut {
					writes.Add(1)
					answer(w)
					return
				}
				fmt.Fprint(w, found)
			})
			b, err := OpenBucket(t.Context(), url)
			must(t, err)
			defer b.Close()
			won, inDoubt, err := b.Create(t.Context(), "record.json", []byte("content"))
			if won != want || inDoubt || err != nil || writes.Load() > 3 { // the library repeats a request that breaks
				t.Errorf("%q is there: won %v, in doubt %v after %d writes, %v", found, won, inDoubt, writes.Load(), err)
			}
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

// A refusal says what to look at, and that of a bucket that does not exist names it: a
// server answers HEAD for a missing object and for a missing bucket alike.
func TestRefusalsSayWhatToDo(t *testing.T) {
	for code, row := range map[string]struct {
		status int
		listed string // the answer to a list, "" for the code
		says   string
	}{
		"InvalidAccessKeyId": {http.StatusForbidden, "",
			"check the key, what it may do, and the name of the bucket"},
		"NoSuchBucket": {http.StatusNotFound, "", "s3://bucket: there is no such bucket"},
		"NoSuchKey":    {http.StatusNotFound, "<ListBucketResult/>", fs.ErrNotExist.Error()},
		"NoSuchKey, and no right to list": {http.StatusNotFound, "<Error><Code>AccessDenied</Code></Error>",
			fs.ErrNotExist.Error()},
	} {
		url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
			isList := r.URL.Query().Has("list-type")
			switch {
			case isList && strings.Contains(row.listed, "AccessDenied"):
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, row.listed)
			case isList && row.listed != "":
				fmt.Fprint(w, row.listed)
			default:
				w.WriteHeader(row.status)
				if r.Method != http.MethodHead {
					fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
				}
			}
		})
		_, err := Open(t.Context(), url+"/list.csv")
		isMissing := row.says == fs.ErrNotExist.Error()
		if err == nil || !strings.Contains(err.Error(), row.says) || errors.Is(err, fs.ErrNotExist) != isMissing ||
			errors.Is(err, ErrRefused) == isMissing {
			t.Errorf("%s: %v", code, err)
		}
	}
}

// Two names that differ are two objects, so that archives whose names differ are not one.
func TestNamesAreTakenByteForByte(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Path)
	})
	bucket := strings.TrimSuffix(url, "/folder")
	for _, name := range []string{"/a/x", "//a/x", "/a//x"} {
		o, err := Open(t.Context(), bucket+name)
		must(t, err)
		if o.URL != bucket+name {
			t.Errorf("%s%s is named %s", bucket, name, o.URL)
		}
		must(t, o.Close())
	}
	if want := []string{"/bucket/a/x", "/bucket//a/x", "/bucket/a//x"}; !slices.Equal(asked, want) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
}
