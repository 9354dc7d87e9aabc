//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
)

// ignoringStore is an S3 server that replaces what is there, whatever the condition.
type ignoringStore struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (s *ignoringStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/bucket/")
	content, there := s.objects[name]
	switch {
	case r.URL.Query().Has("list-type"):
		fmt.Fprint(w, "<ListBucketResult>")
		said := make(map[string]bool)
		for key, content := range s.objects {
			rest, ok := strings.CutPrefix(key, r.URL.Query().Get("prefix"))
			folder, _, deep := strings.Cut(rest, "/")
			switch {
			case !ok || said[folder]:
			case deep && r.URL.Query().Get("delimiter") != "":
				said[folder] = true
				fmt.Fprintf(w, "<CommonPrefixes><Prefix>%s/</Prefix></CommonPrefixes>", strings.TrimSuffix(key, rest)+folder)
			default:
				fmt.Fprintf(w,
					"<Contents><Key>%s</Key><Size>%d</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>", key,
					len(content))
			}
		}
		fmt.Fprint(w, "</ListBucketResult>")
	case r.Method == http.MethodPut:
		s.objects[name] = body
	case r.Method == http.MethodDelete:
		delete(s.objects, name)
		w.WriteHeader(http.StatusNoContent)
	case !there:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchKey</Code></Error>")
	default:
		http.ServeContent(w, r, "", time.Unix(1e9, 0), bytes.NewReader(content))
	}
}

// In a store that ignores conditional writes a run of shards ends before a host is asked
// or an input divided, with the exit code that no scheduler retries. One process makes
// its run, and is told.
func TestAStoreThatIgnoresConditions_NoRace(t *testing.T) {
	t.Parallel()
	s := &ignoringStore{objects: make(map[string][]byte)}
	server := httptest.NewServer(s)
	defer server.Close()
	var asked atomic.Int32
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, "User-agent: *\n")
	}))
	defer site.Close()
	dir := t.TempDir()
	hosts := filepath.Join(dir, "hosts.txt")
	if err := os.WriteFile(hosts, []byte("a.example\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	const folder = "s3://bucket/out"
	census := []string{"--hosts", hosts, "--out", folder, "--run", "r", "--schemes", "http", "--connect-to",
		strings.TrimPrefix(site.URL, "http://")}
	local := []string{"--spool", filepath.Join(dir, "spool"), "--progress", "none"}
	const fault = "robocensus: " + folder + ": the store ignores conditional writes (If-None-Match), so each of several " +
		"attempts at a shard would count; give an --out in another store, or make the run in one process\n"
	const note = "note: the store of " + folder + " ignores conditional writes (If-None-Match): let no other process " +
		"make this run, and make no run of shards there\n"
	for _, row := range []struct {
		args  []string
		code  int
		said  string
		asked int32
	}{
		{append([]string{"plan", "--shards", "2"}, census...), cli.ExitInput, fault, 0},
		{append(append([]string{"run", "--shards", "2", "--shard", "0"}, census...), local...), cli.ExitInput, fault, 0},
		{append(append([]string{"run"}, census...), local...), 0, note, 1},
	} {
		var said bytes.Buffer
		c := command(row.args...)
		c.Stderr = &said
		c.Env = append(c.Env, "AWS_ENDPOINT_URL="+server.URL, "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret",
			"AWS_REGION=us-east-1")
		if code := exitOf(t, c.Run()); code != row.code || !strings.Contains(said.String(), row.said) ||
			asked.Load() != row.asked {
			t.Errorf("%q: exit %d, %d hosts asked\n%s", row.args, code, asked.Load(), &said)
		}
		s.mu.Lock()
		if _, complete := s.objects["out/_runs/r/manifest.json"]; complete != (row.code == 0) || row.code != 0 &&
			len(s.objects) > 0 {
			t.Errorf("%q: complete %v, with %d objects", row.args, complete, len(s.objects))
		}
		s.mu.Unlock()
	}
}
