package audit

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// newConfig asks a server on loopback for every host.
func newConfig(t *testing.T, handler http.HandlerFunc, hosts string) pipeline.Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	google, _ := robots.ProfileNamed("google")
	agents, err := evaluate.ParseAgents("agents", []byte("- {name: GPTBot}\n- {name: Googlebot}\n"))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := evaluate.ParseSamples("urls", []byte("/\n/private\nhttp://h1.example/own\nhttp://nowhere.example/x\n"))
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Config{
		Dir: filepath.Join(t.TempDir(), "out"), Run: "r", Source: source.Config{Hosts: writeFile(t, "hosts", []byte(hosts)), Schemes: []string{"http"}},
		Evaluate: evaluate.Config{Agents: agents, Samples: samples, Profiles: []*robots.Profile{google}}, Tables: sink.TableNames,
		Fetch: fetch.Config{
			UserAgent: "test", Timeout: 20 * time.Second, MaxRedirects: 5, MaxBody: 1 << 20, Concurrency: 50, PerAddress: 4, PerDomain: 50,
			ConnectTo: netip.MustParseAddrPort(server.Listener.Addr().String()),
		},
	}
}

func list(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "h%d.example\n", i)
	}
	return text.String()
}

var firstDay = time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC)

func down(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }

func rowsOf[T any](t *testing.T, c pipeline.Config, table string) []T {
	t.Helper()
	rows, err := parquet.ReadFile[T](filepath.Join(c.Dir, table, "run="+c.Run, "part-0000000000.parquet"))
	must(t, err)
	return rows
}

func writeFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, content, 0o666))
	return path
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// heldBy counts the records of a sorter and their bytes.
func heldBy(s *sorter.Sorter) (records, size int, err error) {
	m, err := s.Sorted()
	for err == nil {
		var key, value []byte
		if key, value, err = m.Next(); err == nil {
			records, size = records+1, size+len(key)+len(value)
		}
	}
	if err == io.EOF {
		err = nil
	}
	return records, size, err
}
