package counters

import (
	"testing"

	"github.com/robocensus/robocensus/sink/summary"
)

// If several keys tie for the greatest count, leading names all or counts them.
func TestLeading(t *testing.T) {
	same := func(s string) string { return s }
	for _, row := range []struct {
		counts map[string]int64
		names  string
		most   int64
		each   string
	}{
		{map[string]int64{"a": 1, "b": 2}, "b", 2, ""},
		{map[string]int64{"a": 2, "b": 2, "c": 1}, "a and b", 2, " each"},
		{map[string]int64{"a": 2, "b": 2, "c": 2, "d": 2, "e": 2}, "a, b, c and 2 more", 2, " each"},
	} {
		if names, most, each := Leading(row.counts, same); names != row.names || most != row.most || each != row.each {
			t.Errorf("%v: %s, %d%s", row.counts, names, most, each)
		}
	}
}

// Sums are of one profile and of the counters that no profile reads.
func TestSumsAreOfOneProfile(t *testing.T) {
	s := make(Sums)
	for _, c := range []summary.Count{
		{Metric: "outcome", Stratum: "unranked", Profile: "google", Key: "full_allow", N: 1},
		{Metric: "outcome", Stratum: "1-1000", Profile: "google", Key: "full_allow", N: 2},
		{Metric: "outcome", Stratum: "unranked", Profile: "rfc9309", Key: "full_allow", N: 4},
		{Metric: "outcome", Stratum: "unranked", Key: "full_allow", N: 8},
	} {
		s.Add(c)
	}
	if got := s.By("outcome", "google", Key)["full_allow"]; got != 11 {
		t.Errorf("by key: %d, want 11", got)
	}
	if got := s.Pivot("outcome", "google", func(l Label) string { return l.Stratum })["unranked"]["full_allow"]; got != 9 {
		t.Errorf("by stratum and key: %d, want 9", got)
	}
}

// A page is none of the files that a profile reads another way, nor one behind a wall.
func TestPages(t *testing.T) {
	s := make(Sums)
	for _, c := range []summary.Count{
		{Metric: "reason", Profile: "google", Key: "success", N: 10},
		{Metric: "reason", Profile: "google-2012", Key: "success", N: 8},
		{Metric: "reason", Profile: "google-2012", Key: "html_redirect", N: 2},
		{Metric: "reason", Profile: "strict", Key: "server_error", N: 10},
		{Metric: "body", Key: "html", N: 3},
	} {
		s.Add(c)
	}
	for profile, want := range map[string]int64{"google": 3, "google-2012": 1, "strict": 0} {
		if got := s.Pages(profile); got != want {
			t.Errorf("%s: %d pages, want %d", profile, got, want)
		}
	}
}
