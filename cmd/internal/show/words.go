package show

import (
	"fmt"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/schema"
)

const (
	templateColumns = "template, kind, version, first_line, last_line"

	statementColumns = "group_agent, scope, mechanism, document, header, label, use, preference, path, value, line, " +
		"conflict, remark"
)

// mostStatementsShown is how many statements of a host the terminal shows.
const mostStatementsShown = 8

func (v *hostView) printWords(p *cli.Text) {
	for _, w := range v.Templates.rows {
		text := "  words of " + w.Template
		if w.Version != nil {
			text += " " + *w.Version
		}
		p.Line(p.Foreign(fmt.Sprintf("%s (%s), lines %d to %d", text, w.Kind, w.FirstLine, w.LastLine)))
	}
	for i := range v.Statements.rows {
		if i == mostStatementsShown {
			p.Line(fmt.Sprintf("  and %s more about use, all in --json", words.Number(int64(len(v.Statements.rows)-i))))
			return
		}
		p.Line("  " + p.Foreign(statementWords(&v.Statements.rows[i])))
	}
}

// statementWords tells a statement, such as "line 4 for *: Content-Signal ai-train=no refuses AI
// training".
func statementWords(s *schema.Preference) string {
	text := "front page"
	switch {
	case s.Line != nil:
		text = fmt.Sprintf("line %d", *s.Line)
	case s.Scope == "document":
		text = "somewhere"
	}
	if s.Scope == "document" && s.Document != nil {
		text += " of " + *s.Document
	}
	if s.GroupAgent != nil {
		text += " for " + *s.GroupAgent
	}
	text += ": "
	switch {
	case s.Mechanism == "token":
		text += "Disallow: " + s.Value // the rules of a policy token's group
	case s.Header != nil:
		text += words.PageHeader.Of(*s.Header) + " " + s.OfHeader()
	default:
		text += words.Mechanism.Of(s.Mechanism)
		if s.Path != nil {
			text += " " + *s.Path
		}
		if s.Label != "" {
			text += " " + s.Label + "="
		} else {
			text += " "
		}
		text += s.Value
	}
	if s.Use != nil && s.Preference != nil {
		text += map[string]string{"allow": " permits ", "disallow": " refuses ",
			"priced": " sells "}[*s.Preference] + words.Use.Of(*s.Use)
	}
	switch {
	case s.Scope == "orphan":
		text += " (before any group: nobody reads it)"
	case s.Conflict:
		text += " (another line says the contrary)"
	case s.Remark != nil:
		text += " (" + words.PreferenceRemark.Of(*s.Remark) + ")"
	}
	return text
}
