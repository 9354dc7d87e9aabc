package report

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/usage"
)

// frontPages shows what the headers of front pages say about use (--front-page), beside
// what robots.txt says.
func (d *data) frontPages() *draw.Figure {
	outcomes := d.sums.By("front_page", d.profile, counters.Key)
	if len(outcomes) == 0 {
		return nil
	}
	asked, read := sum(outcomes), outcomes[string(usage.PageRead)]
	stated, refusing := d.sums.By("page_preference", d.profile, counters.Key),
		d.sums.By("page_refusal", d.profile, counters.Key)
	f := &draw.Figure{
		ID: "front-pages", Of: fmt.Sprintf("Shares of the %s whose front page was read.", words.Count(read, "host")),
		Note: "After robots.txt had answered, the front page was asked for where robots.txt lets this census fetch it, " +
			"and only its header was read: Content-Usage, Content-Signal, X-Robots-Tag, Robots-Tag, TDM-Reservation and " +
			"TDM-Policy. It speaks for that page and no other. " +
			"Of the other figures only those about documents of consent count headers.",
		Legend: []draw.Legend{{Class: "allow", Name: "permitted"}, {Class: "closed", Name: "refused"}},
		Head:   []string{"counter", "hosts"}, Names: pageName,
		Title: fmt.Sprintf("No front page of the %s read refuses AI training in its header",
			words.Verbed(read, "that was", "that were")),
	}
	if n := refusing["any"]; n > 0 {
		f.Title = fmt.Sprintf("The front page of %s refuses AI training in its header; the robots.txt of %s of these "+
			"hosts does not", words.OfHosts(n, read), words.Number(refusing["alone"]))
	}
	if asked > read {
		f.Note += fmt.Sprintf(" Of %s, %s not read: %s.", words.Hosts(asked),
			words.Verbed(asked-read, "front page was", "front pages were"), pagesUnread(outcomes))
	}
	seen := make(map[string]bool)
	for _, k := range counters.Ranked(stated) {
		subject, _ := counters.CutLast(k)
		if seen[subject] {
			continue
		}
		seen[subject] = true
		yes, no := stated[subject+" allow"], stated[subject+" disallow"]
		header, use, _ := strings.Cut(subject, " ")
		f.AddBar(words.PageHeader.Of(header)+": "+words.Use.Of(use), "", permittedRefused(yes, no, read)...)
	}
	f.Fit("these hosts")
	for _, m := range []struct {
		metric string
		by     map[string]int64
	}{{"front_page", outcomes}, {"page_preference", stated}, {"page_refusal", refusing}} {
		for _, k := range counters.Ranked(m.by) {
			f.AddRow([]string{m.metric + " " + k}, m.by[k])
		}
	}
	f.SQL = fmt.Sprintf("SELECT metric || ' ' || key AS counter, sum(count)::BIGINT AS hosts\n%s\n"+
		"GROUP BY metric, key ORDER BY metric, hosts DESC, key", d.from("front_page page_preference page_refusal", false))
	f.Examples = d.examples.List("Examples", "text", "page_preference", words.PageHeader.Of,
		counters.Ranked(headersOf(stated))...)
	return f
}

// headersOf adds up statements by their headers.
func headersOf(stated map[string]int64) map[string]int64 {
	out := make(map[string]int64)
	for k, n := range stated {
		header, _, _ := strings.Cut(k, " ")
		out[header] += n
	}
	return out
}

// pagesUnread says why front pages were not read.
func pagesUnread(outcomes map[string]int64) string {
	var out []string
	for _, outcome := range counters.Ranked(outcomes) {
		if outcome != string(usage.PageRead) {
			out = append(out, words.Number(outcomes[outcome])+" "+words.PageOutcome.Of(outcome))
		}
	}
	return strings.Join(out, "; ")
}

// pageName returns the display name of a counter of front pages.
func pageName(counter string) string {
	metric, k, _ := strings.Cut(counter, " ")
	switch metric {
	case "front_page":
		return "front page: " + words.PageOutcome.Of(k)
	case "page_preference":
		return counters.PageStatement(k)
	}
	return map[string]string{"any": "refuses AI training in some header",
		"alone": "refuses AI training, and robots.txt does not"}[k]
}
