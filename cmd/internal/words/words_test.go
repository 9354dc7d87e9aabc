package words

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
)

func texts[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

func TestEveryValueHasWords(t *testing.T) {
	var classes, matches, remarks, reaches []string
	for c := robots.Partial; c <= robots.DisallowAll; c++ {
		classes = append(classes, c.String())
	}
	for m := robots.NoGroup; m <= robots.OwnGroup; m++ {
		matches = append(matches, m.String())
	}
	for r := robots.ReachesNobody; r <= robots.ReachesAll; r++ {
		reaches = append(reaches, r.String())
	}
	for c := robots.Extension; c < robots.NumRemarkClasses; c++ {
		remarks = append(remarks, c.String())
	}
	for _, row := range []struct {
		name   string
		words  Vocabulary
		values []string
	}{
		{"outcome", Outcome, texts(answer.Outcomes[:])},
		{"reason", Reason, append(texts(answer.Reasons), string(answer.Challenged), string(answer.Throttled),
			string(answer.Payment), string(answer.Refused))},
		{"error_class", ErrorClass, texts(answer.ErrorClasses)},
		{"challenge", Challenge, slices.Clone(answer.Vendors)},
		{"class", Class, append(classes, "empty", "unknown")},
		{"match", Match, matches},
		{"line_class", LineClass, remarks},
		{"kind", KindMeans, change.Kinds},
		{"signal_reach", SignalReach, reaches},
		{"sitemap_host", SitemapHost, []string{summary.HostLists, summary.ListsOthers, summary.ListsNobody,
			summary.ListsClosed, summary.ListsDead, summary.ListsNone, summary.ListsUncaptured, summary.ListsSpared}},
		{"sitemap_files.kind", SitemapKind, slices.Clone(summary.SitemapKinds)},
		{"sitemap_files.outcome", SitemapOutcome, slices.Clone(summary.SitemapOutcomes)},
		{"sitemap_fault", SitemapFault, []string{summary.FaultDead, summary.FaultEmpty, summary.FaultOutside,
			summary.FaultClosed}},
		{"listed_closed", ClosedCause, append(slices.Clone(summary.Causes), "any")},
		{"feature", Feature, strings.Fields("group rule wildcard anchor star_group joined crawl_delay sitemap")},
	} {
		slices.Sort(row.values)
		row.values = slices.Compact(row.values)
		if known := slices.Sorted(maps.Keys(row.words)); !slices.Equal(known, row.values) {
			t.Errorf("%s has words for\n%v, and the values are\n%v", row.name, known, row.values)
		}
		for value, said := range row.words {
			if said == "" || strings.Contains(said, "_") {
				t.Errorf("%s %s is called %q", row.name, value, said)
			}
		}
	}
	if got := Reason.Of("some_new_reason"); got != "some new reason" {
		t.Errorf("a value without words is called %q", got)
	}
}

func TestPercent(t *testing.T) {
	for _, row := range []struct {
		n, of int64
		want  string
	}{
		{0, 0, "0%"}, {0, 7, "0 of 7"}, {0, 70, "0%"}, {7, 7, "7 of 7"}, {1, 9, "1 of 9"}, {10, 10, "100%"},
		{398, 1000, "39.8%"}, {1, 12, "8.3%"}, {1, 100_000, "<0.1%"}, {99_999, 100_000, ">99.9%"},
		{1, 1000, "0.1%"}, {999, 1000, "99.9%"}, {1, 20, "5.0%"},
	} {
		if got := Percent(row.n, row.of); got != row.want {
			t.Errorf("%d of %d is %s, want %s", row.n, row.of, got, row.want)
		}
	}
}

// A share with its base in words, and a pair of shares.
func TestSharesInWords(t *testing.T) {
	for want, got := range map[string]string{
		"39.8% of hosts": ShareOf(398, 1000, "hosts"), "2 of 3 hosts": ShareOf(2, 3, "hosts"), "0% of hosts": ShareOf(0, 0,
			"hosts"),
		"20.5 → 26.8%": arrow(205, 1000, 268, 1000), "2 of 3 → 1 of 4": arrow(2, 3, 1, 4),
		"2 of 3 → 50.0%": arrow(2, 3, 5, 10), "50.0% → 1 of 3": arrow(5, 10, 1, 3),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := Kind("policy_\x1b[31mclass"); got != `policy \u001b[31mclass` {
		t.Errorf("a kind is called %q", got)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0 hosts", 1: "1 host", 999: "999 hosts", 1000: "1,000 hosts",
		4959: "4,959 hosts", 1_002_003: "1,002,003 hosts", math.MaxInt64: "9,223,372,036,854,775,807 hosts"} {
		if got := Count(n, "host"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

// A value of a stranger's table does not act on a terminal.
func TestUnknownValuesAreEscaped(t *testing.T) {
	if got, want := ErrorClass.Of("odd_\x1b[31mclass\n"), `odd \u001b[31mclass\u000a`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A list that leaves rows out says which of them tie with its last one.
func TestTies(t *testing.T) {
	for _, row := range []struct {
		shown int
		want  string
	}{
		{0, ""}, {1, "and 4 more with fewer"}, {2, "and 2 more with 2 hosts, 1 with fewer"}, {4, "and 1 more with fewer"},
		{5, ""},
	} {
		if got := More([]int64{3, 2, 2, 2, 1}, row.shown, "host"); got != row.want {
			t.Errorf("after %d: %q, want %q", row.shown, got, row.want)
		}
	}
	if got, want := More([]int64{1, 1}, 1, "host"), "and 1 more with 1 host"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRank(t *testing.T) {
	for stratum, want := range map[string]string{"1-1000": "rank 1 to 1,000", "10000001-": "rank 10,000,001 and beyond",
		"unranked": "unranked"} {
		if got := Rank(stratum); got != want {
			t.Errorf("%s is called %s, want %s", stratum, got, want)
		}
	}
}

// Sentences agree with what they count: none, one, two, all, and the same twice.
func TestSentencesAgree(t *testing.T) {
	for _, row := range []struct{ got, want string }{
		{The(0, "hosts"), "the 0 hosts"}, {The(1, "hosts"), "the only host"}, {The(2, "hosts"), "the 2 hosts"},
		{The(1, "hosts with rules"), "the only host with rules"}, {The(1200, "hosts with rules"),
			"the 1,200 hosts with rules"},
		{Of(0, "hosts"), "0 hosts"}, {ShareOf(1, 1, "those with rules"), "1 of 1 with rules"},
		{ShareOf(2, 3, "those with rules"), "2 of 3 with rules"}, {ShareOf(1, 1, "the hosts with rules"),
			"1 of 1 host with rules"},
		{ShareOf(20, 40, "the hosts with rules"), "50.0% of the hosts with rules"}, {ShareOf(20, 40, "those with rules"),
			"50.0% of those with rules"}, {OfCount(0, 0, "file"), "0 of 0 files"}, {OfCount(1, 1, "file"), "1 of 1 file"},
		{OfCount(2, 3, "file"), "2 of 3 files"}, {OfCount(75, 300, "file"), "25.0% of 300 files"},
		{Of(1, "hosts with rules"), "1 host with rules"}, {Of(2, "hosts"), "2 hosts"},
		{AgreeOf(0, 3, "refuses", "refuse"), "refuse"}, {AgreeOf(1, 1, "refuses", "refuse"), "refuses"},
		{AgreeOf(1, 3, "refuses", "refuse"), "refuses"},
		{AgreeOf(2, 3, "refuses", "refuse"), "refuse"}, {AgreeOf(3, 3, "refuses", "refuse"), "refuse"},
		{AgreeOf(1, 300, "refuses", "refuse"), "refuse"}, {AgreeOf(300, 300, "refuses", "refuse"), "refuse"},
		{ArrowOf(3, 4, 3, 4, "hosts"), "3 of 4 → 3 of 4 hosts"}, {ArrowOf(0, 4, 1, 1, "hosts with rules"),
			"0 of 4 → 1 of 1 host with rules"}, {ArrowOf(205, 1000, 268, 1000, "hosts"), "20.5 → 26.8% of hosts"},
		{ArrowOf(0, 0, 2, 2, "hosts"), "0% → 2 of 2 hosts"}, {ArrowOf(5, 20, 0, 0, "hosts"), "25.0 → 0% of hosts"},
		{ArrowOf(1, 9, 3, 10, "hosts"), "1 of 9 → 30.0% of hosts"}, {ArrowOf(1, 4, 5, 20, "hosts"),
			"1 of 4 → 25.0% of hosts"}, {ArrowOf(20, 20, 20, 20, "hosts"), "100 → 100% of hosts"},
	} {
		if row.got != row.want {
			t.Errorf("%q, want %q", row.got, row.want)
		}
	}
}

func TestValueOfAChange(t *testing.T) {
	for _, c := range [][3]string{
		{"coverage", "196/200", "98.0% of 200 listed pages"}, {"coverage", "3/4", "3 of 4 listed pages"},
		{"coverage", "0/1", "0 of 1 listed page"}, {"coverage", "5/4", ""},
		{"policy_class", "disallow_all", "shut out"}, {"policy_class", "1/2", ""}, {"sitemap", "1/2", ""},
	} {
		if got, known := Value(c[0], c[1]); got != c[2] || known != (c[2] != "") {
			t.Errorf("%v: %q, %v", c, got, known)
		}
	}
}
