package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/robocensus/robocensus/sink/visible"
)

// Style is a text style of terminals.
type Style string

const (
	Bold   Style = "\x1b[1m"
	Red    Style = "\x1b[31m"
	Green  Style = "\x1b[32m"
	Yellow Style = "\x1b[33m"
)

// Paint returns text in style s if out is a terminal. It returns text unchanged
// otherwise, and if NO_COLOR (https://no-color.org) is set or TERM is dumb.
func Paint(out io.Writer, s Style, text string) string {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !IsTerminal(out) {
		return text
	}
	return string(s) + text + "\x1b[0m"
}

// IsTerminal reports whether the output of a command goes to a terminal.
func IsTerminal(out io.Writer) bool {
	if c, ok := out.(*Checked); ok {
		out = c.Writer
	}
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Page prints a comparison for a terminal, or as Markdown for chat and tickets.
type Page interface {
	Line(text string)
	// table prints rows of names, then numbers. head names all columns.
	Table(title string, head []string, names int, rows [][]string)
	// foreign escapes text from a file or the network.
	Foreign(text string) string
}

type Text struct{ Out io.Writer }

func (p *Text) Line(text string) { fmt.Fprintln(p.Out, text) }

func (p *Text) Foreign(text string) string { return visible.Text(text) }

func (p *Text) Table(title string, head []string, names int, rows [][]string) {
	fmt.Fprintf(p.Out, "\n%s\n", Paint(p.Out, Bold, title))
	p.Rows(head, names, rows)
}

// Rows prints a table without a title.
func (p *Text) Rows(head []string, names int, rows [][]string) {
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
		fmt.Fprintln(p.Out, strings.TrimRight(line.String(), " "))
	}
}

// List prints short texts, as many per line as fit.
func (p *Text) List(texts []string) {
	line := " "
	for i, text := range texts {
		if i < len(texts)-1 {
			text += ","
		}
		if len(line)+1+len(text) > terminalColumns && line != " " {
			fmt.Fprintln(p.Out, line)
			line = " "
		}
		line += " " + text
	}
	fmt.Fprintln(p.Out, line)
}

// terminalColumns is the assumed width of a terminal.
const terminalColumns = 80

type Markdown struct{ Out io.Writer }

func (p *Markdown) Line(text string) { fmt.Fprint(p.Out, text, "\n\n") }

// Foreign makes a code span, so that the text is not a link, mention, HTML or the end of a
// table cell. It escapes what could end the span.
func (p *Markdown) Foreign(text string) string {
	if text == "" {
		return "(empty)" // two backticks would begin a code span
	}
	return "`" + strings.NewReplacer("`", `\u0060`, "|", `\u007c`).Replace(visible.Text(text)) + "`"
}

func (p *Markdown) Table(title string, head []string, names int, rows [][]string) {
	fmt.Fprintf(p.Out, "**%s**\n\n| %s |\n|%s%s\n", title, strings.Join(head, " | "),
		strings.Repeat("---|", names), strings.Repeat("---:|", len(head)-names))
	for _, row := range rows {
		fmt.Fprintf(p.Out, "| %s |\n", strings.Join(row, " | "))
	}
	fmt.Fprintln(p.Out)
}

// Checked is a writer that keeps the first error, so that callers need not check
// each write.
type Checked struct {
	io.Writer
	Err error
}

func (c *Checked) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if err != nil && c.Err == nil {
		c.Err = err
	}
	return n, err
}

// Date formats the date of a run, whose time of day may be unknown.
func Date(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// JSON prints a value for --json.
func JSON(out io.Writer, v any) error { return writeJSON(out, v, "  ") }

// JSONLine prints a value as a line of JSON, with the same escapes.
func JSONLine(out io.Writer, v any) error { return writeJSON(out, v, "") }

func writeJSON(out io.Writer, v any, indent string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	if err == nil {
		_, err = out.Write(visible.JSON(text.Bytes()))
	}
	if err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

func ShellWord(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=+:,@") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
