package lookup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// hostOf names the host of a target. Every seventh host stands twice, as captures do.
func hostOf(seq int64) string { return fmt.Sprintf("h%d.example", seq-seq%7/6) }

// policiesOf is the number of policies of a target; some targets have none, and one has
// more than a page.
func policiesOf(seq int64) int {
	if seq == 1500 {
		return 70_000
	}
	return int(seq % 5 * 40)
}

// written writes a run of two segments and returns its manifest.
func written(t testing.TB, dir string, targets int64) *journal.Manifest {
	t.Helper()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "policies", "rules"},
		Profiles: []string{"google"}})
	must(t, err)
	defer run.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for index := range int64(2) {
		s, err := run.Segment(int(index))
		must(t, err)
		for seq := index*targets/2 + 1; seq <= (index+1)*targets/2; seq++ {
			must(t, s.Fetches.Write(schema.Fetch{Seq: seq, Host: hostOf(seq), Input: fmt.Sprint(seq),
				Origin: fmt.Sprintf("https://%s:%d", hostOf(seq), random.IntN(65535))}))
			policies := make([]schema.Policy, policiesOf(seq))
			for i := range policies {
				policies[i] = schema.Policy{Seq: seq, Host: hostOf(seq), Agent: fmt.Sprint(i), Class: fmt.Sprint(random.IntN(1000))}
			}
			must(t, s.Policies.Write(policies...))
		}
		s.Targets = targets / 2
		must(t, s.Commit())
	}
	must(t, run.Complete(sink.Completion{Tally: journal.Tally{Targets: targets}}))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	return m
}

// Every target is found by its host, with its rows, and a host that is not in the run
// is not; a scan of whole tables has the same rows.
func TestRowsOfHosts(t *testing.T) {
	const targets = 3000
	dir, ctx := t.TempDir(), context.Background()
	m := written(t, dir, targets)
	want := make(map[int64]*strings.Builder)
	for _, p := range m.PartsOf("policies") {
		parts := []journal.Part{p}
		must(t, rowio.Of(ctx, sinktest.Open(t, dir), parts, rowio.Selection{}, func(batch []schema.Policy) error {
			for _, row := range batch {
				if want[row.Seq] == nil {
					want[row.Seq] = new(strings.Builder)
				}
				fmt.Fprintf(want[row.Seq], "%s %s\n", row.Agent, row.Class)
			}
			return nil
		}))
	}
	in, err := store.Open(ctx, dir)
	must(t, err)
	defer in.Close()
	r := Open(in, m)
	defer r.Close()
	for seq := int64(1); seq <= targets; seq += 1 + seq%53 {
		found, err := r.Targets(ctx, hostOf(seq))
		must(t, err)
		var seqs []int64
		for i := range found {
			if found[i].Host != hostOf(seq) || found[i].Input != fmt.Sprint(found[i].Seq) {
				t.Errorf("host %s: found %+v", hostOf(seq), found[i].Fetch)
			}
			seqs = append(seqs, found[i].Seq)
			rows, err := Rows[schema.Policy](ctx, r, "policies", &found[i])
			must(t, err)
			var text strings.Builder
			for _, p := range rows {
				fmt.Fprintf(&text, "%s %s\n", p.Agent, p.Class)
			}
			scanned := ""
			if want[found[i].Seq] != nil {
				scanned = want[found[i].Seq].String()
			}
			if scanned != text.String() {
				t.Errorf("policies of target %d: scanned\n%.300s\nlooked up\n%.300s", found[i].Seq, scanned, text.String())
			}
		}
		all := []int64{seq}
		switch seq % 7 {
		case 6:
			all = []int64{seq - 1, seq}
		case 5:
			all = []int64{seq, seq + 1}
		}
		if diff := cmp.Diff(all, seqs); diff != "" {
			t.Errorf("targets of host %s (-want +got):\n%s", hostOf(seq), diff)
		}
	}
	both, err := r.Targets(ctx, hostOf(2900), "none.example", hostOf(1))
	must(t, err)
	if len(both) != 2 || both[0].Seq != 1 || both[1].Seq != 2900 {
		t.Errorf("two hosts: %+v", both)
	}
	if rows, err := Rows[schema.Rule](ctx, r, "rules", &both[0]); err != nil || len(rows) != 0 {
		t.Errorf("a table without rows of the target: %v, %v", rows, err)
	}
	if rows, err := Rows[schema.Line](ctx, r, "lines", &both[0]); err != nil || len(rows) != 0 {
		t.Errorf("a table that the run lacks: %v, %v", rows, err)
	}
}

// counted counts what is read of a store's files.
type counted struct {
	store.Store
	requests, bytes atomic.Int64
	open, most      atomic.Int64 // files
}

func (c *counted) OpenAt(name string) (store.ReaderAtCloser, error) {
	in, err := c.Store.OpenAt(name)
	if n := c.open.Add(1); n > c.most.Load() { // about
		c.most.Store(n)
	}
	return &countedFile{in, c}, err
}

func (f *countedFile) Close() error {
	f.in.open.Add(-1)
	return f.ReaderAtCloser.Close()
}

type countedFile struct {
	store.ReaderAtCloser
	in *counted
}

func (f *countedFile) ReadAt(b []byte, at int64) (int, error) {
	f.in.requests.Add(1)
	f.in.bytes.Add(int64(len(b)))
	return f.ReaderAtCloser.ReadAt(b, at)
}

// One host of many costs few reads of few bytes, as each is a request to a bucket.
func TestFewReads(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	m := written(t, dir, 20_000)
	in, err := store.Open(ctx, dir)
	must(t, err)
	defer in.Close()
	c := &counted{Store: in}
	r := Open(c, m)
	defer r.Close()
	found, err := r.Targets(ctx, hostOf(15_001))
	must(t, err)
	rows, err := Rows[schema.Policy](ctx, r, "policies", &found[0])
	must(t, err)
	if len(rows) == 0 || c.requests.Load() > 16 || c.bytes.Load() > 1<<20 {
		t.Errorf("%d rows by %d reads of %d bytes", len(rows), c.requests.Load(), c.bytes.Load())
	}
	// A part that does not have the host costs one read, of its end: a run has many of them.
	c.requests.Store(0)
	again := Open(c, m)
	defer again.Close()
	found, err = again.Targets(ctx, "nobody.example")
	if parts := int64(len(m.PartsOf("fetches"))); err != nil || len(found) > 0 || c.requests.Load() != parts {
		t.Errorf("%d targets of nobody by %d reads of %d parts, %v", len(found), c.requests.Load(), parts, err)
	}
}

// Of a run of many parts, few are open.
func TestFewDescriptors(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	m := written(t, dir, 200)
	in, err := store.Open(ctx, dir)
	must(t, err)
	defer in.Close()
	part := m.PartsOf("fetches")[0]
	for i := range 100 { // under other names
		other := part
		other.Path = fmt.Sprintf("fetches/run=r/copy-%d.parquet", i)
		must(t, os.Link(filepath.Join(dir, part.Path), filepath.Join(dir, other.Path)))
		m.Parts = append(m.Parts, other)
	}
	c := &counted{Store: in}
	r := Open(c, m)
	for range 2 { // and opened again
		found, err := r.Targets(ctx, hostOf(1))
		must(t, err)
		if len(found) != 101 {
			t.Fatalf("found %d times, want 101", len(found))
		}
	}
	if c.most.Load() > atOnce || c.open.Load() > atOnce {
		t.Errorf("%d files were open, at last %d", c.most.Load(), c.open.Load())
	}
	// Another look-up reads their filters, and not their footers.
	c.bytes.Store(0)
	found, err := r.Targets(ctx, "nobody.example")
	if err != nil || len(found) > 0 || c.bytes.Load() > 102<<10 {
		t.Errorf("%d targets of nobody by %d bytes, %v", len(found), c.bytes.Load(), err)
	}
	must(t, r.Close())
	if c.open.Load() != 0 {
		t.Errorf("%d files stay open", c.open.Load())
	}
}

// Damaged parts are an error that names the part, and never a panic or much memory.
func TestDamagedParts(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	m := written(t, dir, 400)
	in, err := store.Open(ctx, dir)
	must(t, err)
	defer in.Close()
	random := rand.New(rand.NewPCG(3, 4))
	failed := 0
	for range 400 {
		p := m.Parts[random.IntN(len(m.Parts))]
		path := filepath.Join(dir, filepath.FromSlash(p.Path))
		content, err := os.ReadFile(path)
		must(t, err)
		damaged := append([]byte{}, content...)
		for range 1 + random.IntN(3) {
			at := random.IntN(len(damaged))
			if random.IntN(2) == 0 { // the footer
				at = len(damaged) - 1 - random.IntN(min(len(damaged), 2000))
			}
			damaged[at] = byte(random.Uint32())
		}
		must(t, os.WriteFile(path, damaged, 0o666))
		r := Open(in, m)
		found, err := r.Targets(ctx, hostOf(1), hostOf(399))
		for i := range found {
			if err == nil {
				_, err = Rows[schema.Policy](ctx, r, "policies", &found[i])
			}
		}
		must(t, r.Close())
		if err != nil {
			failed++
			if at := new(rowio.PartError); !errors.As(err, &at) || at.Path == "" {
				t.Errorf("%v does not name the part", err)
			}
		}
		must(t, os.WriteFile(path, content, 0o666))
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

// A canceled search ends.
func TestCanceled(t *testing.T) {
	dir := t.TempDir()
	m := written(t, dir, 100)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in, err := store.Open(context.Background(), dir)
	must(t, err)
	defer in.Close()
	r := Open(in, m)
	defer r.Close()
	if _, err := r.Targets(ctx, "h1.example"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A window has the bytes of the file, at its end as well.
func TestWindows(t *testing.T) {
	content := make([]byte, 3*window+77)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	w := &windowed{in: strings.NewReader(string(content)), size: int64(len(content))}
	for range 2000 {
		at, n := rand.Int64N(int64(len(content))+10), rand.IntN(2*window)
		got := make([]byte, n)
		k, err := w.ReadAt(got, at)
		want := content[min(at, int64(len(content))):min(at+int64(n), int64(len(content)))]
		if string(got[:k]) != string(want) || (err == io.EOF) != (k < n) || err != nil && err != io.EOF {
			t.Fatalf("%d bytes at %d: %d, %v", n, at, k, err)
		}
	}
}

// A body is found by its target's digest, or by that of the earlier copy in its place,
// and one with another digest is damage.
func TestBodies(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "bodies"}, Profiles: []string{
		"google"}})
	must(t, err)
	defer run.Close()
	s, err := run.Segment(0)
	must(t, err)
	bodies := []string{"User-agent: *\n", "", "# copy\n", "# forged\n"}
	var digests []string
	for _, body := range bodies {
		digests = append(digests, schema.ContentDigest([]byte(body)))
		kept := body
		if body == "# forged\n" {
			kept = "# other\n"
		}
		must(t, s.Bodies.Write(schema.Body{ContentDigest: digests[len(digests)-1], Body: []byte(kept)}))
	}
	for i, f := range []schema.Fetch{
		{ContentDigest: &digests[0]}, {ContentDigest: &digests[1]}, {CopyDigest: &digests[2]}, {ContentDigest: &digests[3]},
		{}, {ContentDigest: new("ABSENT")},
	} {
		f.Seq, f.Host = int64(i+1), fmt.Sprintf("h%d.example", i)
		must(t, s.Fetches.Write(f))
	}
	s.Targets = 6
	must(t, s.Commit())
	must(t, run.Complete(sink.Completion{Tally: journal.Tally{Targets: 6}}))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	in, err := store.Open(ctx, dir)
	must(t, err)
	defer in.Close()
	r := Open(in, m)
	defer r.Close()
	for i := range 6 {
		found, err := r.Targets(ctx, fmt.Sprintf("h%d.example", i))
		must(t, err)
		body, err := Body(ctx, r, &found[0])
		switch {
		case i == 3:
			if at := new(rowio.PartError); !errors.As(err, &at) || !strings.Contains(err.Error(), "another digest") {
				t.Errorf("a forged body: %q, %v", body, err)
			}
		case i < 3 && (err != nil || body == nil || string(body) != bodies[i]), i > 3 && (err != nil || body != nil):
			t.Errorf("body %d: %q, %v", i, body, err)
		}
	}
}
