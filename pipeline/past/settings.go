package past

import "fmt"

// settings adds how the runs asked for their answers differently: those settings after
// which other answers may be expected of the same hosts, and others. What is not known
// of a run is not compared.
func (d *Differences) settings() {
	a, b := d.before, d.after
	differ := func(to *[]string, what, name string) {
		x, y := a.Configuration[name], b.Configuration[name]
		if x != nil && y != nil && asJSON(x) != asJSON(y) {
			*to = append(*to, fmt.Sprintf("%s: %s, then %s", what, clip(asText(x)), clip(asText(y))))
		}
	}
	differ(&d.Asked, "another --max-redirects", "max-redirects")
	differ(&d.Asked, "another --last-capture", "last-capture") // a row for each host, or for each capture
	if a.ToolVersion != b.ToolVersion {
		d.Notes = append(d.Notes, fmt.Sprintf("another version of robocensus: %s, then %s", clip(a.ToolVersion), clip(b.ToolVersion)))
	}
	if a.isAgain() || b.isAgain() {
		return // their settings are not those of the runs that asked
	}
	if a.asked() && b.asked() {
		differ(&d.Asked, "other --schemes", "schemes")
		// Another number is another edition of the same name, as with lists.
		agent := &d.Asked
		if x, y := asText(a.Configuration["user-agent"]), asText(b.Configuration["user-agent"]); digits.ReplaceAllString(x, "#") == digits.ReplaceAllString(y, "#") {
			agent = &d.Notes
		}
		differ(agent, "another user agent", "user-agent")
		differ(&d.Notes, "another --timeout", "timeout")
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
func isListed(r *Run) bool {
	paths, _ := r.Configuration["warc-paths"].(string)
	return paths != ""
}

// asText returns a setting for a message.
func asText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return asJSON(v)
}
