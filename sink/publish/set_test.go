package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/summary"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rowsOfSegment are the rows that a test may change before they are written.
type rowsOfSegment struct {
	fetches  []schema.Fetch
	policies []schema.Policy
	verdicts []schema.Verdict
	bodies   []schema.Body
	counts   []schema.Count
}

// aRun writes a run of two segments with three targets each.
func aRun(t *testing.T, dir, id string, plant func(segment int, r *rowsOfSegment)) *journal.Manifest {
	t.Helper()
	started := time.Date(2026, 11, 20, 10, 15, 0, 0, time.UTC)
	if id == "q" {
		started = started.AddDate(0, -1, 0)
	}
	run, err := sink.Create(dir, journal.Plan{
		Run: id, ToolVersion: "v0", Started: started, Tables: []string{"fetches", "agents", "policies", "verdicts",
			"summary", "bodies"}, Profiles: []string{"google"},
		ProfileFields: map[string]map[string]any{"google": {"size_limit": 512000}}, Configuration: map[string]any{"dir": dir,
			"limit": "0"}, Adjustable: map[string]any{"rate": "5"},
		Inputs: []journal.Input{
			{Role: "hosts", Path: "/lists/hosts.csv", SHA256: strings.Repeat("ab", 32)},
			{Role: "agents", Path: "built-in agents.yaml", SHA256: digestOf(configs.Agents)},
			{Role: "urls", Path: "built-in urls.txt", SHA256: digestOf(configs.URLs)},
		},
	})
	must(t, err)
	for segment := range 2 {
		r := new(rowsOfSegment)
		for i := range 3 {
			seq := int64(3*segment + i + 1)
			host := fmt.Sprintf("h%d.example", seq)
			body := []byte("Disallow: /" + host + "\n")
			content := schema.ContentDigest(body)
			r.fetches = append(r.fetches, schema.Fetch{Seq: seq, Host: host, Outcome: "conditional_allow", Hops: []schema.Hop{
				{URL: "https://" + host}}, ContentDigest: &content, FetchTime: started})
			r.policies = append(r.policies, schema.Policy{Seq: seq, Host: host, Agent: "A", Profile: "google"})
			for k := range 4 {
				r.verdicts = append(r.verdicts, schema.Verdict{Seq: seq, Host: host, Agent: "A", Profile: "google",
					URL: fmt.Sprint("/", k), Verdict: "allow"})
			}
			r.bodies = append(r.bodies, schema.Body{ContentDigest: content, Body: body})
		}
		google, key := "google", "conditional_allow"
		r.counts = []schema.Count{{Metric: "targets", Count: 3}, {Metric: "outcome", Profile: &google, Key: &key, Count: 3}}
		if plant != nil {
			plant(segment, r)
		}
		s, err := run.Segment(segment)
		must(t, err)
		s.Targets = int64(len(r.fetches))
		must(t, s.Fetches.Write(r.fetches...))
		must(t, s.Agents.Write(schema.Agent{Name: "A", Tokens: []string{"a"}}))
		must(t, s.Policies.Write(r.policies...))
		must(t, s.Verdicts.Write(r.verdicts...))
		must(t, s.Summary.Write(r.counts...))
		must(t, s.Bodies.Write(r.bodies...))
		must(t, s.Commit())
	}
	totals, err := summary.SumUp(t.Context(), run)
	must(t, err)
	var targets int64
	for _, c := range totals.Counts {
		if c.Metric == "targets" {
			targets += c.Count
		}
	}
	must(t, run.Complete(sink.Completion{Finished: started.Add(time.Hour), Tally: journal.Tally{Targets: targets,
		Rejected: 2}, Totals: totals, Inputs: planOf(t, dir, id).Inputs}))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), id)
	must(t, err)
	return m
}

func planOf(t *testing.T, dir, id string) *journal.Plan {
	t.Helper()
	m, err := journal.ReadManifest(sinktest.Open(t, dir), id)
	must(t, err)
	return &m.Plan
}

// aSet publishes the runs q and r, and the comparison of r with q.
func aSet(t *testing.T, change func(*Config)) string {
	t.Helper()
	dir := t.TempDir()
	runs := []*journal.Manifest{aRun(t, dir, "q", nil), aRun(t, dir, "r", nil)}
	changes, err := sink.CreateChanges(sinktest.Open(t, dir), runs[1], "q", "v0")
	must(t, err)
	must(t, changes.Write(schema.Change{Host: "h1.example", Kind: "outcome"}))
	must(t, changes.Commit())
	c := Config{
		In: sinktest.Open(t, dir), Runs: runs, To: filepath.Join(t.TempDir(), "set"), ToolVersion: "v1",
		Metadata: Metadata{Title: "A census", Creators: []string{"Doe, Jane"}, Licence: "CC-BY-4.0",
			Contact: "census@example.org"},
	}
	if change != nil {
		change(&c)
	}
	lacking, err := Write(t.Context(), c)
	must(t, err)
	if len(lacking) > 0 {
		t.Fatalf("lacking %v", lacking)
	}
	return c.To
}

// edit changes a file of a data set.
func edit(t *testing.T, folder, name string, change func(string) string) {
	t.Helper()
	file := filepath.Join(folder, filepath.FromSlash(name))
	text, err := os.ReadFile(file)
	must(t, err)
	changed := change(string(text))
	if changed == string(text) {
		t.Fatalf("%s does not change", name)
	}
	must(t, os.WriteFile(file, []byte(changed), 0o666))
}

// seal makes all digests of a data set anew: those of its manifests, of the catalogues of
// its files, and its checksums.
func seal(t *testing.T, folder string) {
	t.Helper()
	catalogues := map[string]string{croissantName: "", packageName: ""}
	for name := range catalogues {
		text, err := os.ReadFile(filepath.Join(folder, name))
		must(t, err)
		catalogues[name] = string(text)
	}
	old := make(map[string]string)
	sums, err := os.ReadFile(filepath.Join(folder, checksumsName))
	must(t, err)
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		old[name] = sum
	}
	names, err := namesIn(folder)
	must(t, err)
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
		must(t, err)
		for catalogue, content := range catalogues {
			if old[name] != "" && old[name] != digestOf(text) && name != catalogue {
				content = strings.ReplaceAll(content, old[name], digestOf(text))
				size := regexp.MustCompile(`"contentSize": "\d+ B"(,\s+"contentUrl": "` + regexp.QuoteMeta(name) + `")`)
				catalogues[catalogue] = size.ReplaceAllString(content, fmt.Sprintf(`"contentSize": "%d B"$1`, len(text)))
			}
		}
	}
	for name, text := range catalogues {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666))
	}
	var out strings.Builder
	for _, name := range names {
		if name != checksumsName {
			text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
			must(t, err)
			fmt.Fprintf(&out, "%s  %s\n", digestOf(text), name)
		}
	}
	must(t, os.WriteFile(filepath.Join(folder, checksumsName), []byte(out.String()), 0o666))
}

// sealed makes the digest at the end of a manifest or record anew.
func sealed(text string) string {
	at := strings.LastIndex(text, `"sha256": "`) + len(`"sha256": "`)
	open := text[:at] + strings.Repeat("0", 64) + text[at+64:]
	sum := sha256.Sum256([]byte(open))
	return text[:at] + hex.EncodeToString(sum[:]) + text[at+64:]
}
