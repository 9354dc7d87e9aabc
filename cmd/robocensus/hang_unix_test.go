//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
)

// hangingStore is an object store with the runs a and b. It never answers for an
// object and, unless lists is set, not for a list either. asked gets a value for each
// such request.
func hangingStore(t *testing.T, lists bool) (url string, asked chan struct{}) {
	asked = make(chan struct{}, 100)
	end := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lists && r.URL.Query().Get("list-type") == "2" {
			io.WriteString(w,
				`<ListBucketResult><KeyCount>2</KeyCount><CommonPrefixes><Prefix>out/_runs/a/</Prefix></CommonPrefixes><CommonPrefixes><Prefix>out/_runs/b/</Prefix></CommonPrefixes></ListBucketResult>`)
			return
		}
		if lists && r.URL.Path == "/bucket/out/_runs" { // a folder is no object
			w.WriteHeader(http.StatusNotFound)
			return
		}
		asked <- struct{}{}
		<-end
	}))
	t.Cleanup(func() { close(end); server.Close() })
	return server.URL, asked
}

// One signal ends a command that waits for an object store.
func TestASignalEndsTheWaitForAnObjectStore(t *testing.T) {
	t.Parallel()
	oneSignalEnds(t, []string{"run", "--from-run", waitedFor + "/_runs/b", "--out", t.TempDir(), "--progress", "none"})
}

func TestASignalEndsTheWaitForAnObjectStore_NoRace(t *testing.T) {
	t.Parallel()
	oneSignalEnds(t,
		[]string{"runs", "--out", waitedFor},
		[]string{"verify", "--out", waitedFor, "b"},
		[]string{"verify", "--out", waitedFor, "latest"},
		[]string{"report", "--out", waitedFor, "b"},
		[]string{"diff", "--out", waitedFor, "a", "b"},
		[]string{"series", "--out", waitedFor},
		[]string{"export", "--out", waitedFor, "b", "fetches"},
		[]string{"publish", "--out", waitedFor, "b", "--to", filepath.Join(t.TempDir(), "set"), "--creator", "Doe, Jane",
			"--licence", "CC-BY-4.0"},
		[]string{"prune", "--out", waitedFor, "--keep", "1"})
}

const waitedFor = "s3://bucket/out" // in a hangingStore

func oneSignalEnds(t *testing.T, commands ...[]string) {
	t.Helper()
	for _, lists := range []bool{false, true} {
		for _, args := range commands {
			t.Run(strings.Join(args[:1], " ")+map[bool]string{false: " before the first list", true: " after it"}[lists],
				func(t *testing.T) {
					t.Parallel()
					url, asked := hangingStore(t, lists)
					var said bytes.Buffer
					c := command(args...)
					c.Stderr = &said
					c.Env = append(c.Env, "AWS_ENDPOINT_URL="+url, "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret",
						"AWS_REGION=us-east-1")
					if err := c.Start(); err != nil {
						t.Fatal(err)
					}
					select {
					case <-asked:
					case <-time.After(30 * time.Second):
						c.Process.Kill()
						c.Wait()
						t.Fatalf("asked nothing\n%s", &said)
					}
					c.Process.Signal(syscall.SIGINT)
					late := time.AfterFunc(time.Minute, func() { c.Process.Kill() }) // the store never answers
					code := exitOf(t, c.Wait())
					late.Stop()
					if code != cli.ExitInterrupted {
						t.Errorf("exit %d\n%s", code, &said)
					}
					if !strings.Contains(said.String(), "interrupted") || strings.Count(said.String(), "\n") != 1 {
						t.Errorf("said %q", &said)
					}
				})
		}
	}
}
