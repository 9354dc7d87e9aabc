package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/views"
)

// answerKinds classify answers by what they show: an outage is not a policy. one
// completes "1 host …", many "4 hosts …".
type answerKind struct {
	key, class, name string
	one, many        string
	evidence         []answer.Evidence
}

var answerKinds = []answerKind{
	{"file", "allow", "has a file", "has a file", "have a file", []answer.Evidence{answer.ShowsFile}},
	{errorBody, "error", "an error whose body is read", "answers with an error whose body the crawler reads",
		"answer with an error whose body the crawler reads", []answer.Evidence{answer.ShowsErrorBody}},
	{"no_file", "open", "has none or refuses it", "has none or refuses it", "have none or refuse it",
		[]answer.Evidence{answer.ShowsNoFile}},
	{"dead_redirect", "star", "redirects to nowhere", "redirects to nowhere", "redirect to nowhere",
		[]answer.Evidence{answer.ShowsDeadRedirect}},
	{"turned_away", "away", "turns a census away", "turns a census away", "turn a census away",
		[]answer.Evidence{answer.TurnsAway}},
	{"server_error", "partly", "server error", "gives a server error", "give a server error",
		[]answer.Evidence{answer.ServerFails}},
	{"unreachable", "closed", "cannot be reached", "cannot be reached", "cannot be reached",
		[]answer.Evidence{answer.NotReached}},
	{"broken", "broken", "gives a broken answer", "gives a broken answer", "give a broken answer",
		[]answer.Evidence{answer.BrokenAnswer}},
	{"wall", "wall", "is behind a wall", "is behind a wall", "are behind a wall", []answer.Evidence{answer.BehindWall}},
	{"earlier", "stale", "is down, with an earlier copy or a long outage", "is down and judged by an earlier answer",
		"are down and judged by earlier answers", []answer.Evidence{answer.OnlyMemory}},
	{"not_seen", "unknown", "was not asked, or its answer is not stored", "was not asked, or its answer is not stored",
		"were not asked, or their answers are not stored",
		[]answer.Evidence{answer.SpecialAddress, answer.NoRouteHere, answer.NotStored, answer.ShowsNothing}},
}

// errorBody is the key of a kind that only programs have: a figure without it leaves it out.
const errorBody = "error_body"

// kindOf returns the index of the kind of answer.
func kindOf(reason string) int {
	return slices.IndexFunc(answerKinds, func(k answerKind) bool {
		return slices.Contains(k.evidence, answer.Reason(reason).Evidence())
	})
}

// answered returns the number of hosts whose policy is known.
func (d *data) answered() (n int64) {
	for reason, count := range d.sums.Decided(d.profile).Reasons() {
		if e := answer.Reason(reason).Evidence(); e.IsCurrent() || e == answer.OnlyMemory {
			n += count
		}
	}
	return n
}

// failures returns the commonest classes of error of unreachable hosts, such as
// "DNS: no such name 20, timeout 2".
func (d *data) failures() string {
	classes := d.sums.By("error_class", d.profile, counters.Key)
	var said []string
	for _, class := range counters.Ranked(classes) {
		if answer.ErrorClass(class).Answer() == answer.NetworkFailure {
			said = append(said, words.ErrorClass.Of(class)+" "+words.Number(classes[class]))
		}
	}
	const most = 4
	if len(said) > most {
		said = append(said[:most], "…")
	}
	return strings.Join(said, ", ")
}

// answers shows what hosts answered, by rank.
func (d *data) answers() *draw.Figure {
	all := make([]int64, len(answerKinds))
	for reason, n := range d.sums.Decided(d.profile).Named() {
		all[kindOf(reason)] += n
	}
	byStratum := d.sums.Pivot("reason", d.profile, func(l counters.Label) string { return l.Stratum })
	if len(byStratum) == 0 || d.sums.By("source", d.profile, counters.Key)["body"] == d.hosts {
		return nil // of stored files nobody knows which hosts have none
	}
	answerKinds := slices.Clone(answerKinds)
	if len(d.sums["turned_away"]) > 0 { // those that refuse it have a kind of their own
		k := &answerKinds[kindOf(string(answer.ClientError))]
		k.name, k.one, k.many = "has none", "has none", "have none"
	}
	f := &draw.Figure{ID: "answers", Of: fmt.Sprintf("Shares of %s.", d.all()), Names: words.Rank,
		Head: []string{"stratum"}}
	var said []string
	columns := []string{"stratum"}
	shown := func(i int) bool { return answerKinds[i].key != errorBody || all[i] > 0 }
	for i, k := range answerKinds {
		if !shown(i) {
			continue
		}
		if all[i] > 0 {
			f.Legend = append(f.Legend, draw.Legend{Class: k.class, Name: k.name})
			what := words.Percent(all[i], d.hosts)
			if d.hosts < words.Few {
				what = words.Number(all[i])
			}
			if len(said) == 0 {
				what += " of " + d.all()
			}
			said = append(said, what+" "+words.Agree(all[i], k.one, k.many))
		}
		f.Head = append(f.Head, k.key)
		var keys []string
		for _, evidence := range k.evidence {
			for _, reason := range evidence.Reasons() {
				keys = append(keys, views.Quote(string(reason)))
			}
		}
		columns = append(columns, k.column(keys))
	}
	f.Title = words.And(said)
	f.Note = d.meaning()
	if pages := d.sums.Pages(d.profile); pages > 0 {
		f.Note = words.Verbed(pages, "of the files is a page", "of the files are pages") + " of HTML. " + f.Note
	}
	if d.profile == "google" && d.sums.Decided(d.profile).Named()[string(answer.Throttled)] > 0 {
		f.Note = "Status 429 closes a host under google as a server error does; until November 2026 it opened it, as it " +
			"still does under google-2019. " + f.Note
	}
	if why := d.failures(); why != "" {
		f.Note = "Why hosts cannot be reached: " + why + ". " + f.Note
	}
	others := d.sums.By("reason", d.profile, counters.Key)
	delete(others, string(answer.Success))
	f.Examples = d.examples.List("Examples of answers other than a robots.txt", "status and last URL, or error",
		"reason", words.Reason.Of, counters.Ranked(others)...)
	for _, stratum := range counters.Ascending(byStratum) {
		n, whole := make([]int64, len(answerKinds)), int64(0)
		for reason, count := range d.sums.DecidedIn(d.profile, stratum).Named() {
			n[kindOf(reason)] += count
			whole += count
		}
		var shares []draw.Share
		var cells []int64
		for i, k := range answerKinds {
			if shown(i) {
				shares = append(shares, draw.Share{Class: k.class, Name: k.name, N: n[i]})
				cells = append(cells, n[i])
			}
		}
		f.AddRow([]string{stratum}, cells...)
		f.AddBar(words.Rank(stratum), "", draw.Track{Whole: whole, Shares: shares, Values: []string{words.Hosts(whole)}})
	}
	f.Fill("hosts")
	f.SQL = fmt.Sprintf("SELECT %s\n%s\nGROUP BY stratum ORDER BY %s", strings.Join(columns, ",\n  "),
		d.from("reason challenge turned_away_reason", true), counters.StratumOrder)
	return f
}

// column returns the SQL that counts the hosts of a kind, of some reasons, without those
// behind a wall, or that turn us away.
func (k *answerKind) column(reasons []string) string {
	switch k.evidence[0] {
	case answer.BehindWall:
		return counters.SumIf("metric = 'challenge'", k.key)
	case answer.TurnsAway:
		return counters.SumIf("metric = 'turned_away_reason'", k.key)
	}
	in := " IN (" + strings.Join(reasons, ", ") + ")"
	return "(coalesce(sum(count) FILTER (metric = 'reason' AND key" + in +
		"), 0)\n    - coalesce(sum(count) FILTER (metric IN ('challenge', 'turned_away_reason') AND " +
		"split_part(key, ' ', 2)" + in + "), 0))::BIGINT AS " + k.key
}

// meaning says what the answers mean under the profile.
func (d *data) meaning() string {
	decided := d.sums.Decided(d.profile)
	outcomes := decided.Outcomes()
	outcomes["wall"] = decided.Walled()
	var means []string
	for _, m := range []struct{ key, words string }{
		{"conditional_allow", "the rules decide for"}, {"full_allow", "everything is allowed without rules at"},
		{"full_disallow", "everything is closed without rules at"},
		{"undefined", "the document leaves the policy open for"},
		{"wall", "a wall hides the policy of"},
	} {
		if n := outcomes[m.key]; n > 0 {
			means = append(means, fmt.Sprintf("%s %s (%s)", m.words, words.Hosts(n), words.Percent(n, d.hosts)))
		}
	}
	return fmt.Sprintf("Under the profile %s %s. No agent counts as shut out because of an outage.", d.profile,
		words.And(means))
}

// errors shows how attempts failed.
func (d *data) errors() *draw.Figure {
	all := d.sums.By("error_class", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	n := sum(all)
	top := counters.Ranked(all)
	f := &draw.Figure{ID: "errors", Of: fmt.Sprintf("Shares of %s.", d.all()), Names: words.ErrorClass.Of}
	at := fmt.Sprintf("%s of %s", words.Number(n), d.all())
	switch {
	case n == 1 && d.hosts == 1:
		at = "the only host"
	case n == d.hosts:
		at = "all " + d.all()
	}
	class, most, each := counters.Leading(all, counters.Quoted(words.ErrorClass.Of))
	f.Title = fmt.Sprintf("At %s the attempt failed or led nowhere, most often with %s (%s%s)", at, class,
		words.Number(most), each)
	if len(all) == 1 {
		f.Title = fmt.Sprintf("At %s the attempt failed or led nowhere, with %s", at, class)
	}
	byKey(f, d.from("error_class", false), "error_class", "hosts", all, "closed", d.hosts)
	f.Examples = d.examples.List("Examples", "error", "error_class", words.ErrorClass.Of, top...)
	return f
}
