package publish

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// compared compares a run that is published with one that is re-evaluated.
func compared(t *testing.T, published, again func(segment int, r *rowsOfSegment), sample func(string) bool) (
	map[string]Comparison, error) {
	t.Helper()
	one, other := t.TempDir(), t.TempDir()
	a, b := aRun(t, one, "r", published), aRun(t, other, "r", again)
	return comparisonsOf(t, one, a, other, b, sample)
}

func comparisonsOf(t *testing.T, one string, a *journal.Manifest, other string, b *journal.Manifest,
	sample func(string) bool) (map[string]Comparison, error) {
	all, err := Compare(t.Context(), nil, sinktest.Open(t, one), a, Again{In: sinktest.Open(t, other), Run: b,
		InSample: sample})
	of := make(map[string]Comparison)
	for _, c := range all {
		of[c.Table] = c
	}
	return of, err
}

// Tables are the same if each segment has the same rows, as often.
func TestRowsThatDifferAreFound_NoRace(t *testing.T) {
	in := func(segment int, change func(r *rowsOfSegment)) func(int, *rowsOfSegment) {
		return func(at int, r *rowsOfSegment) {
			if at == segment {
				change(r)
			}
		}
	}
	null := "x"
	for name, c := range map[string]struct {
		published, again func(segment int, r *rowsOfSegment)
		differ           []string
	}{
		"nothing": {nil, nil, nil},
		// An exclusive or of the hashes of rows would be the same.
		"a pair, doubled": {
			in(0, func(r *rowsOfSegment) { r.verdicts[1], r.verdicts[2] = r.verdicts[0], r.verdicts[0] }),
			in(0, func(r *rowsOfSegment) { r.verdicts[1], r.verdicts[2] = r.verdicts[3], r.verdicts[3] }), []string{"verdicts"},
		},
		"a row twice": {in(1, func(r *rowsOfSegment) { r.policies = append(r.policies, r.policies[2]) }), nil,
			[]string{"policies"}},
		"a row less": {in(1, func(r *rowsOfSegment) { r.verdicts = r.verdicts[:11] }), nil, []string{"verdicts"}},
		"a cell":     {in(1, func(r *rowsOfSegment) { r.verdicts[11].Verdict = "disallow" }), nil, []string{"verdicts"}},
		"a null":     {in(1, func(r *rowsOfSegment) { r.verdicts[11].GroupAgent = &null }), nil, []string{"verdicts"}},
		"a number":   {in(0, func(r *rowsOfSegment) { r.fetches[2].Lines = 1 }), nil, []string{"fetches"}},
		"a flag":     {in(0, func(r *rowsOfSegment) { r.fetches[2].HasBOM = true }), nil, []string{"fetches"}},
		"a hop":      {in(0, func(r *rowsOfSegment) { r.fetches[2].Hops[0].URL += "/" }), nil, []string{"fetches"}},
		"an answer": {in(0, func(r *rowsOfSegment) { r.fetches[2].AnswersSince = []schema.Seen{{Since: time.Unix(1, 0)}} }),
			in(0, func(r *rowsOfSegment) { r.fetches[2].AnswersSince = []schema.Seen{{Since: time.Unix(2, 0)}} }),
			[]string{"fetches"}},
		"a body": {in(0, func(r *rowsOfSegment) { r.bodies[2].Body[0]++ }), nil, []string{"bodies"}},
		"two cells, swapped": {in(0, func(r *rowsOfSegment) {
			r.verdicts[0].Verdict, r.verdicts[0].Reason = "rule",
				"allow"
		}),
			in(0, func(r *rowsOfSegment) { r.verdicts[0].Verdict, r.verdicts[0].Reason = "allow", "rule" }),
			[]string{"verdicts"}},
		"two columns of two rows, swapped": {in(0, func(r *rowsOfSegment) {
			r.verdicts[0].Verdict, r.verdicts[1].Verdict = "disallow", "allow"
		}),
			in(0, func(r *rowsOfSegment) { r.verdicts[0].Verdict, r.verdicts[1].Verdict = "allow", "disallow" }),
			[]string{"verdicts"}},
		"a counter": {in(0, func(r *rowsOfSegment) { r.counts[1].Count++ }), nil, []string{"summary"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := compared(t, c.published, c.again, nil)
			must(t, err)
			var differ []string
			for table, one := range got {
				if !one.Looked || one.Unseen != 0 {
					t.Errorf("%s was not compared: %+v", table, one)
				}
				if !one.Same {
					differ = append(differ, table)
				}
			}
			if !slices.Equal(differ, c.differ) || len(got) != 6 {
				t.Errorf("of %d tables %v differ, want %v", len(got), differ, c.differ)
			}
		})
	}
}

// Without the column url nobody knows which verdicts cannot be re-evaluated: if the others
// are not all, nothing is said of them.
func TestVerdictsWithoutURLs(t *testing.T) {
	dir := t.TempDir()
	run := aRun(t, dir, "r", nil)
	set := filepath.Join(t.TempDir(), "set")
	_, err := Write(t.Context(), Config{In: sinktest.Open(t, dir), Runs: []*journal.Manifest{run}, To: set,
		Without:  []string{"verdicts.url"},
		Metadata: Metadata{Title: "A census", Creators: []string{"Doe, Jane"}, Licence: "CC-BY-4.0"}})
	must(t, err)
	published, err := journal.ReadManifest(sinktest.Open(t, set), "r")
	must(t, err)
	other := t.TempDir()
	fewer := aRun(t, other, "r", func(segment int, r *rowsOfSegment) { r.verdicts = r.verdicts[1:] })
	for _, again := range []struct {
		dir    string
		run    *journal.Manifest
		looked bool
	}{{dir, run, true}, {other, fewer, false}} {
		all, err := Compare(t.Context(), published.Without, sinktest.Open(t, set), published,
			Again{In: sinktest.Open(t, again.dir), Run: again.run})
		must(t, err)
		for _, c := range all {
			if c.Table == "verdicts" && (c.Looked != again.looked || c.Same != again.looked ||
				(c.Note == "") != again.looked) || c.Table != "verdicts" && !c.Same {
				t.Errorf("%+v", c)
			}
		}
	}
}

// Without a column of fetches, or the URLs of verdicts, the counters that need it are not
// compared, and all others are.
func TestCountersThatAreLost_NoRace(t *testing.T) {
	count := func(metric string, n int64) schema.Count { return schema.Count{Metric: metric, Count: n} }
	plant := func(changed string) func(int, *rowsOfSegment) {
		return func(_ int, r *rowsOfSegment) {
			for _, metric := range []string{"server", "server_slow", "total_us", "tld_slow", "address_block",
				"address_block_slow", "verdict", "status"} {
				n := int64(1)
				if metric == changed {
					n = 2
				}
				r.counts = append(r.counts, count(metric, n))
			}
		}
	}
	for without, lost := range map[string][]string{
		"":                       nil,
		"fetches.server":         {"server", "server_slow"},
		"fetches.remote_address": {"address_block", "address_block_slow"},
		"fetches.total_us":       {"total_us", "tld_slow", "address_block_slow", "server_slow"},
		"verdicts.url":           {"verdict"},
	} {
		for _, metric := range []string{"server", "server_slow", "total_us", "tld_slow", "address_block",
			"address_block_slow", "verdict", "status"} {
			one, other := t.TempDir(), t.TempDir()
			a, b := aRun(t, one, "r", plant("")), aRun(t, other, "r", plant(metric))
			p := new(provenance)
			if without != "" {
				p.Without, a.Without = []string{without}, []string{without}
			}
			all, err := Compare(t.Context(), p.Without, sinktest.Open(t, one), a, Again{In: sinktest.Open(t, other), Run: b})
			must(t, err)
			for _, c := range all {
				if c.Table == "summary" && c.Same != slices.Contains(lost, metric) {
					t.Errorf("without %q, another count of %s: same is %v; %s", without, metric, c.Same, c.Note)
				}
			}
		}
	}
}

// The order of rows within a seq does not matter, that of seqs and segments does.
func TestRowsOutOfOrder_NoRace(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(segment int, r *rowsOfSegment)
		want  string // "" for different rows
		same  bool
	}{
		"within a seq": {func(_ int, r *rowsOfSegment) { slices.Reverse(r.verdicts[:4]) }, "", true},
		"of seqs":      {func(_ int, r *rowsOfSegment) { slices.Reverse(r.verdicts) }, "seq 2 follows seq 3", false},
		"a seq again":  {func(_ int, r *rowsOfSegment) { r.fetches[2].Seq = r.fetches[1].Seq }, "seq 2 follows seq 2", false},
		"of segments": {func(segment int, r *rowsOfSegment) {
			for i := range r.verdicts {
				r.verdicts[i].Seq += int64(3 - 6*segment)
				r.verdicts[i].Host = fmt.Sprintf("h%d.example", r.verdicts[i].Seq)
			}
		}, "", false},
	} {
		got, err := compared(t, c.plant, nil, nil)
		if c.want != "" {
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
			continue
		}
		if err != nil || got["verdicts"].Same != c.same || got["verdicts"].Rows != 24 {
			t.Errorf("%s: %v, %+v", name, err, got["verdicts"])
		}
	}
}

// A sample shows what differs of its hosts, and says what it does not look at.
func TestSampleOfHosts_NoRace(t *testing.T) {
	sample := func(host string) bool { return host == "h2.example" || host == "h6.example" }
	ofSample := func(segment int, r *rowsOfSegment) {
		r.fetches = slices.DeleteFunc(r.fetches, func(row schema.Fetch) bool { return !sample(row.Host) })
		r.policies = slices.DeleteFunc(r.policies, func(row schema.Policy) bool { return !sample(row.Host) })
		r.verdicts = slices.DeleteFunc(r.verdicts, func(row schema.Verdict) bool { return !sample(row.Host) })
		r.counts[0].Count = 1
	}
	for name, c := range map[string]struct {
		plant func(segment int, r *rowsOfSegment)
		same  bool
		rows  int64
	}{
		"the same":             {nil, true, 8},
		"a host of the sample": {func(_ int, r *rowsOfSegment) { r.verdicts[7-3].Verdict = "disallow" }, false, 8},
		"another host":         {func(_ int, r *rowsOfSegment) { r.verdicts[0].Verdict = "disallow" }, true, 8},
		"a row more, of no target": {func(_ int, r *rowsOfSegment) {
			r.verdicts = append(r.verdicts, schema.Verdict{Seq: 9, Host: "h1.example", URL: "/"})
		}, false, 10},
		"a row less, of the sample": {func(segment int, r *rowsOfSegment) {
			r.verdicts = slices.Delete(r.verdicts, 8-4*(1-segment), 9-4*(1-segment))
		}, false, 6},
	} {
		got, err := compared(t, c.plant, ofSample, sample)
		must(t, err)
		for _, table := range []string{"summary", "bodies"} {
			if one := got[table]; one.Looked || one.Same || one.Unseen == 0 {
				t.Errorf("%s: %s is %+v, though it cannot be compared", name, table, one)
			}
		}
		if one := got["verdicts"]; !one.Looked || one.Same != c.same || one.Rows != c.rows || one.OtherRows != 8 ||
			one.Unseen != 16 {
			t.Errorf("%s: verdicts %+v", name, one)
		}
		if one := got["fetches"]; !one.Same || one.Rows != 2 || one.Unseen != 4 {
			t.Errorf("%s: fetches %+v", name, one)
		}
		if one := got["agents"]; !one.Looked || !one.Same || one.Unseen != 0 {
			t.Errorf("%s: agents %+v", name, one)
		}
	}
}

// A host of the sample cannot hide behind another name in fetches alone, nor another host there
// behind one of the sample.
func TestHostsRenamedInFetchesAlone_NoRace(t *testing.T) {
	sample := func(host string) bool { return host == "h2.example" || host == "h6.example" }
	rename := func(to string) func(int, *rowsOfSegment) {
		return func(segment int, r *rowsOfSegment) {
			if segment == 0 {
				r.fetches[1].Host = to
			}
		}
	}
	for to, strange := range map[string]bool{"other.example": true, "h1.example": true, "h2.example": false} {
		got, err := compared(t, rename(to), func(segment int, r *rowsOfSegment) {
			rename(to)(segment, r)
			of := make(map[int64]bool)
			r.fetches = slices.DeleteFunc(r.fetches, func(row schema.Fetch) bool { return !sample(row.Host) })
			for _, row := range r.fetches {
				of[row.Seq] = true
			}
			r.counts[0].Count = int64(len(r.fetches))
			r.policies = slices.DeleteFunc(r.policies, func(row schema.Policy) bool { return !of[row.Seq] })
			r.verdicts = slices.DeleteFunc(r.verdicts, func(row schema.Verdict) bool { return !of[row.Seq] })
		}, sample)
		must(t, err)
		for _, table := range []string{"policies", "verdicts"} {
			if one := got[table]; one.Same == strange || strings.Contains(one.Note,
				"a host of the sample that the table fetches does not name") != strange {
				t.Errorf("%s in fetches: %s is %+v", to, table, one)
			}
		}
	}
}

// Rows cannot hide from a sample behind false statistics, which are found.
func TestStatisticsThatHideRows_NoRace(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	a, b := aRun(t, one, "r", nil), aRun(t, other, "r", nil)
	for i := range a.Parts {
		p := &a.Parts[i]
		if p.Table != "verdicts" || p.Segment != 0 {
			continue
		}
		file := filepath.Join(one, filepath.FromSlash(p.Path))
		content, err := os.ReadFile(file)
		must(t, err)
		end := len(content) - 8
		begin := end - int(binary.LittleEndian.Uint32(content[end:]))
		said := func(n uint64) []byte { return append([]byte{8}, binary.LittleEndian.AppendUint64(nil, n)...) }
		footer := bytes.ReplaceAll(bytes.ReplaceAll(content[begin:end], said(1), said(101)), said(3), said(103))
		if bytes.Equal(footer, content[begin:end]) {
			t.Fatal("the footer has no statistics of seq")
		}
		copy(content[begin:], footer)
		must(t, os.WriteFile(file, content, 0o666))
		p.SHA256 = digestOf(content)
	}
	_, err := comparisonsOf(t, one, a, other, b, func(host string) bool { return host == "h2.example" })
	if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(),
		"column seq: has values that its statistics exclude") {
		t.Error(err)
	}
}

// Parts that say another configuration are twins, and no others: not with another byte in
// a page, and not with another word in the footer.
func TestTwins_NoRace(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	a, b := aRun(t, one, "r", nil), aRun(t, other, "r", nil) // of other configurations
	if a.ConfigurationDigest == b.ConfigurationDigest {
		t.Fatal("the runs have the same configuration")
	}
	for i := range a.Parts {
		twins, err := areTwins(t.Context(), sinktest.Open(t, one), a.Parts[i], sinktest.Open(t, other), b.Parts[i])
		if err != nil || !twins {
			t.Errorf("%s: %v, %v", a.Parts[i].Path, twins, err)
		}
	}
	at := slices.IndexFunc(a.Parts, func(p journal.Part) bool { return p.Table == "verdicts" })
	p := a.Parts[at]
	file := filepath.Join(one, filepath.FromSlash(p.Path))
	good, err := os.ReadFile(file)
	must(t, err)
	footer := len(good) - 8 - int(binary.LittleEndian.Uint32(good[len(good)-8:]))
	twins := 0
	for i := 4; i < len(good)-8; i += 13 {
		content := bytes.Clone(good)
		content[i] ^= 1
		must(t, os.WriteFile(file, content, 0o666))
		p.SHA256 = digestOf(content)
		if same, err := areTwins(t.Context(), sinktest.Open(t, one), p, sinktest.Open(t, other), b.Parts[at]); same &&
			err == nil {
			// the first of what it says of the run
			if i < footer+bytes.Index(good[footer:], []byte("robocensus.configuration_digest")) {
				t.Errorf("with another byte at %d of %d they are twins", i, len(good))
			}
			twins++
		}
	}
	if twins == 0 || twins > 10 {
		t.Errorf("%d bytes do not matter", twins)
	}
}

// Equal rows have equal hashes, whatever came before them; rows that differ in one cell, of
// whatever type, have others.
func TestHashOfRows(t *testing.T) {
	type hop struct {
		URL    string
		Status *int32
	}
	type row struct {
		Text  string     `parquet:"text"`
		Maybe *string    `parquet:"maybe"`
		N     int64      `parquet:"n"`
		Is    bool       `parquet:"is"`
		Part  *float64   `parquet:"part"`
		At    *time.Time `parquet:"at"`
		Body  []byte     `parquet:"body"`
		Names []string   `parquet:"names"`
		Hops  []hop      `parquet:"hops"`
		Other string     `parquet:"other"` // which is not compared
	}
	empty, status, half, now := "", int32(5), 0.5, time.UnixMicro(7)
	rows := []row{
		{}, {Text: "a"}, {Text: "b"}, {Maybe: &empty}, {N: 1}, {Is: true}, {Part: &half}, {At: &now}, {Body: []byte("a")},
		{Names: []string{"a"}}, {Names: []string{"a", "a"}}, {Names: []string{""}}, {Names: []string{"", ""}},
		{Hops: []hop{{}}}, {Hops: []hop{{URL: "a"}}}, {Hops: []hop{{Status: &status}}}, {Hops: []hop{{}, {}}},
	}
	columns := []string{"text", "maybe", "n", "is", "part", "at", "body", "names", "hops"}
	h := newRowHash()
	one := h.of(reflect.TypeFor[row](), columns)
	seen := make(map[uint64]int)
	for i, r := range rows {
		hash := one.row(unsafe.Pointer(&r))
		if j, ok := seen[hash]; ok {
			t.Errorf("rows %d and %d have the same hash", i, j)
		}
		seen[hash] = i
	}
	other := h.of(reflect.TypeFor[row](), columns)
	for i := len(rows) - 1; i >= 0; i-- {
		rows[i].Other = "x"
		if hash := other.row(unsafe.Pointer(&rows[i])); seen[hash] != i {
			t.Errorf("row %d has another hash", i)
		}
	}
	if _, same := seen[newRowHash().of(reflect.TypeFor[row](), columns).row(unsafe.Pointer(&rows[1]))]; same {
		t.Error("the hash has no secret")
	}
}

// The parts of a segment add up, and a shard that is re-evaluated has many segments.
func TestSumsOfParts(t *testing.T) {
	var one, other rowSum
	for _, hash := range []uint64{1, 2, 1 << 63, 1 << 63} {
		one.add(hash)
		other.join(rowSum{1, hash})
	}
	if one != other || one != (rowSum{4, 3}) {
		t.Errorf("%+v and %+v", one, other)
	}
	var twice rowSum
	for range 2 { // two parts with the same rows do not cancel each other
		twice.join(one)
	}
	if twice != (rowSum{8, 6}) {
		t.Errorf("twice %+v is %+v", one, twice)
	}
	c := &comparing{runs: [2]held{{Manifest: &journal.Manifest{Plan: journal.Plan{Shards: 4}}},
		{Manifest: &journal.Manifest{Plan: journal.Plan{Shards: 1}}}}}
	for _, row := range []struct{ side, segment, want int }{{0, 3, 3}, {1, 3*journal.SegmentsPerVolume + 7, 3}} {
		if got := c.segment(row.side, journal.Part{Segment: row.segment}); got != row.want {
			t.Errorf("segment %d of run %d stands in %d, want %d", row.segment, row.side, got, row.want)
		}
	}
}
