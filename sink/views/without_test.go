package views

import "testing"

// A query is answered unless it names, as whole words outside of comments, what is gone, or
// a view that needs it, by way of another view too.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		query, gone string
		want        bool
	}{
		{"SELECT host FROM fetches", "policies", true},
		{"SELECT host FROM fetches", "fetches", false},
		{"SELECT host FROM fetches", "fetches.host", false},
		{"SELECT host FROM fetches", "fetches.hops", true},
		{"SELECT host FROM fetches", "rules.host", true},
		{"SELECT hosts, a_host FROM fetches", "fetches.host", true},
		{"SELECT f.host FROM fetches f", "fetches.host", false},
		{"SELECT seq FROM fetches -- host", "fetches.host", true},
		{"-- seq\nSELECT host FROM fetches", "fetches.host", false},
		{"FROM series_counts", "summary", false},
		{"FROM series_sizes", "summary", false}, // which names series_counts alone
		{"FROM series_sizes", "summary.count", false},
		{"FROM series_sizes", "bodies", true},
	} {
		if got := Answers(c.query, map[string]bool{c.gone: true}); got != c.want {
			t.Errorf("Answers(%q) without %s: %v", c.query, c.gone, got)
		}
	}
}
