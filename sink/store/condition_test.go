package store

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/robocensus/robocensus/sink/store/internal/storetest"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Whether a store keeps to the condition of a Put shows before anything relies on it,
// and asking leaves nothing there.
func TestWhetherAStoreKeepsToConditions(t *testing.T) {
	var mu sync.Mutex
	objects := make(map[string]string)
	does, asked := "", 0
	bucket := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		name := strings.TrimPrefix(r.URL.Path, "/bucket/")
		there, ok := objects[name]
		fail := func(status int, code string) {
			w.WriteHeader(status)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
		}
		if r.URL.Query().Has("list-type") {
			fmt.Fprint(w, "<ListBucketResult/>")
			return
		}
		asked++
		switch {
		case r.Method == http.MethodPut && does == "refuse":
			fail(http.StatusNotImplemented, "NotImplemented")
		case r.Method == http.MethodPut && does == "forbid":
			fail(http.StatusForbidden, "AccessDenied")
		case r.Method == http.MethodPut && ok && does == "keep" && r.Header.Get("If-None-Match") == "*":
			fail(http.StatusPreconditionFailed, "PreconditionFailed")
		case r.Method == http.MethodPut:
			objects[name] = string(body)
		case r.Method == http.MethodDelete:
			delete(objects, name)
			w.WriteHeader(http.StatusNoContent)
		case !ok:
			fail(http.StatusNotFound, "NoSuchKey")
		default:
			fmt.Fprint(w, there)
		}
	})
	var want error
	for _, does = range []string{"folder", "keep", "ignore", "refuse", "forbid"} {
		dir := bucket
		if does == "folder" {
			dir = t.TempDir()
		}
		s, err := Create(t.Context(), dir)
		must(t, err)
		asked, want = 0, map[string]error{"ignore": ErrUnconditional, "refuse": remote.ErrNoCondition,
			"forbid": remote.ErrRefused}[does]
		err = CheckPut(s, ".")
		if !errors.Is(err, want) || (want == nil) != (err == nil) || err != nil && (FaultOf(err) != OfSettings ||
			!strings.Contains(err.Error(), dir)) {
			t.Errorf("%s: %v", does, err)
		}
		if list, err := s.List("."); len(list)+len(objects) > 0 || err != nil {
			t.Errorf("%s: left %v, %q, %v", does, list, slices.Sorted(maps.Keys(objects)), err)
		}
		if asked > 5 {
			t.Errorf("%s: asked %d times", does, asked)
		}
		must(t, s.Close())
	}
	if s, err := Create(t.Context(), path.Join(t.TempDir(), "out")); err != nil {
		t.Error(err)
	} else if err := CheckPut(s, "none"); err == nil { // what cannot be written is an error, not a store that is fine
		t.Error("a folder that is not there")
	}
}
