package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/views"
)

// mostClosedNamed is how many agents that are shut out a line names.
const mostClosedNamed = 8

func (h *historian) print(p *cli.Text) {
	origins := make(map[string]bool)
	for _, e := range h.events {
		if e.Origin != nil {
			origins[*e.Origin] = true
		}
	}
	in := words.Count(int64(h.found+h.lacking), "complete run")
	if h.lacking > 0 {
		in = fmt.Sprintf("%d of %s", h.found, in)
	}
	title := fmt.Sprintf("%s in %s, profile %s", h.asked.Host, in, h.profile)
	p.Line(cli.Paint(p.Out, cli.Bold, p.Foreign(title)))
	notes := make(map[string]int) // runs that have a note, whatever their names are
	for i := range h.events {
		notes[h.events[i].noteOfAny()]++
	}
	for i := 0; i < len(h.events); i++ {
		e := &h.events[i]
		if e.Event == "note" {
			later := notes[e.noteOfAny()] - 1
			if later < 0 {
				continue // told of an earlier run
			}
			delete(notes, e.noteOfAny())
			text := "note: " + *e.Note
			if later > 0 {
				text += fmt.Sprintf(" (and so of %s)", words.Count(int64(later), "later run"))
			}
			p.Line(fmt.Sprintf("  %s  %s  %s", cli.Date(e.Date), p.Foreign(e.Run), p.Foreign(text)))
			continue
		}
		head := fmt.Sprintf("  %s  %s  ", cli.Date(e.Date), p.Foreign(e.Run))
		if len(origins) > 1 && e.Origin != nil {
			head += p.Foreign(*e.Origin) + "  "
		}
		if e.Event != "change" {
			for _, text := range h.told(p, e) {
				p.Line(head + text)
			}
			continue
		}
		rows := []changeView{e.change} // changes of one origin in one run are folded
		for i+1 < len(h.events) && h.events[i+1].Event == "change" && h.events[i+1].Run == e.Run &&
			*h.events[i+1].Origin == *e.Origin {
			i++
			rows = append(rows, h.events[i].change)
		}
		for _, text := range toldChanges(p, rows, e.before) {
			p.Line(head + text)
		}
	}
}

// noteOfAny returns a note without the names of the two runs that it is about.
func (e *event) noteOfAny() string {
	if e.Note == nil {
		return ""
	}
	var kept []string
	for _, word := range strings.Fields(*e.Note) {
		if bare := strings.Trim(word, ",;:."); bare != e.Run && bare != e.before {
			kept = append(kept, word)
		}
	}
	return strings.Join(kept, " ")
}

// told tells an event that is not a change.
func (h *historian) told(p *cli.Text, e *event) []string {
	answered := func() string {
		text := words.Answer(answer.Reason(*e.Reason), e.target.TurnedAway(), e.target.IsHTML)
		if e.Status != nil {
			text += fmt.Sprintf(", status %d", *e.Status)
		}
		return text
	}
	switch e.Event {
	case "gap":
		return []string{fmt.Sprintf("no run for %s before this one", words.Count(int64(*e.Days), "day"))}
	case "absent":
		return []string{"not in the list of the run"}
	case "outage":
		return []string{"outage: " + answered()}
	case "wall":
		return []string{answered() + ": " + p.Foreign(words.Challenge.Of(*e.Challenge))}
	case "answers":
		var lines []string
		for i := range e.Answers.rows {
			lines = append(lines, p.Foreign(answerWords(&e.Answers.rows[i])))
		}
		return lines
	}
	lines := []string{answered() + "; " + h.shutOut(p, e)}
	for _, a := range e.Agents {
		text := a.Agent + ": " + words.Class.Of(a.Class)
		if a.GroupLine != nil {
			text += fmt.Sprintf(" (group of line %d)", *a.GroupLine)
		}
		lines = append(lines, p.Foreign(text))
	}
	return lines
}

// shutOut says which agents a state shuts out.
func (h *historian) shutOut(p *cli.Text, e *event) string {
	switch n := len(e.Closed); {
	case e.lacks != "":
		return p.Foreign(e.lacks)
	case n == 0:
		return "shuts out no agent"
	case n == len(e.view.policies):
		return "shuts out all agents"
	default:
		return p.Foreign("shuts out " + past.Some(e.Closed, mostClosedNamed))
	}
}

// historyQueries prints the queries of which history tells the answers: of the last capture
// of each origin, the states of policies in each run, where they changed, and the rows of changes, as far as diff has
// compared the runs; and the answers to identities, if there are any.
func historyQueries(out io.Writer, asked fetch.Origin, profile string, agents []string, answered bool) {
	of, last := condition(asked), "QUALIFY row_number() OVER (PARTITION BY run, origin ORDER BY fetch_time DESC, seq "+
		"DESC) = 1"
	ofLast := fmt.Sprintf("SEMI JOIN (SELECT run, seq FROM history.fetches WHERE %s %s) USING (run, seq)", of, last)
	only := ""
	for i, agent := range agents {
		only += map[bool]string{true: " AND lower(agent) IN (", false: ", "}[i == 0] + "lower(" + views.Quote(agent) + ")"
	}
	if only != "" {
		only += ")"
	}
	fmt.Fprintf(out, `SELECT r.date, f.run, f.origin, f.outcome, f.reason, f.challenge, f.status
FROM (FROM history.fetches WHERE %s %s) f JOIN history.runs r USING (run) ORDER BY r.date, f.origin;
`, of, last)
	fmt.Fprintf(out, `SELECT date, run, origin, agent, before, class AS after
FROM (SELECT r.date, p.run, p.origin, p.agent, p.class,
        lag(p.class) OVER (PARTITION BY p.origin, p.agent ORDER BY r.date, p.run) AS before
      FROM history.policies p %s JOIN history.runs r USING (run)
      WHERE p.class <> 'unknown' AND p.%s AND p.profile = %s)
WHERE class <> before%s ORDER BY date, origin, agent;
`, ofLast, of, views.Quote(profile), only)
	// Runs that are not neighbours may have been compared too.
	fmt.Fprintf(out, `FROM history.changes WHERE %s AND (profile IS NULL OR profile = %s)
  AND (run, against) IN (SELECT run, lag(run) OVER (ORDER BY date, run) FROM history.runs) ORDER BY run, origin;
`, of, views.Quote(profile))
	if answered {
		fmt.Fprintf(out, `SELECT r.date, a.run, a.origin, a.identity, a.is_control, a.treatment, a.policy, a.status,
  a.challenge, a.error_class
FROM history.answers a %s JOIN history.runs r USING (run)
WHERE a.%s AND coalesce(a.path, '/robots.txt') = '/robots.txt' ORDER BY r.date, a.origin, a.identity;
`, ofLast, of)
	}
}
