package pipeline

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"go.uber.org/goleak"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

func TestMain(m *testing.M) {
	sinktest.TrustTestServers()
	goleak.VerifyTestMain(m)
}

// newConfig returns the configuration of a run that asks a server on loopback for
// every host.
func newConfig(t *testing.T, handler http.HandlerFunc, hosts string) Config {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	google, _ := robots.ProfileNamed("google")
	agents, _, err := registry.ParseAgents("agents", []byte("- {name: GPTBot}\n- {name: Googlebot}\n"))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := registry.ParseSamples("urls", []byte("/\n/private\nhttp://h1.example/own\nhttp://nowhere.example/x\n"))
	if err != nil {
		t.Fatal(err)
	}
	return Config{
		Dir: filepath.Join(t.TempDir(), "out"), Run: "r", Source: source.Config{Hosts: writeFile(t, "hosts", []byte(hosts)),
			Schemes: []string{"http"}},
		Evaluate: evaluate.Config{Agents: agents, Samples: samples, Profiles: []*robots.Profile{google}},
		Tables:   schema.TableNames,
		Fetch: client.Config{
			UserAgent: "test", Timeout: 20 * time.Second, Limits: fetch.Limits{MaxRedirects: 5, MaxBody: 1 << 20},
			Concurrency: 50, PerAddress: 4, PerDomain: 50,
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

// int64s and texts read a column of all parts of a table, in order.
func int64s(t *testing.T, c Config, table, name string) (out []int64) {
	t.Helper()
	each(t, c, table, name, func(column any) {
		for i, a := 0, column.(*array.Int64); i < a.Len(); i++ {
			out = append(out, a.Value(i))
		}
	})
	return out
}

func texts(t *testing.T, c Config, table, name string) (out []string) {
	t.Helper()
	each(t, c, table, name, func(column any) {
		for i, a := 0, column.(*array.String); i < a.Len(); i++ {
			out = append(out, a.Value(i))
		}
	})
	return out
}

func each(t *testing.T, c Config, table, name string, f func(column any)) {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, c.Dir), c.Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.Parts {
		if p.Table != table {
			continue
		}
		r, err := file.OpenParquetFile(filepath.Join(c.Dir, p.Path), false)
		if err != nil {
			t.Fatal(err)
		}
		a, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		all, err := a.ReadTable(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, chunk := range all.Column(all.Schema().FieldIndices(name)[0]).Data().Chunks() {
			f(chunk)
		}
		r.Close()
	}
}

func TestRowsKeepTheOrderOfTheInput(t *testing.T) {
	n := pieceTargets + 10
	first := make(chan struct{})
	var answered atomic.Int64
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == "h0.example" {
			<-first // the first host is the slowest; it delays only its segment
		} else if answered.Add(1) == int64(n-1) {
			close(first)
		}
		fmt.Fprintf(w, "User-agent: *\nDisallow: /private\n# %s", r.Host)
	}, list(n))
	var progress Progress
	result, err := Run(context.Background(), c, &progress)
	if err != nil {
		t.Fatal(err)
	}
	hosts, seqs := texts(t, c, "fetches", "host"), int64s(t, c, "fetches", "seq")
	if len(hosts) != n || result.Targets != int64(n) {
		t.Fatalf("%d rows of %d targets, want %d", len(hosts), result.Targets, n)
	}
	for i := range n {
		if hosts[i] != fmt.Sprintf("h%d.example", i) || seqs[i] != int64(i+1) {
			t.Fatalf("row %d is %s with seq %d", i, hosts[i], seqs[i])
		}
	}
	// Two agents, two paths on every host, and one URL on its own origin.
	if got, want := result.Rows["verdicts"], int64(2*2*n+2); got != want {
		t.Errorf("%d verdicts, want %d", got, want)
	}
	urls := make(map[string]int)
	for _, u := range texts(t, c, "verdicts", "url") {
		urls[u]++
	}
	if urls["http://h1.example/own"] != 2 || urls["/private"] != 2*n {
		t.Errorf("verdicts by URL: %v", urls)
	}
	if got := rejectedReasons(t, c); len(got) != 1 || got[0] != "origin_not_in_run" {
		t.Errorf("rejected: %v", got)
	}
	if s := progress.Snapshot(); s.Fetched != int64(n) || s.Written != int64(n) || s.Answered != int64(n) {
		t.Errorf("progress: %+v", s)
	}
}

func rejectedReasons(t *testing.T, c Config) (reasons []string) {
	t.Helper()
	f, err := os.Open(filepath.Join(c.Dir, "_runs", c.Run, "rejected.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		reasons = append(reasons, row[2])
	}
	return reasons
}

// Bodies that do not fit into memory go through the disk, and give the same rows.
func TestLargeBodies(t *testing.T) {
	const size = 1 << 20
	n := 104
	if testing.Short() {
		n = 40
	}
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		head := "User-agent: *\nDisallow: /" + r.Host + "\n"
		fmt.Fprint(w, head, strings.Repeat("#", size-len(head)))
	}, list(n))
	c.Memory = 128 << 20 // bodies may take 16 MiB of it
	result, err := Run(context.Background(), c, new(Progress))
	if err != nil {
		t.Fatal(err)
	}
	patterns := texts(t, c, "rules", "pattern")
	if len(patterns) != n || result.Rows["bodies"] != int64(n) {
		t.Fatalf("%d rules and %d bodies of %d hosts", len(patterns), result.Rows["bodies"], n)
	}
	for i, p := range patterns {
		if want := fmt.Sprintf("/h%d.example", i); p != want {
			t.Fatalf("rule %d is %s, want %s", i, p, want)
		}
	}
	for i, size := range int64s(t, c, "fetches", "body_bytes") {
		if size != 1<<20 {
			t.Fatalf("body %d has %d bytes", i, size)
		}
	}
	files, err := os.ReadDir(filepath.Join(c.Dir, "_runs", c.Run))
	if got := fmt.Sprint(files); err != nil || got != "[- manifest.json - plan.json - rejected.csv d segments/]" {
		t.Errorf("files of the run: %v, %v", got, err)
	}
}

func TestSpilledBodiesComeBack(t *testing.T) {
	var s spill
	var places []*place
	folder := t.TempDir()
	scratch := in(t, folder)
	for i := range 3 {
		p, err := s.put(scratch, []byte(strings.Repeat("x", i)))
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, p)
	}
	for i := range places {
		if body, err := s.take(places[i]); err != nil || len(body) != i {
			t.Fatalf("body %d: %q, %v", i, body, err)
		}
	}
	s.close()
	s.close()
	if files, err := os.ReadDir(folder); err != nil || len(files) != 0 {
		t.Errorf("left: %v, %v", files, err)
	}
}

func TestACancelledRunKeepsWhatIsCommitted(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	c := newConfig(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Host == fmt.Sprintf("h%d.example", pieceTargets+5) {
			select {
			case <-end:
			case <-r.Context().Done():
			}
		}
	}, list(pieceTargets+10))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var progress Progress
	done := make(chan error)
	go func() {
		_, err := Run(ctx, c, &progress)
		done <- err
	}()
	for progress.Snapshot().Written < pieceTargets {
		select {
		case err := <-done:
			t.Fatalf("ended before it was cancelled: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if got := len(texts(t, c, "fetches", "host")); got != pieceTargets {
		t.Errorf("%d rows, want those of the first segment", got)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "views.sql")); err != nil {
		t.Error(err)
	}
}

func TestAFailingDiskEndsTheRun(t *testing.T) {
	c := newConfig(t, func(http.ResponseWriter, *http.Request) {}, list(pieceTargets*3))
	if err := os.MkdirAll(c.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	// A file in place of the folder of a table.
	if err := os.WriteFile(filepath.Join(c.Dir, "verdicts"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Run(context.Background(), c, new(Progress))
	if err == nil || !strings.Contains(err.Error(), "verdicts") {
		t.Fatalf("error %v", err)
	}
	parts, _ := filepath.Glob(filepath.Join(c.Dir, "*", "run=r", "*"))
	if len(parts) != 0 {
		t.Errorf("parts are left: %v", parts)
	}
}

func TestGateLetsBodiesDrain(t *testing.T) {
	g := newBackpressure(&Config{})
	ctx := context.Background()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(g.enter(ctx))
	g.hold(int(g.held + 1))
	must(g.enter(ctx)) // no segment is full: waiting would never end
	g.filled()
	entered := make(chan error)
	go func() { entered <- g.enter(ctx) }()
	select {
	case <-entered:
		t.Fatal("entered while a full segment holds too many bytes")
	case <-time.After(20 * time.Millisecond):
	}
	g.leave(g.held+1, 0)
	must(<-entered)
	stopped, cancel := context.WithCancel(ctx)
	for range minOpen - 2 {
		must(g.enter(ctx))
	}
	go func() { entered <- g.enter(stopped) }()
	cancel()
	if err := <-entered; !errors.Is(err, context.Canceled) {
		t.Errorf("a ninth segment: %v", err)
	}
}
