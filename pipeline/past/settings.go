package past

import (
	"fmt"

	"github.com/robocensus/robocensus/sink/journal"
)

// settings adds how the runs asked for their answers differently: those settings after
// which other answers may be expected of the same hosts, and others. What is not known
// of a run is not compared.
func (d *Differences) settings() {
	a, b := d.before, d.after
	if a.ToolVersion != b.ToolVersion {
		d.Notes = append(d.Notes, fmt.Sprintf("another version of robocensus: %s, then %s", clip(a.ToolVersion),
			clip(b.ToolVersion)))
	}
	again := a.isAgain() || b.isAgain()
	for _, s := range journal.Settings {
		x, y := a.Configuration[s.Name], b.Configuration[s.Name]
		if s.Effect == journal.NoEffect || s.Asks && (again || !a.asked() || !b.asked()) || x == nil || y == nil ||
			asJSON(x) == asJSON(y) {
			continue
		}
		to := &d.Asked
		// Another number is another edition of the same name, as with lists.
		if s.Effect == journal.FewDiffer || s.Name == "user-agent" &&
			digits.ReplaceAllString(asText(x), "#") == digits.ReplaceAllString(asText(y), "#") {
			to = &d.Notes
		}
		*to = append(*to, fmt.Sprintf("%s: %s, then %s", s.Other, clip(asText(x)), clip(asText(y))))
	}
	if again {
		return // the settings and archives of a run that re-evaluates another are not those of the run that asked
	}
	// A list of paths is a crawl, however large; archives that are named may be a few of it.
	if x, y := archives(a), archives(b); min(x, y) > 0 && max(x, y) > 2*min(x, y) {
		to := &d.Notes
		if isListed(a) != isListed(b) {
			to = &d.Asked
		}
		*to = append(*to, fmt.Sprintf("another number of archives: %d, then %d", x, y))
	}
}

func archives(r *Run) (n int) {
	for _, in := range r.Inputs {
		if in.Role == "warc" {
			n++
		}
	}
	return n
}

// isListed reports whether the archives of a run are those of a list (--warc-paths).
func isListed(r *Run) bool { return r.Configuration.Text("warc-paths") != "" }

// asText returns a setting for a message.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return asJSON(v)
}
