package earlier

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// partOf writes rows as a part with row groups of size, and returns it with its digest.
func partOf[T any](t *testing.T, dir, table string, segment int, size int64, rows []T,
	options ...parquet.WriterOption) journal.Part {
	t.Helper()
	var out bytes.Buffer
	if err := parquet.Write(&out, rows, append(options, parquet.MaxRowsPerRowGroup(size))...); err != nil {
		t.Fatal(err)
	}
	p := journal.Part{Table: table, Segment: segment, Path: fmt.Sprintf("%s-%d.parquet", table, segment),
		Rows: int64(len(rows))}
	sum := sha256.Sum256(out.Bytes())
	p.Bytes, p.SHA256 = int64(out.Len()), hex.EncodeToString(sum[:])
	if err := os.WriteFile(filepath.Join(dir, p.Path), out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	return p
}

// An earlier run whose digests match what is wrong is not re-evaluated: bodies that are
// not those of their digests, bodies that no row needs, and targets out of order.
func TestAnEarlierRunFitsTogether_NoRace(t *testing.T) {
	type segment struct {
		fetches []schema.Fetch
		bodies  []schema.Body
	}
	for name, c := range map[string]struct {
		plant func(segments []segment) // of two targets each, in row groups of one
		want  string
	}{
		"nothing": {func([]segment) {}, ""},
		"two bodies, swapped": {func(s []segment) {
			s[0].bodies[0].Body, s[0].bodies[1].Body = s[0].bodies[1].Body,
				s[0].bodies[0].Body
		},
			"the table bodies has a body with the digest "},
		"a byte of a body": {func(s []segment) { s[1].bodies[1].Body[0]++ },
			"the table bodies has a body with the digest "},
		"two rows of bodies": {func(s []segment) { slices.Reverse(s[0].bodies) }, "where no row of fetches needs it"},
		"a body of no row": {func(s []segment) { s[0].bodies = slices.Insert(s[0].bodies, 0, s[1].bodies[0]) },
			"where no row of fetches needs it"},
		"a body again": {func(s []segment) { s[0].bodies = slices.Insert(s[0].bodies, 1, s[0].bodies[0]) },
			"where no row of fetches needs it"},
		"a body too few": {func(s []segment) { s[0].bodies = s[0].bodies[:1] },
			"the body of b.example is not in the table bodies"},
		"targets fall": {func(s []segment) { slices.Reverse(s[0].fetches); slices.Reverse(s[0].bodies) },
			"seq 1 follows seq 2"},
		"a body above the limit": {func(s []segment) { s[1].bodies[1].Body = make([]byte, 101) },
			"has a body of 101 bytes, and the run kept at most 100"},
		"an unknown error": {func(s []segment) { s[1].fetches[0].ErrorClass = new("odd\x1b[31m") },
			`seq 3: column error_class has "odd\x1b[31m", which is not one of its values`},
		"an unknown source":        {func(s []segment) { s[0].fetches[0].Source = "elsewhere" }, "column source has"},
		"a target twice":           {func(s []segment) { s[1].fetches[1].Seq = 3 }, "seq 3 follows seq 3"},
		"a target in two segments": {func(s []segment) { s[1].fetches[0].Seq = 2 }, "targets are counted twice"},
		"segments, swapped":        {func(s []segment) { s[0], s[1] = s[1], s[0] }, "targets are counted twice"},
	} {
		for _, order := range [][]int{{0, 1}, {1, 0}} { // segments are read in any
			segments := make([]segment, 2)
			for i, host := range []string{"a.example", "b.example", "c.example", "d.example"} {
				body := []byte("Disallow: /" + host + "\n")
				digest := schema.ContentDigest(body)
				of := &segments[i/2]
				of.fetches = append(of.fetches, schema.Fetch{Seq: int64(i + 1), Host: host, Scheme: "https", Port: 443,
					ContentDigest: &digest})
				of.bodies = append(of.bodies, schema.Body{ContentDigest: digest, Body: body})
			}
			c.plant(segments)
			e := &Run{in: sinktest.Open(t, t.TempDir()), spans: new(spans), limits: limits{100, 100, 100}}
			var seqs []int64
			var err error
			for _, i := range order {
				parts := &Segment{parts: map[string][]journal.Part{
					"fetches": {partOf(t, e.in.Path(""), "fetches", i, 1, segments[i].fetches)},
					"bodies":  {partOf(t, e.in.Path(""), "bodies", i, 10, segments[i].bodies)}},
				}
				if err == nil {
					err = e.readSegment(t.Context(), parts, anyOrigin, func(target target.Target) error {
						seqs = append(seqs, target.Seq)
						if want := "Disallow: /" + target.Capture.Origin.Host + "\n"; string(target.Capture.Body) != want {
							t.Errorf("%s: the body %q, want %q", name, target.Capture.Body, want)
						}
						return nil
					})
				}
			}
			if c.want == "" && (err != nil || len(seqs) != 4) || c.want != "" &&
				(err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s, segments %v: %v, and targets %v; want %q", name, order, err, seqs, c.want)
			}
		}
	}
}

// Where answers to identities are gone, their bodies are passed over, and not held.
func TestBodiesOfAnswersThatAreGone(t *testing.T) {
	var all []schema.Body
	for _, text := range []string{"a", "b", "a", "c", "d"} {
		all = append(all, schema.Body{ContentDigest: schema.ContentDigest([]byte(text)), Body: []byte(text)})
	}
	r := &bodyReader{Cursor: bodiesOf(t, all), limits: limits{100, 100, 100}, spare: true}
	digest := schema.ContentDigest([]byte("c"))
	r.expect([]schema.Fetch{{ContentDigest: &digest}}, nil, map[int64]bool{0: true})
	if body, err := r.body(&digest, "a.example"); err != nil || string(body) != "c" || len(r.held) > 0 {
		t.Errorf("the body %q, %v; %d are held", body, err, len(r.held))
	}
	if next, err := r.Next(); err != nil || string(next.Body) != "d" {
		t.Errorf("the body after it is %v, %v", next, err)
	}
}

// bodiesOf reads bodies from a part.
func bodiesOf(t *testing.T, rows []schema.Body) *rowio.Cursor[schema.Body] {
	in := sinktest.Open(t, t.TempDir())
	p := partOf(t, in.Path(""), "bodies", 0, 4, rows, parquet.SkipPageStatistics("body"), parquet.SkipPageBounds("body"))
	c := rowio.Follow[schema.Body](t.Context(), in, []journal.Part{p}, anyRows)
	t.Cleanup(c.Close)
	return c
}

func anyOrigin(fetch.Origin) bool { return true }

// Bodies that no wanted target needs are passed over; those of wanted ones are held against their
// digests.
func TestBodiesOfOtherTargets(t *testing.T) {
	a, b := schema.ContentDigest([]byte("a")), schema.ContentDigest([]byte("b"))
	rows := []schema.Fetch{{Seq: 1, ContentDigest: &a}, {Seq: 2, ContentDigest: &b}, {Seq: 3, ContentDigest: &a}}
	for _, c := range []struct{ a, b, want, err string }{
		{"a", "b", "a  a", ""}, {"a", "damaged", "a  a", ""}, {"damaged", "b", "", "has a body with the digest"},
	} {
		all := []schema.Body{{ContentDigest: a, Body: []byte(c.a)}, {ContentDigest: b, Body: []byte(c.b)}}
		r := &bodyReader{Cursor: bodiesOf(t, all), limits: limits{100, 100, 100}}
		r.expect(rows, nil, map[int64]bool{1: true})
		got, err := "", error(nil)
		for i := 0; i < len(rows) && err == nil; i++ {
			var body []byte
			if body, err = r.body(rows[i].KeptDigest(), "h.example"); i > 0 {
				got += " "
			}
			got += string(body)
		}
		if c.err == "" && (err != nil || got != c.want) || c.err != "" &&
			(err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// Where the segments of the earlier run are shards of hosts, they do not follow each other.
func TestShardsOfAnEarlierRunDoNotFollowEachOther(t *testing.T) {
	var none *spans
	if err := none.add(0, span{first: 5, last: 9, some: true}); err != nil {
		t.Error(err)
	}
	if err := none.add(1, span{first: 1, last: 7, some: true}); err != nil {
		t.Error(err)
	}
}

// Bodies that many rows need are held compressed beyond a bound: those of a stranger's
// part of some kilobytes may be a gigabyte.
func TestHeldBodiesTakeLittleMemory_NoRace(t *testing.T) {
	var rows []schema.Fetch
	var bodies []schema.Body
	for i := range 12 {
		body := make([]byte, 4<<20)
		body[0] = byte(i)
		digest := schema.ContentDigest(body)
		rows = append(rows, schema.Fetch{Seq: int64(i + 1), Host: "h.example", ContentDigest: &digest})
		bodies = append(bodies, schema.Body{ContentDigest: digest, Body: body})
	}
	rows = append(rows, rows...) // each body is needed again after all others
	r := &bodyReader{Cursor: bodiesOf(t, bodies)}
	isWanted := make(map[int64]bool)
	for i := range rows {
		isWanted[rows[i].Seq] = true
	}
	r.expect(rows, nil, isWanted)
	most := 0
	for i := range rows {
		body, err := r.body(rows[i].KeptDigest(), rows[i].Host)
		if err != nil || len(body) != 4<<20 || body[0] != byte(i%12) {
			t.Fatalf("row %d: %d bytes, %v", i, len(body), err)
		}
		held := 0
		for _, b := range r.held {
			held += len(b)
		}
		most = max(most, held)
	}
	if most > heldPlain+1<<20 || len(r.held) != 0 || r.room != heldPlain {
		t.Errorf("at most %d bytes are held, and %d bodies in the end, with room for %d", most, len(r.held), r.room)
	}
}
