//go:build azure

package remote

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// azure is a server that stores what Azure's client writes, and refuses, as Azure
// does, to create what is there, and any key for the container locked.
func azure(t *testing.T) {
	var mu sync.Mutex
	objects := make(map[string][]byte)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		content, there := objects[r.URL.Path]
		refuse := func(status int, code string) {
			w.Header().Set("x-ms-error-code", code)
			w.WriteHeader(status)
		}
		switch {
		case strings.HasPrefix(r.URL.Path, "/account/locked/"):
			refuse(http.StatusForbidden, "AuthorizationFailure")
		case r.Method == http.MethodPut && there && r.Header.Get("If-None-Match") == "*":
			refuse(http.StatusConflict, "BlobAlreadyExists")
		case r.Method == http.MethodPut:
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			objects[r.URL.Path] = body
			w.WriteHeader(http.StatusCreated)
		case !there:
			refuse(http.StatusNotFound, "BlobNotFound")
		default:
			http.ServeContent(w, r, "", time.Unix(1, 0), bytes.NewReader(content))
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv("AZURE_STORAGE_ACCOUNT", "account")
	t.Setenv("AZURE_STORAGE_KEY", base64.StdEncoding.EncodeToString([]byte("key")))
	t.Setenv("AZURE_STORAGE_DOMAIN", server.Listener.Addr().String())
	t.Setenv("AZURE_STORAGE_PROTOCOL", "http")
	t.Setenv("AZURE_STORAGE_IS_LOCAL_EMULATOR", "true")
}

func TestAzure(t *testing.T) {
	azure(t) // its address is read once in a process
	b, err := OpenBucket(t.Context(), "azblob://bucket/folder")
	must(t, err)
	defer b.Close()
	for _, try := range []struct {
		content string
		won     bool
	}{{"first", true}, {"second", false}, {"first", true}} {
		won, inDoubt, err := b.Create(t.Context(), "record.json", []byte(try.content))
		if won != try.won || inDoubt || err != nil {
			t.Errorf("create %s: won %v, in doubt %v, %v", try.content, won, inDoubt, err)
		}
	}
	must(t, b.Write(t.Context(), "record.json", []byte("third")))
	got, err := b.Read(t.Context(), "record.json", 100)
	must(t, err)
	if string(got) != "third" {
		t.Errorf("the object has %q", got)
	}

	// A key that Azure refuses is refused at once, in one line.
	locked, err := OpenBucket(t.Context(), "azblob://locked")
	must(t, err)
	defer locked.Close()
	err = locked.Write(t.Context(), "a", []byte("a"))
	var answer azureError
	if !errors.As(err, &answer) || strings.Contains(err.Error(), "several times") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}
