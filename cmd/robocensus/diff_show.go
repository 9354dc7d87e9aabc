package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/pipeline"
)

// page is what a comparison is shown on: a terminal, or Markdown for chat and
// tickets.
type page interface {
	line(text string)
	// table has names in its first columns, as many as head has more than
	// numbers, and then numbers.
	table(title string, head []string, names int, rows [][]string)
	// foreign shows text that came from a file or the network.
	foreign(text string) string
}

type textPage struct{ out io.Writer }

func (p *textPage) line(text string)           { fmt.Fprintln(p.out, text) }
func (p *textPage) foreign(text string) string { return plain(text) }

func (p *textPage) table(title string, head []string, names int, rows [][]string) {
	rows = append([][]string{head}, rows...)
	widths := make([]int, len(head))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Fprintf(p.out, "\n%s\n", title)
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

// list prints short texts, as many to a line as a terminal has room for.
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

// terminalColumns is what a terminal has at least.
const terminalColumns = 80

type markdownPage struct{ out io.Writer }

func (p *markdownPage) line(text string) { fmt.Fprint(p.out, text, "\n\n") }

// foreign makes a span of code, in which nothing is a link, a mention, HTML or
// the end of a table's cell; what could end the span is shown as an escape.
func (p *markdownPage) foreign(text string) string {
	if text == "" {
		return "(empty)" // two backticks would begin a span
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

func showDiff(p page, r *pipeline.DiffResult) {
	p.line(fmt.Sprintf("%s since %s: %s compared, %d with a change; %d new, %d gone; %s",
		p.foreign(r.After), p.foreign(r.Before), count(r.Compared, "host"), r.Changed, r.New, r.Gone, count(r.Changes, "change")))
	for _, note := range r.Notes {
		p.line("note: " + p.foreign(note))
	}
	showPromises(p, r.Expectations)
	var rows [][]string
	for _, k := range r.Kinds {
		rows = append(rows, []string{k.Severity, k.Kind, fmt.Sprint(k.Count)})
	}
	if len(rows) == 0 {
		return
	}
	p.table("Changes by severity and kind", []string{"severity", "kind", "changes"}, 2, rows)
	showAgents(p, r)
	rows = nil
	for _, s := range r.Strata {
		rows = append(rows, []string{s.Stratum, fmt.Sprint(s.Compared), fmt.Sprint(s.Changed), fmt.Sprint(s.Critical), fmt.Sprint(s.Major)})
	}
	p.table("Hosts by rank, and by their gravest change", []string{"rank", "compared", "changed", "critical", "major"}, 1, rows)
	rows = nil
	for _, e := range r.Examples {
		rows = append(rows, []string{e.Severity, p.foreign(e.Origin), told(p, &e)})
	}
	p.table("The gravest, one of each host", []string{"severity", "origin", "change"}, 3, rows)
}

const shownAgents = 12

// showAgents tells whose policies changed, agents and their categories.
func showAgents(p page, r *pipeline.DiffResult) {
	if len(r.Agents) == 0 {
		return
	}
	several := slices.ContainsFunc(r.Agents, func(a pipeline.DiffAgent) bool { return a.Profile != r.Agents[0].Profile })
	counts := func(a pipeline.DiffClasses) []string {
		return []string{fmt.Sprint(a.Closed), fmt.Sprint(a.Narrowed), fmt.Sprint(a.Widened), fmt.Sprint(a.Opened)}
	}
	var rows [][]string
	for _, a := range r.Agents {
		name := p.foreign(a.Agent)
		if several {
			name += " (" + p.foreign(a.Profile) + ")"
		}
		if len(rows) < shownAgents {
			rows = append(rows, append([]string{p.foreign(a.Category), name}, counts(a.DiffClasses)...))
		}
	}
	if more := len(r.Agents) - len(rows); more > 0 {
		rows = append(rows, []string{"", fmt.Sprintf("and %d more", more), "", "", "", ""})
	}
	head := []string{"closed", "narrowed", "widened", "opened"}
	p.table("Hosts that changed their policy, by agent", append([]string{"category", "agent"}, head...), 2, rows)
	rows = nil
	for _, c := range r.Categories {
		rows = append(rows, append([]string{p.foreign(c.Category)}, counts(c.DiffClasses)...))
	}
	p.table("The same, all agents of a category added up", append([]string{"category"}, head...), 1, rows)
}

// told says an example in a line.
func told(p page, e *pipeline.DiffExample) string {
	side := func(value *string, line *int32) string {
		if value == nil {
			return "none"
		}
		out := p.foreign(*value)
		if line != nil {
			out += fmt.Sprintf(" (line %d)", *line)
		}
		return out
	}
	words := []string{e.Kind}
	for _, s := range []*string{e.Agent, e.URL} {
		if s != nil {
			words = append(words, p.foreign(*s))
		}
	}
	words = append(words, side(e.Before, e.LineBefore), "→", side(e.After, e.LineAfter))
	if e.More > 0 {
		words = append(words, fmt.Sprintf("(and %d more like it)", e.More))
	}
	return strings.Join(words, " ")
}
