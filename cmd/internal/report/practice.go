package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/visible"
)

// What further identities meet on a page (--pages), beside what robots.txt says.

// practiceTreatments are the treatments of a page as the figure draws them.
var practiceTreatments = draw.Kinds{
	{Key: string(consent.PageServed), Class: "allow", Name: "served"},
	{Key: string(consent.PageServedOther), Class: "star", Name: "another page"},
	{Key: string(consent.PagePayment), Class: "away", Name: "to pay"},
	{Key: string(consent.PageRateLimited), Class: "stale", Name: "to slow down"},
	{Key: string(consent.PageChallenged), Class: "wall", Name: "a wall"},
	{Key: string(consent.PageRefused), Class: "closed", Name: "refused"},
	{Key: string(consent.PageRedirectedAway), Class: "partly", Name: "redirected away"},
	{Key: string(consent.PageServerError), Class: "broken", Name: "a server error"},
	{Key: string(consent.PageNoAnswer), Class: "unknown", Name: "no answer"},
}

// beyondControl says how much more often identities are turned away than the control when it
// asks again, with the interval of 95 %.
func beyondControl(p *summary.Practice) (text string, d, low, high float64) {
	d, low, high = summary.PairedShares(p.Both, p.Away, p.Once, p.Neither, summary.Normal95)
	return fmt.Sprintf("%+.1f points, %+.1f to %+.1f", 100*d, 100*low, 100*high), d, low, high
}

// practice shows what identities meet on a page, by what robots.txt says to their agents.
func (d *data) practice() *draw.Figure {
	all := summary.PracticeOf(d.sums.By("page_met", d.profile, counters.Key))
	if len(all) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "paper-and-practice", Of: "Shares of the hosts that served the page to our own user agent, the control, and " +
			"were asked under the identity.",
		Note: "Beside each bar: the share of these hosts that turned the identity away, and how much more often than the " +
			"control when it asked again, with the interval of 95% (Newcombe's, for shares of the same hosts, as if these " +
			"were drawn at random). Where robots.txt shuts the agent out, its page was asked for only with --pages=all. " +
			"Refused is any other status 4xx, also a 404 where our own user agent got the page. A server can tell an identity " +
			"from the crawler whose name it uses by its address and its TLS handshake.",
		Legend: practiceTreatments.Legend(),
		Head: slices.Concat([]string{"identity", "is_control", "paper"}, practiceTreatments.Keys(),
			[]string{"not_asked", "incomparable", "control_away", "both_away"}),
	}
	var top *summary.Practice
	most, isCompared := 0.0, false
	for _, p := range all {
		by := append(practiceTreatments.Numbers(p.By), p.By[string(consent.PageNotAsked)],
			p.By[summary.TreatmentNames[summary.Incomparable]], p.Once+p.Both, p.Both)
		f.AddRow([]string{p.Identity, strconv.FormatBool(p.Control), p.Paper}, by...)
		hosts := p.Compared()
		if p.Control || hosts == 0 {
			continue
		}
		beyond, points, _, _ := beyondControl(p)
		f.AddBar(identityName(p.Identity, false)+": "+words.Paper.Of(p.Paper), "of "+words.Hosts(hosts),
			draw.Track{Whole: hosts, Shares: practiceTreatments.Shares(p.By),
				Values: []string{words.Percent(p.TurnedAway(), hosts) + "; " + beyond}})
		if summary.LetsIn(p.Paper) {
			if isCompared = true; points > most {
				top, most = p, points
			}
		}
	}
	f.Fill("these hosts")
	f.Title = "No identity is turned away from the page more often than our own user agent where robots.txt lets it in"
	if !isCompared {
		f.Title = "Nothing can be said of identities that robots.txt lets in: no such host served the page " +
			"to our own user agent"
	}
	if top != nil {
		beyond, _, _, _ := beyondControl(top)
		f.Title = fmt.Sprintf("Where robots.txt %s to %s, %s turn it away from the page: %s beyond our own user agent",
			words.PaperSays.Of(top.Paper), top.Identity, words.ShareOf(top.TurnedAway(), top.Compared(), "hosts"), beyond)
	}
	treated := func(key string) string { return fmt.Sprintf("split_part(key, ' ', 3) = '%s'", key) }
	sums := make([]string, 0, len(practiceTreatments)+4)
	for _, key := range append(practiceTreatments.Keys(), "not_asked", "incomparable") {
		sums = append(sums, counters.SumIf(treated(key), key))
	}
	const isOther, again = "NOT starts_with(key, '!') AND ", "ends_with(key, ' once')"
	f.SQL = fmt.Sprintf("SELECT ltrim(split_part(key, ' ', 1), '%s') AS identity, starts_with(key, '%[1]s') "+
		"AS is_control,\n  split_part(key, ' ', 2) AS paper,\n  %s,\n  %s,\n  %s\n%s\nGROUP BY 1, 2, 3\n"+
		"ORDER BY is_control DESC, identity, list_position(['%s'], paper)", summary.Control, strings.Join(sums, ",\n  "),
		counters.SumIf(isOther+again+" AND NOT "+treated("not_asked"), "control_away"),
		counters.SumIf(isOther+again+" AND NOT ("+treated("served")+" OR "+treated("served_other")+" OR "+
			treated("not_asked")+")", "both_away"), d.from("page_met", true), strings.Join(summary.Papers, "', '"))
	return f
}

// practiceBy shows how much more often identities are turned away than the control, by group of
// hosts or agents, of hosts whose robots.txt does not shut the agent out. from is the SQL after
// the columns.
func practiceBy(id, column, shown, from, order string, groups map[string]*summary.Practice, keys []string,
	name func(string) string) *draw.Figure {
	f := &draw.Figure{
		ID: id, Of: "Percentage points by which the answers that turn an identity away exceed those that turn " +
			"the control away when it asks again, with the interval of 95%, of hosts that served the page to the control and " +
			"do not shut the agent out in robots.txt; of all identities but the control.",
		Names: name, Head: []string{column, "turned_away", "answers", "control_away", "both_away"}}
	var all []draw.Spread
	top, most := "", 0.0
	for _, k := range keys {
		p := groups[k]
		if p.Compared() == 0 {
			continue
		}
		f.AddRow([]string{k}, p.TurnedAway(), p.Compared(), p.Once+p.Both, p.Both)
		beyond, d, low, high := beyondControl(p)
		all = append(all, draw.Spread{Name: f.Cell(0, k), Sub: "of " + words.Count(p.Compared(), "answer"), At: d, Low: low,
			High: high, Class: "closed", Value: words.Percent(p.TurnedAway(), p.Compared()) + "; " + beyond})
		if d > most {
			top, most = f.Cell(0, k)+": "+words.ShareOf(p.TurnedAway(), p.Compared(), "answers")+
				" turn an identity away from the page, "+
				beyond+" beyond the control", d
		}
	}
	if len(all) < 2 {
		return nil
	}
	if f.Title = top; top == "" {
		f.Title = "No identity is turned away from the page more often than the control"
	}
	f.Forest(all, true)
	const away = "NOT regexp_matches(key, ' (served|served_other)( once)?$')"
	f.SQL = fmt.Sprintf("SELECT %s, %s,\n  %s,\n  %s, %s\n%s\n  AND regexp_matches(key, '^[^!][^ ]* "+
		"(open|partly|nothing) ') AND NOT regexp_matches(key, ' (not_asked|incomparable)( once)?$')\nGROUP BY 1 ORDER BY %s",
		shown,
		counters.SumIf(away, "turned_away"), "sum(count)::BIGINT AS answers",
		counters.SumIf("ends_with(key, ' once')", "control_away"),
		counters.SumIf("ends_with(key, ' once') AND "+away, "both_away"), from, order)
	return f
}

// addPractice adds counters of the metric page_met to their groups.
func addPractice(groups map[string]*summary.Practice, sums counters.Sums, profile string,
	of func(counters.Label) string) {
	for l, n := range sums["page_met"] {
		_, rest, _ := strings.Cut(l.Key, " ")
		if paper, _, _ := strings.Cut(rest, " "); l.Profile != profile || strings.HasPrefix(l.Key, summary.Control) ||
			!summary.LetsIn(paper) {
			continue
		}
		k := of(l)
		if groups[k] == nil {
			groups[k] = new(summary.Practice)
		}
		groups[k].Add(l.Key, n)
	}
}

// practices shows what identities meet by rank, by category and by label, such as cdn.
func (d *data) practices() (out []*draw.Figure) {
	add := func(f *draw.Figure) {
		if f != nil {
			out = append(out, f)
		}
	}
	ranks, categories := make(map[string]*summary.Practice), make(map[string]*summary.Practice)
	addPractice(ranks, d.sums, d.profile, func(l counters.Label) string { return l.Stratum })
	addPractice(categories, d.sums, d.profile, func(l counters.Label) string { return l.Category })
	from := d.from("page_met", true)
	add(practiceBy("practice-ranks", "stratum", "stratum", from,
		"TRY_CAST(split_part(stratum, '-', 1) AS BIGINT) NULLS LAST", ranks, counters.Ascending(ranks), words.Rank))
	add(practiceBy("practice-categories", "category", "coalesce(category, '') AS category", from, "category", categories,
		counters.Ascending(categories), categoryOrNone))
	for i, label := range d.labels.Names() {
		values := make(map[string]*summary.Practice)
		for value, sums := range d.labels[label] {
			addPractice(values, sums, d.profile, func(counters.Label) string { return value })
		}
		keys := counters.Ascending(values)
		slices.SortStableFunc(keys, func(a, b string) int { return int(values[b].Compared() - values[a].Compared()) })
		f := practiceBy("practice-label-"+strconv.Itoa(i+1), "value", "value", d.fromLabel(label, "page_met", true),
			"answers DESC, value", values, keys, func(value string) string { return visible.Text(value) })
		if f != nil {
			f.Title = "By " + visible.Text(label) + ", " + f.Title
		}
		add(f)
	}
	return out
}
