package report

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// Titles about files agree with the numbers that they name.
func TestTitlesAgree(t *testing.T) {
	for _, row := range []struct {
		n, of int64
		want  []string
	}{
		{1, 1, []string{
			"1 of 1 file has a group for all (*), 1 of 1 a wildcard in a rule, 1 of 1 a sitemap",
			"1 of 1 is HTML, 1 of 1 begins with a byte order mark, 1 of 1 has comments and no record",
			"1 of 1 file means something else to the parser of a crawler that it names", "1 of 1 host, which counts as unread",
			"1 of 1 file names a sitemap; of 1 sitemap line, 1 of 1 leads to another host and 0 of 1 are not absolute URLs",
		}},
		{2, 3, []string{
			"2 of 3 files have a group for all (*)", "2 of 3 are HTML, 2 of 3 begin with",
			"2 of 3 files mean something else to the parser of a crawler that they name", "2 of 3 hosts, which count as unread",
		}},
		{1, 20, []string{"5.0% of files have a group for all (*)", "5.0% are HTML, 5.0% begin",
			"5.0% of 20 files mean something else to the parser of a crawler that they name"}},
	} {
		counts := []schema.Count{
			count1("targets", "", row.of), profiled("outcome", "conditional_allow", "google", row.of),
			profiled("reason", "success", "google", row.of), count1("body_bytes", "50", row.of),
			profiled("parity_hosts", "different", "google", row.n), profiled("parity_cause_hosts", "a cause", "google", row.n),
			count1("challenge", "cloudflare", row.n), profiled("challenge_outcome", "conditional_allow", "google", row.n),
			profiled("sitemaps", "1", "google", row.n), profiled("sitemap", "other_host", "google", row.n),
			profiled("sitemaps", "0", "google", row.of-row.n),
			profiled("parity_hosts", "equal", "google", row.of-row.n),
		}
		for _, key := range []string{"star_group", "wildcard", "sitemap"} {
			counts = append(counts, profiled("feature", key, "google", row.n))
		}
		for _, key := range []string{"not_utf8", "html", "bom", "only_comments"} {
			counts = append(counts, profiled("body", key, "google", row.n))
		}
		dir := t.TempDir()
		writeRun(t, dir, plan("r"), 1, counts, nil)
		out := text1(t, drawn(t, dir, "r", ""))
		for _, want := range row.want {
			if !strings.Contains(out, want) {
				t.Errorf("%d of %d: the page does not say %q:\n%.3000s", row.n, row.of, want, out)
			}
		}
	}
}
