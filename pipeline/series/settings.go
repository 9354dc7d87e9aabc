package series

import (
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/sink"
)

// settings says how two runs asked for their answers differently: breaks, after which
// other answers may be expected of the same hosts, and notes. What is not known of a
// run is not compared.
func settings(before, after *counted) (breaks, notes []string) {
	a, b := before.m, after.m
	differ := func(to *[]string, what, name string) {
		x, y := a.Configuration[name], b.Configuration[name]
		if x != nil && y != nil && asJSON(x) != asJSON(y) {
			*to = append(*to, fmt.Sprintf("%s: %s, then %s", what, clip(asText(x)), clip(asText(y))))
		}
	}
	differ(&breaks, "another --max-redirects", "max-redirects")
	if a.ToolVersion != b.ToolVersion {
		notes = append(notes, fmt.Sprintf("another version of robocensus: %s, then %s", clip(a.ToolVersion), clip(b.ToolVersion)))
	}
	if isAgain(a) || isAgain(b) {
		return breaks, notes // their settings are not those of the runs that asked
	}
	if before.asked() && after.asked() {
		differ(&breaks, "other --schemes", "schemes")
		// Another number is another edition of the same name, as with lists.
		agent := &breaks
		if x, y := asText(a.Configuration["user-agent"]), asText(b.Configuration["user-agent"]); digits.ReplaceAllString(x, "#") == digits.ReplaceAllString(y, "#") {
			agent = &notes
		}
		differ(agent, "another user agent", "user-agent")
		differ(&notes, "another --timeout", "timeout")
	}
	// A list of paths is a crawl, however large; archives that are named may be a few of it.
	if x, y := archives(a), archives(b); min(x, y) > 0 && max(x, y) > 2*min(x, y) {
		to := &notes
		if isListed(a) != isListed(b) {
			to = &breaks
		}
		*to = append(*to, fmt.Sprintf("another number of archives: %d, then %d", x, y))
	}
	return breaks, notes
}

// asked reports whether the answers came over the network, now or for an earlier run.
func (r *counted) asked() bool { return slices.Contains([]string{"network", "cache"}, r.kind()) }

func archives(m *sink.Manifest) (n int) {
	for _, in := range m.Inputs {
		if in.Role == "warc" {
			n++
		}
	}
	return n
}

// isListed reports whether the archives of a run are those of a list (--warc-paths).
func isListed(m *sink.Manifest) bool {
	paths, _ := m.Configuration["warc-paths"].(string)
	return paths != ""
}

// asText returns a setting for a message.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return asJSON(v)
}
