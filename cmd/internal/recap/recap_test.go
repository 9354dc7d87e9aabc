package recap

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Every reason belongs to exactly one group of answers: otherwise the summary would
// omit it or count it twice.
func TestEveryReasonIsOneAnswer(t *testing.T) {
	var got []string
	for _, a := range answers {
		for _, e := range a.evidence {
			for _, r := range e.Reasons() {
				got = append(got, string(r))
			}
		}
	}
	slices.Sort(got)
	if want := slices.Sorted(maps.Keys(words.Reason)); !slices.Equal(got, want) {
		t.Errorf("the groups of answers have\n%v, and the reasons are\n%v", got, want)
	}
}

// The scripts of an object store are copied with the tool of its cloud.
func TestAskDuckDB(t *testing.T) {
	for dir, want := range map[string]string{
		"out dir":  "cd 'out dir' && duckdb ",
		"s3://b/f": "aws s3 cp s3://b/f/views.sql . && duckdb ",
		"gs://b":   "gcloud storage cp gs://b/views.sql . && duckdb ",
		"azblob://c/of a/runs": "az storage blob download --file views.sql --container-name c --name 'of a/runs/views.sql' " +
			"&& duckdb ",
		"azblob://c": "az storage blob download --file views.sql --container-name c --name views.sql && duckdb ",
	} {
		if got := askDuckDB(dir); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s, want\n%s", dir, got, want)
		}
	}
}

// The time in the summary is that of one process, and so are the hosts beside it.
func TestSummaryOfAResumedRun(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	for _, row := range []struct {
		source                     source.Config
		earlier, remembered, hosts int64
		want                       string
	}{
		{source.Config{}, 0, 0, 0, "132 hosts asked in 3.5s"},
		{source.Config{}, 0, 30, 0, "132 hosts: 102 asked, 30 answered from memory, in 3.5s"},
		{source.Config{}, 92, 0, 0, "40 of 132 hosts asked in 3.5s; 92 before the run was resumed"},
		{source.Config{}, 92, 30, 0, "40 of 132 hosts asked or answered from memory in 3.5s; 92 before the run was resumed"},
		{source.Config{Bodies: "bodies"}, 0, 0, 0, "132 stored answers judged in 3.5s"},
		{source.Config{Bodies: "bodies"}, 132, 0, 0,
			"0 of 132 stored answers judged in 3.5s; 132 before the run was resumed"},
		{source.Config{WARC: []string{"a.warc"}}, 0, 0, 20, "132 captures of 20 hosts judged in 3.5s"},
		{source.Config{WARC: []string{"a.warc"}}, 32, 0, 20,
			"100 of 132 captures of 20 hosts judged in 3.5s; 32 before the run was resumed"},
		{source.Config{WARC: []string{"a.warc"}}, 0, 0, 132, "132 captures judged in 3.5s"},
		{source.Config{Paths: "list"}, 0, 0, 0, "132 captures judged in 3.5s"},
	} {
		c := pipeline.Config{}
		c.Evaluate.Profiles = []*robots.Profile{google}
		c.Source = row.source
		counts := summary.New(nil, []string{"google"})
		counts.AddN("source", summary.Unranked, "cache", row.remembered)
		var out strings.Builder
		Summarize(&out, c, &pipeline.Result{Targets: 132, Earlier: row.earlier, Elapsed: 3500 * time.Millisecond,
			Counts: counts}, row.hosts, "")
		if got := strings.Split(out.String(), "\n")[1]; got != row.want {
			t.Errorf("%+v:\n%s, want\n%s", row, got, row.want)
		}
	}
}

// What is rejected says what to do, where answers or URLs would be lost otherwise.
func TestRejectedTexts(t *testing.T) {
	if texts := rejectedTexts(map[string]input.SkippedKind{"duplicate": {N: 5}, "bad_host": {N: 1}}); texts != nil {
		t.Errorf("duplicates and bad hosts have texts: %q", texts)
	}
	got := rejectedTexts(map[string]input.SkippedKind{"not_adjacent": {N: 8}, "damaged_record": {
		N: 1, First: "cut \x1b[31m"}})
	want := []string{
		"8 URLs not judged, because other origins stand between the rows of theirs: sort the list by origin (sort -t/ " +
			"-k3,3 for a list of URLs)",
		`the archives cannot be read at 1 place (cut \u001b[31m): captures may be missing`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWhatIsSkippedIsNamed(t *testing.T) {
	for _, row := range []struct {
		of      source.Config
		skipped input.Skipped
		want    string
	}{
		{source.Config{WARC: []string{"a.warc"}}, input.Skipped{input.OtherURLs: 1, input.OtherHosts: 2,
			input.OtherRecords: 3, input.NotSampled: 4},
			"[1 capture of other URLs 2 captures of other hosts 4 records outside the sample 3 records of other kinds]"},
		{source.Config{Bodies: "bodies"}, input.Skipped{input.OtherHosts: 1, input.NotSampled: 2},
			"[1 file of other hosts 2 files outside the sample]"},
	} {
		if got := fmt.Sprint(skippedTexts(&row.of, row.skipped)); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
}

// A page of HTML is counted as one, and not as a robots.txt.
func TestPagesAreNamed(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	c := pipeline.Config{}
	c.Evaluate.Profiles = []*robots.Profile{google}
	counts := summary.New(nil, []string{"google"})
	for i := range 100 {
		counts.AddProfile("outcome", summary.Unranked, 0, "conditional_allow")
		counts.AddProfile("reason", summary.Unranked, 0, "success")
		if i < 12 {
			counts.Add("body", summary.Unranked, "html")
		}
	}
	var out strings.Builder
	Summarize(&out, c, &pipeline.Result{Targets: 100, Counts: counts}, 0, "")
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{"a robots.txt 88 88.0%", "a page of HTML in place of a robots.txt 12 12.0%"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary does not say %q:\n%s", want, out.String())
		}
	}
}

// A host that a wall answered with 200 has no rules that anybody read.
func TestWallsHaveNoRules(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	c := pipeline.Config{}
	c.Evaluate.Profiles = []*robots.Profile{google}
	counts := summary.New([]schema.Agent{{Name: "GPTBot", Category: counters.Headline}}, []string{"google"})
	for i := range 100 {
		counts.AddProfile("outcome", summary.Unranked, 0, "conditional_allow")
		counts.AddProfile("reason", summary.Unranked, 0, "success")
		if i < 50 {
			counts.AddProfile("challenge", summary.Unranked, 0, "generic success")
			counts.AddProfile("challenge_outcome", summary.Unranked, 0, "conditional_allow")
			counts.AddAgent("policy", summary.Unranked, 0, 0, "unknown")
			continue
		}
		counts.AddCategory("category", summary.Unranked, counters.Headline, 0, "all")
		counts.AddAgent("policy", summary.Unranked, 0, 0, "disallow_all")
	}
	var out strings.Builder
	Summarize(&out, c, &pipeline.Result{Targets: 100, Counts: counts}, 0, "")
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"100 of 100 hosts answered (100%), and the rules of 50 decide (50.0%).",
		"50 hosts (50.0%) shut out an agent for AI training; 100% of those with rules.",
		"a robots.txt 50 50.0%", "a wall in place of the file 50 50.0%", "the rules decide 50 50.0%",
		"unknown behind a wall 50 50.0%", "GPTBot 50 50.0% 100%",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary does not say %q:\n%s", want, out.String())
		}
	}
}

func TestWallsAgreeInNumber(t *testing.T) {
	for n, want := range map[int64]string{0: "", 1: "1 host, which counts as unread",
		2: "2 hosts, which count as unread"} {
		var out strings.Builder
		showOthers(&cli.Text{Out: &out}, &figures{noun: "host", Walls: map[string]int64{"cloudflare": n}})
		if got := out.String(); !strings.Contains(got, want) || (n == 0) != (got == "") {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// What pages did is shown of each identity: of those compared, by what robots.txt says, and only
// what some identity met.
func TestPages(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	c := pipeline.Config{}
	c.Evaluate.Profiles = []*robots.Profile{google}
	for _, row := range []struct {
		met  map[string]int64
		want string
	}{
		{nil, ""},
		{map[string]int64{"!us open served": 7, "!us partly served once": 1, "!us open refused": 1,
			"!us nothing not_asked": 2, "a open served": 3, "a partly payment once": 1, "a nothing served_other": 2,
			"a open incomparable": 1, "a shut_out not_asked": 3, "b unknown challenge": 2, "b open not_asked": 2},
			`
identity                not asked  asked  compared  served  other page  refused  wall  to pay  turned away  control
us (control: as we)             2      9                 8           0        1     0       0
a                               3      7         6       3           2        0     0       1       1 of 6   1 of 6
b                               2      0         0       0           0        0     0       0
b, not let in on paper          0      2         2       0           0        0     2       0       2 of 2   0 of 2
compared: served the page to the control; refused: 403, 404 or any other status 4xx;
`},
	} {
		counts := summary.New(nil, []string{"google"})
		counts.AddProfile("reason", summary.Unranked, 0, "success")
		for key, n := range row.met {
			for range n {
				counts.AddProfile("page_met", summary.Unranked, 0, key)
			}
		}
		var out strings.Builder
		Summarize(&out, c, &pipeline.Result{Targets: 20, Counts: counts}, 0, "")
		_, got, _ := strings.Cut(out.String(), "What the page did under each identity, in hosts")
		if (row.want == "") != (got == "") || !strings.HasPrefix(got, row.want) {
			t.Errorf("%v:\n%s, want\n%s", row.met, got, row.want)
		}
	}
}

// Of front pages it says how many were read, and what their headers state, if anybody asked.
func TestFront(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	c := pipeline.Config{}
	c.Evaluate.Profiles = []*robots.Profile{google}
	for _, row := range []struct {
		pages, stated, refused map[string]int64
		want                   string
	}{
		{nil, nil, nil, ""},
		{map[string]int64{"status": 2, "read": 1}, nil, nil,
			" was read of 1 of 3 hosts. No header of them states anything about use. Rows written"},
		{map[string]int64{"failed": 2}, nil, nil, " was read of 0 of 2 hosts. Rows written"},
		{map[string]int64{"read": 5}, map[string]int64{"x-robots-tag ai-train disallow": 3,
			"content-usage search allow": 1}, map[string]int64{"any": 3, "alone": 2},
			" was read of 5 of 5 hosts. The header of 3 refuses AI training, which the robots.txt of 2 of these does not. " +
				"Their headers state: X-Robots-Tag: AI training, refused by 3 hosts, " +
				"Content-Usage: search, permitted by 1 host Rows written"},
	} {
		counts := summary.New(nil, []string{"google"})
		counts.AddProfile("reason", summary.Unranked, 0, "success")
		for metric, keys := range map[string]map[string]int64{"front_page": row.pages, "page_preference": row.stated} {
			for key, n := range keys {
				for range n {
					counts.Add(metric, summary.Unranked, key)
				}
			}
		}
		for key, n := range row.refused {
			for range n {
				counts.AddProfile("page_refusal", summary.Unranked, 0, key)
			}
		}
		var out strings.Builder
		Summarize(&out, c, &pipeline.Result{Targets: 20, Counts: counts}, 0, "")
		_, got, _ := strings.Cut(strings.Join(strings.Fields(out.String()), " "), "The front page")
		if (row.want == "") != (got == "") || !strings.HasPrefix(got, row.want) {
			t.Errorf("%v: it says\n%s, want\n%s", row.pages, got, row.want)
		}
	}
}
