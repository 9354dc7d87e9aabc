package report

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// Where no host turns an identity away from robots.txt, the titles say so, and name no identity or band that
// would be first of equals.
func TestTitlesWhereNobodyIsTurnedAway(t *testing.T) {
	for away, want := range map[int64][2]string{
		0: {"No identity is turned away from robots.txt by a host that lets it in on paper",
			"No answer turns an identity away from robots.txt"},
		5: {"gptbot is turned away from robots.txt by 20.0% of hosts that let it in on paper",
			"rank 1 to 1,000: 25.0% of answers turn an identity away from robots.txt; unranked: 0 of 5"},
	} {
		unranked := profiled("answer_let_in", "gptbot served", "google", 5)
		unranked.Stratum = "unranked"
		counts := []schema.Count{count1("targets", "", 20), profiled("outcome", "conditional_allow", "google", 20),
			profiled("reason", "success", "google", 20),
			profiled("answer_let_in", "gptbot served", "google", 20-away), unranked}
		if away > 0 {
			counts = append(counts, profiled("answer_let_in", "gptbot refused", "google", away))
		}
		dir := t.TempDir()
		writeRun(t, dir, plan("r"), 1, counts, nil)
		out := text1(t, drawn(t, dir, "r", ""))
		for _, title := range want {
			if !strings.Contains(out, title) {
				t.Errorf("%d are turned away, and the page does not say %q", away, title)
			}
		}
		if strings.Contains(out, "away from robots.txt; rank 1") {
			t.Error("a band is compared with itself")
		}
	}
}

// Where no host that lets an identity in served the page to the control, nothing was compared,
// and the title does not say that nobody is turned away.
func TestTitleWhereNothingIsCompared(t *testing.T) {
	const none, all = "Nothing can be said of identities that robots.txt lets in",
		"No identity is turned away from the page more often"
	for met, want := range map[string]string{"incomparable": none, "served": all} {
		counts := []schema.Count{count1("targets", "", 20), profiled("outcome", "conditional_allow", "google", 20),
			profiled("reason", "success", "google", 20), profiled("page_met", "!us open refused", "google", 20),
			profiled("page_met", "gptbot open "+met, "google", 20)}
		dir := t.TempDir()
		writeRun(t, dir, plan("r"), 1, counts, nil)
		out := text1(t, drawn(t, dir, "r", ""))
		if strings.Contains(out, none) != (want == none) || strings.Contains(out, all) != (want == all) {
			t.Errorf("%s: the page does not say %q", met, want)
		}
	}
}
