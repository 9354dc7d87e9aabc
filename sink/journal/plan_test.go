package journal

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/schema"
)

func TestAPlanIsWrittenOnce(t *testing.T) {
	f, p := newFolder(t), described()
	if _, _, err := ReadPlan(f, "r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no plan: %v", err)
	}
	digest := f.begin(t, &p)
	other := described()
	must(t, other.Prepare())
	other.Tables = []string{"fetches"}
	if won, _, err := PutPlan(f, &other); won || err != nil {
		t.Errorf("a second plan: won %v, %v", won, err)
	}
	got, itsDigest, err := ReadPlan(f, "r")
	must(t, err)
	if !got.Same(&p) || itsDigest != digest || got.Same(&other) {
		t.Errorf("the plan reads as %+v, %s", got, itsDigest)
	}
	if p.SchemaVersion != schema.SchemaVersion || p.SummaryBins != schema.BinsVersion || p.Shards != 1 ||
		p.PublicSuffixes != "" {
		t.Errorf("the plan is %+v", p)
	}
	const settings = "bfa5d6a2629b" // of {"hosts":"hosts.csv","retries":2,"schemes":["https","http"]}
	if !strings.HasPrefix(p.ConfigurationDigest, settings) {
		t.Errorf("the settings have the digest %s", p.ConfigurationDigest)
	}
}

// What is written must be readable: no reader takes a plan above the bound.
func TestAPlanThatIsTooLarge(t *testing.T) {
	p := described()
	must(t, p.Prepare())
	content, _, err := seal(&p)
	must(t, err)
	f := newFolder(t)
	must(t, f.MakeFolder(layout.RunFile("r")))
	p.ToolVersion += strings.Repeat("x", maxSealed-len(content)+1)
	won, _, err := PutPlan(f, &p)
	if want := "the plan of the run has 67108865 bytes, more than 67108864: plan fewer shards or archives"; won ||
		err == nil || err.Error() != want {
		t.Errorf("won %v, %.200v, want %s", won, err, want)
	}
	if _, _, err := ReadPlan(f, "r"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a plan that was refused: %.200v", err)
	}
	if testing.Short() {
		return
	}
	p.ToolVersion = p.ToolVersion[1:]
	if won, _, err := PutPlan(f, &p); !won || err != nil {
		t.Fatalf("the largest plan: won %v, %.200v", won, err)
	}
	if _, _, err := ReadPlan(f, "r"); err != nil {
		t.Errorf("the largest plan: %.200v", err)
	}
}

// A plan that people may look at is JSON. A long one, as of the archives of a crawl, is
// compressed; what an earlier version has written as it is stays readable.
func TestALongPlanIsCompressed(t *testing.T) {
	p := described()
	must(t, p.Prepare())
	stored := func(f folder) []byte {
		t.Helper()
		content, err := f.Read(layout.RunFile("r", layout.PlanName), maxSealed)
		must(t, err)
		return content
	}
	short := newFolder(t)
	short.begin(t, &p)
	if content := stored(short); !json.Valid(content) {
		t.Errorf("a short plan is %.40q", content)
	}
	for i := range 30_000 {
		p.Inputs = append(p.Inputs, Input{Role: "warc", Path: fmt.Sprintf("crawl/CC-MAIN-%05d.warc.gz", i),
			IdentifiedWhenRead: true})
	}
	plain, digest, err := seal(&p)
	must(t, err)
	long := newFolder(t)
	if got := long.begin(t, &p); got != digest {
		t.Errorf("the digest is %s, and that of the JSON %s", got, digest)
	}
	packed := stored(long)
	if len(plain) <= maxPlain || len(packed) > len(plain)/4 {
		t.Errorf("a plan of %d bytes takes %d", len(plain), len(packed))
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	must(t, err)
	if content, err := io.ReadAll(r); err != nil || !bytes.Equal(content, plain) {
		t.Errorf("gzip reads %d bytes, %v, want the %d of the JSON", len(content), err, len(plain))
	}
	for what, content := range map[string][]byte{"compressed": packed, "as it was": plain} {
		long.write(t, "_runs/r/plan.json", content)
		if got, itsDigest, err := ReadPlan(long, "r"); err != nil || !got.Same(&p) || itsDigest != digest {
			t.Errorf("%s: %d inputs, %s, %v", what, len(got.Inputs), itsDigest, err)
		}
	}
	for _, n := range []int{2, 9, 10, len(packed) / 2, len(packed) - 1} {
		long.write(t, "_runs/r/plan.json", packed[:n])
		if _, _, err := ReadPlan(long, "r"); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
		other := bytes.Clone(packed)
		other[n] ^= 1
		long.write(t, "_runs/r/plan.json", other)
		// a header's time and name say nothing
		if got, _, err := ReadPlan(long, "r"); !errors.Is(err, ErrDamaged) && !(err == nil && got.Same(&p)) {
			t.Errorf("byte %d changed: %v", n, err)
		}
	}
}

// A small file may become a large one.
func TestAPlanThatIsABomb(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := w.Write(make([]byte, maxSealed+1))
	must(t, err)
	must(t, w.Close())
	f := newFolder(t)
	f.write(t, "_runs/r/plan.json", bomb.Bytes())
	if _, _, err := ReadPlan(f, "r"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(),
		"it has more than 67108864 bytes") {
		t.Errorf("%v", err)
	}
}

func TestAPlanThatIsNotOfItsRun(t *testing.T) {
	f, p := newFolder(t), described()
	p.Shards = 2
	p.Lists = []List{{Path: layout.List("r", 0, "a")}, {Path: layout.List("r", 1, "b")}}
	f.begin(t, &p)
	if _, _, err := ReadPlan(f, "r"); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name   string
		change func(*Plan)
		want   string // in the error
	}{
		{"of another run", func(p *Plan) { p.Run = "s" }, `it is the plan of run "s"`},
		{"a table that there is not", func(p *Plan) { p.Tables = []string{"secrets"} }, `no table "secrets"`},
		{"a list elsewhere", func(p *Plan) { p.Lists[1].Path = "../hosts.csv.zst" },
			`it names "../hosts.csv.zst" as the list of shard 1`},
		{"lists in another order", func(p *Plan) { p.Lists[0], p.Lists[1] = p.Lists[1], p.Lists[0] },
			"as the list of shard 0"},
		{"a list too few", func(p *Plan) { p.Lists = p.Lists[:1] }, "as the list of shard 0"},
	} {
		change(t, f, "_runs/r/plan.json", &p, row.change)
		if _, _, err := ReadPlan(f, "r"); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
	}
	// Of a later version, whose tables this one does not know.
	change(t, f, "_runs/r/plan.json", &p, func(p *Plan) {
		p.SchemaVersion, p.Tables = schema.SchemaVersion+1,
			[]string{"later"}
	})
	if got, _, err := ReadPlan(f, "r"); err != nil || got.Tables[0] != "later" {
		t.Errorf("of another schema: %v", err)
	}
	f.write(t, "_runs/r/removing.json", nil)
	if _, _, err := ReadPlan(f, "r"); !errors.Is(err, ErrRemoving) || !errors.Is(err, ErrNotResumable) {
		t.Errorf("of a run whose removal was interrupted: %v", err)
	}
}

func TestPrepareRefuses(t *testing.T) {
	for _, id := range []string{"", ".r", "-r", "a/b", "..", "é", "a b", strings.Repeat("x", 101)} {
		p := described()
		p.Run = id
		if p.Prepare() == nil {
			t.Errorf("run ID %q is taken", id)
		}
	}
	p := described()
	p.Run = strings.Repeat("x", 97) + "-_." // as long as it may be
	must(t, p.Prepare())
	p.Tables = []string{"fetches", "nothing"}
	if err := p.Prepare(); err == nil || !strings.Contains(err.Error(), `no table "nothing": the tables are fetches,`) {
		t.Errorf("%v", err)
	}
	p = described()
	p.Shards = 2
	must(t, p.Prepare())
	if p.PublicSuffixes == "" {
		t.Error("shards divide the hosts by a list that the plan does not name")
	}
}

// The hosts of a run are those of its own choice and of the runs that it re-evaluates.
func TestChoices(t *testing.T) {
	p := described()
	p.Inputs = append(p.Inputs, Input{Role: "ranks", Path: "ranks.csv"}, Input{Role: "bodies", Path: "files"},
		Input{Role: "warc", Path: "a.warc"})
	p.Configuration = Values{"limit": "50", "sample": "0.5"}
	p.Earlier = []Choice{{Limit: "0", Sample: "1"}, {Limit: "20", Sample: "0.25"}, {Limit: "30", Sample: "0.5"}, {}}
	choices := p.Choices()
	var roles []string
	for _, in := range choices[0].Inputs {
		roles = append(roles, in.Role)
	}
	if diff := cmp.Diff([]string{"hosts", "ranks", "bodies"}, roles); diff != "" || len(choices) != 5 {
		t.Errorf("%d choices: %s", len(choices), diff)
	}
	if p.Limit() != 20 || p.Sample() != 0.25 {
		t.Errorf("at most %d hosts, of %v", p.Limit(), p.Sample())
	}
	if p := described(); p.Limit() != 0 || p.Sample() != 1 {
		t.Errorf("without a limit at most %d hosts, of %v", p.Limit(), p.Sample())
	}
}

// Runs that were divided before say which shard has a host: the rule must not change.
func TestShardOf(t *testing.T) {
	for _, row := range []struct {
		host, domain string
		count, want  int
	}{
		{"www.example.com", "example.com", 1, 0},
		{"www.example.com", "example.com", 1000, 309},
		{"example.com", "example.com", 1000, 309},
		{"www.example.com", "", 1000, 184},
		{"192.0.2.7", "", 1000, 127},
	} {
		if got := ShardOf(row.host, row.domain, row.count); got != row.want {
			t.Errorf("%s of %q is in shard %d of %d, want %d", row.host, row.domain, got, row.count, row.want)
		}
	}
	archive := []Input{{Role: "warc"}}
	for _, row := range []struct {
		p           Plan
		hosts, last int // shards of hosts, and the shard of the segment 200,001
	}{
		{Plan{Shards: 1}, 0, 2},
		{Plan{Shards: 1, FromShards: 4}, 4, 2},
		{Plan{Shards: 300_000}, 300_000, 200_001},
		{Plan{Shards: 300_000, Inputs: archive}, 0, 200_001},
	} {
		if hosts, last := row.p.ShardsOfHosts(), row.p.ShardOfSegment(2*SegmentsPerVolume+1); hosts != row.hosts ||
			last != row.last {
			t.Errorf("%+v: hosts in %d shards, the segment in %d", row.p, hosts, last)
		}
	}
}

// A run whose input is gone once it is read cannot be resumed.
func TestCanBeReadAgain(t *testing.T) {
	for _, row := range []struct {
		in   Input
		want bool
	}{
		{Input{SHA256: "aa"}, true}, {Input{EndsSHA256: "aa"}, true}, {Input{IdentifiedWhenRead: true}, true},
		{Input{Path: "-", Rows: 3}, false},
	} {
		p := described()
		if p.Inputs = append(p.Inputs, row.in); p.CanBeReadAgain() != row.want {
			t.Errorf("%+v: %v", row.in, !row.want)
		}
	}
}
