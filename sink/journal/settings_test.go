package journal

import (
	"strings"
	"testing"
)

// What the columns of the table say has consequences that no other test sees for every
// setting: a run that cannot be resumed on another machine, tables that differ after it.
func TestSettings(t *testing.T) {
	for _, row := range []struct {
		what string
		has  func(Setting) bool
		want string
	}{
		{"adjustable", func(s Setting) bool { return s.Adjustable },
			"force warc-base archive-rate per-resolver proxy concurrency per-address per-domain rate address-rate " +
				"outage-patience accept-unreachable grace state future memory parallelism"},
		{"of the machine", func(s Setting) bool { return s.Local }, "proxy state memory"},
		{"of requests", func(s Setting) bool { return s.Asks },
			"schemes user-agent also-as pages page timeout retries warc-out warc-no-secrets probe-misconfigured allow-private " +
				"ca-file connect-to resolver per-resolver proxy concurrency per-address per-domain rate address-rate " +
				"outage-patience accept-unreachable grace"},
		{"published by name", func(s Setting) bool {
			return s.Published == ItsFileName || s.Published == ItsArchive
		},
			"hosts warc warc-paths cdx warc-base bodies from-run ranks labels agents urls templates also-as warc-out " +
				"document-list ca-file"},
		{"not published", func(s Setting) bool {
			return s.Published == OnlyWhetherGiven || s.Published == NotPublished
		}, "connect-to resolver proxy state memory"},
		{"to compare", func(s Setting) bool { return s.Effect != NoEffect },
			"max-redirects last-capture schemes user-agent vantage timeout"},
	} {
		var got []string
		for _, s := range Settings {
			if row.has(s) {
				got = append(got, s.Name)
			}
		}
		if got := strings.Join(got, " "); got != row.want {
			t.Errorf("the settings %s are\n%s, want\n%s", row.what, got, row.want)
		}
	}
}
