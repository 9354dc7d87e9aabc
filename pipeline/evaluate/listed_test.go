package evaluate

import (
	"slices"
	"testing"

	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/sink/summary"
)

// The tables have the kinds of the reader.
func TestKindsOfSitemaps(t *testing.T) {
	var kinds []string
	for _, k := range sitemap.Kinds {
		kinds = append(kinds, string(k))
	}
	if !slices.Equal(kinds, summary.SitemapKinds) {
		t.Errorf("%v, want %v", summary.SitemapKinds, kinds)
	}
}

func TestCauseOfARule(t *testing.T) {
	for pattern, want := range map[string]string{
		"/": summary.CauseAll, "*": summary.CauseAll, "/*": summary.CauseAll, "/private/": summary.CauseFolder, "/private/*": summary.CauseFolder,
		"/private": summary.CausePath, "/*.pdf$": summary.CauseWildcard, "/a*b": summary.CauseWildcard, "/*?": summary.CauseQuery, "/search?q=": summary.CauseQuery,
	} {
		if got := causeOf(pattern); got != want {
			t.Errorf("%s is %s, want %s", pattern, got, want)
		}
	}
}

func TestClosedBand(t *testing.T) {
	for n, want := range map[int32]string{0: "none", 1: "under_1", 2: "to_half", 100: "to_half", 101: "over_half", 199: "over_half", 200: "all"} {
		if got := summary.ClosedBand(n, 200); got != want {
			t.Errorf("%d of 200 is %s, want %s", n, got, want)
		}
	}
	if got := summary.CoverageKey(199, 200); got != "99" {
		t.Errorf("199 of 200 is %s %%", got)
	}
}
