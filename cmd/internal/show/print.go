package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/check"
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/answer"
)

// Of an agent the terminal shows so many rules, and of a host so many changes.
const (
	mostRulesShown   = 12
	mostChangesShown = 12
)

func (v *hostView) print(p *cli.Text) {
	title := fmt.Sprintf("%s in run %s of %s", v.Origin, v.Run, cli.Date(v.Date))
	if v.Rank != nil {
		title += ", rank " + words.Number(*v.Rank)
	}
	p.Line(cli.Paint(p.Out, cli.Bold, p.Foreign(title)))
	if len(v.Labels.rows) > 0 {
		var each []string
		for _, l := range v.Labels.rows {
			each = append(each, p.Foreign(l.Label)+": "+p.Foreign(l.Value))
		}
		p.Line(strings.Join(each, ", "))
	}
	reason := answer.Reason(v.Reason)
	said := words.Answer(reason, v.target.TurnedAway(), v.target.IsHTML)
	if v.ErrorClass != nil && !reason.IsClass(answer.ErrorClass(*v.ErrorClass)) {
		said += " (" + words.ErrorClass.Of(*v.ErrorClass) + ")"
	}
	if v.Challenge != nil {
		said = fmt.Sprintf("a wall (%s), so that the host counts as unread; by its status %s",
			words.Challenge.Of(*v.Challenge), said)
	}
	p.Line(fmt.Sprintf("  answered %s: %s", v.Fetched.UTC().Format(time.DateTime), p.Foreign(said)))
	for _, h := range v.Hops.rows {
		status := "no answer"
		if h.Status != nil {
			status = fmt.Sprint(*h.Status)
		}
		p.Line("    " + p.Foreign(h.URL) + "  " + status)
	}
	if v.Bytes != nil && v.Lines != nil {
		text := fmt.Sprintf("  file: %s, %s, %s, %s, %s", words.Count(*v.Bytes, "byte"),
			words.Count(int64(*v.Lines), "line"), words.Count(int64(*v.Groups), "group"),
			words.Count(int64(*v.Rules), "rule"), words.Count(int64(*v.Sitemaps), "sitemap"))
		if v.Truncated {
			text += "; cut"
		}
		p.Line(text)
	}
	for _, class := range slices.Sorted(maps.Keys(v.Findings)) {
		p.Line(fmt.Sprintf("    %s: %s", words.LineClass.Of(class), words.Count(int64(v.Findings[class]), "line")))
	}
	v.printWords(p)
	v.printAnswers(p)
	v.printDocuments(p)
	v.printListed(p)
	p.Line("")
	var rows [][]string
	for _, c := range v.Categories {
		row := []string{words.Category.Of(c.Category)}
		for _, class := range []string{"allow_all", "partial", "disallow_all", "unknown"} {
			row = append(row, words.Number(int64(c.Classes[class])))
		}
		rows = append(rows, row)
	}
	p.Rows([]string{"agents, profile " + p.Foreign(v.Profile), "open", "partly closed", "shut out", "unknown"}, 1, rows)
	p.Line("")
	v.printDeciding(p, v.names)
	if !v.names {
		p.Line("--agents names the agents of each group, --agent NAME shows all that holds for one")
	}
	for _, a := range v.Agents {
		p.Line("")
		v.printAgent(p, a)
	}
	for _, u := range v.URLs {
		p.Line("")
		u.print(p)
	}
	v.printFile(p)
	v.printChanges(p)
}

func (v *hostView) printChanges(p *cli.Text) {
	switch {
	case v.Before == nil:
		return
	case v.Changes == nil:
		p.Line(fmt.Sprintf("\nsince run %s: not compared", p.Foreign(*v.Before)))
	case v.superseded:
		p.Line(fmt.Sprintf("\nsince run %s", p.Foreign(*v.Before)))
	case len(v.Changes) == 0 && len(v.Notes) > 0:
		p.Line(fmt.Sprintf("\nsince run %s: no change in what is compared", p.Foreign(*v.Before)))
	case len(v.Changes) == 0:
		p.Line(fmt.Sprintf("\nsince run %s: no change", p.Foreign(*v.Before)))
	default:
		p.Line(fmt.Sprintf("\nsince run %s", p.Foreign(*v.Before)))
	}
	for _, note := range v.Notes {
		p.Line("  note: " + p.Foreign(note))
	}
	lines := toldChanges(p, v.Changes, *v.Before)
	for i, told := range lines {
		if i == mostChangesShown {
			p.Line(fmt.Sprintf("  and %s more, all in --json", words.Number(int64(len(lines)-i))))
			break
		}
		p.Line("  " + told)
	}
}

func (v *hostView) printAgent(p *cli.Text, a *agentView) {
	text := fmt.Sprintf("%s: %s", a.Agent, words.Class.Of(a.Class))
	switch {
	case a.GroupAgent == nil && a.Match != nil:
		text += ", no group is for it"
	case a.GroupAgent != nil:
		text += ", by the group for " + *a.GroupAgent
		if a.GroupLine != nil {
			text += fmt.Sprintf(", line %d", *a.GroupLine)
		}
		if a.Template != nil {
			text += ", in the words of " + *a.Template
		}
	}
	p.Line(p.Foreign(text))
	for i, r := range a.Rules {
		if i == mostRulesShown {
			p.Line(fmt.Sprintf("  and %s more, all in --json", words.Count(int64(len(a.Rules)-i), "rule")))
			break
		}
		p.Line("  " + p.Foreign(check.Shortened(fmt.Sprintf("line %d: %s", r.Line, check.RuleText(r.Kind, r.Pattern)))))
	}
}
