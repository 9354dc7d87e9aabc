package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/closing"
)

// page prints a comparison for a terminal, or as Markdown for chat and tickets.
type page interface {
	line(text string)
	// table prints rows of names, then numbers. head names all columns.
	table(title string, head []string, names int, rows [][]string)
	// foreign escapes text from a file or the network.
	foreign(text string) string
}

type textPage struct{ out io.Writer }

func (p *textPage) line(text string)           { fmt.Fprintln(p.out, text) }
func (p *textPage) foreign(text string) string { return plain(text) }

func (p *textPage) table(title string, head []string, names int, rows [][]string) {
	fmt.Fprintf(p.out, "\n%s\n", paint(p.out, bold, title))
	p.rows(head, names, rows)
}

// rows prints a table without a title.
func (p *textPage) rows(head []string, names int, rows [][]string) {
	rows = append([][]string{head}, rows...)
	widths := make([]int, len(head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i >= names {
				cell, space = space+cell, ""
			}
			if i > 0 {
				line.WriteString("  ")
			}
			line.WriteString(cell + space)
		}
		fmt.Fprintln(p.out, strings.TrimRight(line.String(), " "))
	}
}

// list prints short texts, as many per line as fit.
func (p *textPage) list(texts []string) {
	line := " "
	for i, text := range texts {
		if i < len(texts)-1 {
			text += ","
		}
		if len(line)+1+len(text) > terminalColumns && line != " " {
			fmt.Fprintln(p.out, line)
			line = " "
		}
		line += " " + text
	}
	fmt.Fprintln(p.out, line)
}

// terminalColumns is the assumed width of a terminal.
const terminalColumns = 80

type markdownPage struct{ out io.Writer }

func (p *markdownPage) line(text string) { fmt.Fprint(p.out, text, "\n\n") }

// foreign makes a code span, so that the text is not a link, mention, HTML or the end of a
// table cell. It escapes what could end the span.
func (p *markdownPage) foreign(text string) string {
	if text == "" {
		return "(empty)" // two backticks would begin a code span
	}
	return "`" + strings.NewReplacer("`", `\u0060`, "|", `\u007c`).Replace(plain(text)) + "`"
}

func (p *markdownPage) table(title string, head []string, names int, rows [][]string) {
	fmt.Fprintf(p.out, "**%s**\n\n| %s |\n|%s%s\n", title, strings.Join(head, " | "),
		strings.Repeat("---|", names), strings.Repeat("---:|", len(head)-names))
	for _, row := range rows {
		fmt.Fprintf(p.out, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(p.out)
}

// headline says how many hosts changed. Hosts that a run could not read, or whose
// policies are not compared, do not count as unchanged.
func headline(r *diff.Result) string {
	apart := fmt.Sprintf("%s new, %s gone", words.Number(r.New), words.Number(r.Gone))
	switch {
	case r.Compared == 0:
		return "no host is in both runs; " + apart
	case !r.Policies:
		return fmt.Sprintf("no policy is compared: %s in both runs, %s with a change of another kind; %s", words.Count(r.Compared, "host"), words.Number(r.Changed), apart)
	case r.Unread == r.Compared:
		return fmt.Sprintf("no policy is compared: %s in both runs, and none could be read in both; %s", words.Count(r.Compared, "host"), apart)
	}
	out := fmt.Sprintf("%s compared, %s with a change", words.Count(r.Compared, "host"), words.Number(r.Changed))
	if r.Compared >= words.Few {
		out += fmt.Sprintf(" (%s)", words.Percent(r.Changed, r.Compared))
	}
	if r.Unread > 0 {
		out += fmt.Sprintf("; %s could not be read in one run or in both", words.Number(r.Unread))
	}
	return out + "; " + apart
}

// standIns says which hosts are compared with a run before the first one.
func standIns(p page, r *diff.Result) string {
	n, each := int64(0), make([]string, len(r.Earlier))
	for i, e := range r.Earlier {
		n += e.Hosts
		each[i] = fmt.Sprintf("%s (%s)", p.foreign(e.Run), words.Count(e.Hosts, "host"))
	}
	return fmt.Sprintf("%s could not read %s that an earlier run could, which are compared with the latest such run: %s",
		p.foreign(r.Before), words.Count(n, "host"), strings.Join(each, ", "))
}

func showDiff(p page, r *diff.Result) {
	p.line(fmt.Sprintf("%s since %s: %s", p.foreign(r.After), p.foreign(r.Before), headline(r)))
	for _, note := range r.Notes {
		p.line("note: " + p.foreign(note))
	}
	if len(r.Earlier) > 0 {
		p.line("note: " + standIns(p, r))
	}
	showPromises(p, r.Expectations)
	if len(r.Kinds) == 0 {
		return
	}
	severities := func(s diff.Severities) []int64 { return []int64{s.Critical, s.Major, s.Minor, s.Cosmetic} }
	var rows [][]string
	for i, n := range severities(r.BySeverity) {
		if n > 0 {
			rows = append(rows, []string{change.Severities[i], words.Number(n), words.Percent(n, r.Compared)})
		}
	}
	if len(rows) > 0 {
		p.table("Hosts by most severe change", []string{"severity", "hosts", "of compared"}, 1, rows)
	}
	rows = nil
	for _, k := range r.Kinds {
		rows = append(rows, []string{k.Severity, words.Kind(k.Kind), words.Number(k.Hosts), words.Number(k.Count)})
	}
	p.table("What changed, on how many hosts, in how many rows of the table changes", []string{"severity", "kind", "hosts", "rows"}, 2, rows)
	showAgents(p, r)
	showWords(p, r)
	showUses(p, r)
	rows = nil
	for _, s := range r.Strata {
		row := []string{s.Stratum, words.Number(s.Compared), words.Number(s.Changed)}
		for _, n := range severities(s.Severities) {
			row = append(row, words.Number(n))
		}
		rows = append(rows, row)
	}
	p.table("Hosts by rank, and by most severe change", append([]string{"rank", "compared", "changed"}, change.Severities...), 1, rows)
	rows = nil
	for _, e := range r.Together {
		rows = append(rows, []string{e.Severity, p.foreign(e.Origin), toldOfHost(p, &e), words.Number(e.Hosts)})
	}
	if len(rows) > 0 {
		p.table("Hosts that changed in the same way", []string{"severity", "such as", "change", "hosts"}, 3, rows)
	}
	rows = nil
	for _, e := range r.Examples {
		rows = append(rows, []string{e.Severity, p.foreign(e.Origin), told(p, r, &e)})
	}
	p.table("The most severe changes, one for each host", []string{"severity", "origin", "change"}, 3, rows)
}

const shownAgents = 12

// showAgents shows the agents that hosts closed or opened to, with categories.
func showAgents(p page, r *diff.Result) {
	moved := func(c closing.Counts) bool { return c.Closed+c.Opened > 0 }
	agents := slices.DeleteFunc(slices.Clone(r.Agents), func(a diff.Agent) bool { return !moved(a.Counts) })
	if len(agents) == 0 {
		return
	}
	several := len(r.Profiles) > 1
	named := func(name, profile string) string {
		if several {
			return p.foreign(name) + " (" + p.foreign(profile) + ")"
		}
		return p.foreign(name)
	}
	counts := func(c closing.Counts) []string {
		return []string{words.Number(c.Closed), words.Number(c.ShutOut), words.Number(c.Opened), words.Number(c.LetIn)}
	}
	head := []string{"closed", "shut out", "opened", "let in"}
	var rows [][]string
	for _, c := range r.Profiles {
		if moved(c.Counts) {
			rows = append(rows, append([]string{named("any agent", c.Profile)}, counts(c.Counts)...))
		}
	}
	for _, c := range r.Categories {
		if moved(c.Counts) {
			rows = append(rows, append([]string{named(c.Category, c.Profile)}, counts(c.Counts)...))
		}
	}
	p.table("Hosts that closed some path to any agent of a category, or shut one out entirely; and that opened", append([]string{"category"}, head...), 1, rows)
	rows = nil
	for _, a := range agents[:min(len(agents), shownAgents)] {
		rows = append(rows, append([]string{p.foreign(a.Category), named(a.Agent, a.Profile)}, counts(a.Counts)...))
	}
	title := "Hosts that closed some path to an agent, or shut it out entirely; and that opened"
	if len(agents) > shownAgents {
		title += fmt.Sprintf(": the first %d agents of %d", shownAgents, len(agents))
	}
	p.table(title, append([]string{"category", "agent"}, head...), 2, rows)
}

// showWords tells hosts that closed or opened because their template did from those that
// decided, where there are any of the former.
func showWords(p page, r *diff.Result) {
	several := len(r.Profiles) > 1
	var rows [][]string
	for _, a := range r.Agents[:min(len(r.Agents), shownAgents)] {
		of := slices.DeleteFunc(slices.Clone(r.Words), func(w diff.Words) bool { return w.Agent != a.Agent || w.Profile != a.Profile })
		if !slices.ContainsFunc(of, func(w diff.Words) bool { return w.Template != nil }) {
			continue
		}
		name := p.foreign(a.Agent)
		if several {
			name += " (" + p.foreign(a.Profile) + ")"
		}
		for _, w := range of {
			whose := "their own"
			if w.Template != nil {
				whose = p.foreign(*w.Template)
			}
			rows = append(rows, []string{name, whose, words.Number(w.Closed), words.Number(w.ShutOut), words.Number(w.Opened), words.Number(w.LetIn)})
			name = ""
		}
	}
	if rows == nil {
		return
	}
	title := "Whose words closed to an agent, and opened"
	for _, t := range r.Profiles {
		if moved := t.Closed + t.Opened - t.Both; !several && moved > 0 {
			title += fmt.Sprintf(": of %s that closed or opened, %s did so in the words of a template alone", words.Count(moved, "host"), words.Number(t.Template))
		}
	}
	p.table(title, []string{"agent", "words", "closed", "shut out", "opened", "let in"}, 2, rows)
}

// showUses shows what files newly state about use.
func showUses(p page, r *diff.Result) {
	var rows [][]string
	for _, u := range r.Uses {
		name := words.Use.Of(u.Use)
		if len(r.Profiles) > 1 {
			name += " (" + p.foreign(u.Profile) + ")"
		}
		row := []string{name}
		for _, n := range []int64{u.Refuses, u.Permits, u.Depends, u.Ends, u.Undecided, u.Template} {
			row = append(row, words.Number(n))
		}
		rows = append(rows, row)
	}
	if rows != nil {
		p.table("Hosts whose file states something else to an agent about a use, and how many did so in the words of a template alone",
			[]string{"use", "refuse", "permit", "by path", "no more", "undecided", "template"}, 1, rows)
	}
}

// valueWords are the words for the values before and after a change.
var valueWords = map[string]words.Vocabulary{
	"policy_class": words.Class, "group": words.Class, "outcome": words.Outcome, "host_new": words.Outcome, "host_gone": words.Outcome,
	"reachability": words.Reason, "rules": words.Effect, "preference": words.Stance,
}

// lineWord names the line that decides.
func lineWord(line *int32) string {
	if line == nil {
		return "no line"
	}
	return fmt.Sprintf("line %d", *line)
}

// told returns an example as one line, with the run that its state before is from, if
// not the first one, and the number of hosts that changed in the same way.
func told(p page, r *diff.Result, e *diff.Example) string {
	out := toldOfHost(p, e)
	if e.BeforeRun != nil && *e.BeforeRun != r.Before {
		out += fmt.Sprintf(" (since %s)", p.foreign(*e.BeforeRun))
	}
	if e.Hosts > 1 {
		out += fmt.Sprintf(" (%s changed in this way)", words.Count(e.Hosts, "host"))
	}
	return out
}

// toldOfHost returns an example as one line.
func toldOfHost(p page, e *diff.Example) string {
	if e.Kind == "text" { // its values are digests
		if e.Severity == "cosmetic" {
			return "texts differ; no verdict on any path of any agent does"
		}
		return "texts differ; whether any verdict does is undecided"
	}
	side := func(value *string, line *int32) string {
		if value == nil {
			return "none"
		}
		out, known := valueWords[e.Kind][*value]
		if !known {
			out = p.foreign(*value)
		}
		if line != nil {
			out += fmt.Sprintf(" (line %d)", *line)
		}
		return out
	}
	text := []string{words.Kind(e.Kind)}
	for _, s := range []*string{e.Agent, e.URL} {
		if s != nil {
			text = append(text, p.foreign(*s))
		}
	}
	if e.Use != nil {
		text = append(text, words.Use.Of(*e.Use))
	}
	text[len(text)-1] += ":"
	if e.Kind == "rules" {
		text = append(text, side(e.After, nil))
		if e.URL != nil {
			text = append(text, fmt.Sprintf("(%s → %s)", lineWord(e.LineBefore), lineWord(e.LineAfter)))
		}
	} else {
		text = append(text, side(e.Before, e.LineBefore), "→", side(e.After, e.LineAfter))
	}
	if e.Template != nil {
		text = append(text, "in the words of "+p.foreign(*e.Template))
	}
	if e.More > 0 {
		text = append(text, fmt.Sprintf("(and %s more like it)", words.Number(e.More)))
	}
	return strings.Join(text, " ")
}
