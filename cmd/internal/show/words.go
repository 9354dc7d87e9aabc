package show

import (
	"context"
	"fmt"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
)

// templateView is a region or a file that a product wrote.
type templateView schema.Template

const templateColumns = "template, kind, version, first_line, last_line"

func (t templateView) MarshalJSON() ([]byte, error) { return schema.JSON(t, templateColumns) }

// statementView is what a line says about one use.
type statementView schema.Preference

const statementColumns = "group_agent, scope, mechanism, document, header, label, use, preference, " +
	"path, value, line, conflict, remark"

func (s statementView) MarshalJSON() ([]byte, error) { return schema.JSON(s, statementColumns) }

// addWords adds whose words a file has, and what it says about use.
func (v *hostView) addWords(ctx context.Context, r *lookup.Run, t *lookup.Target) error {
	templates, err := lookup.Rows[schema.Template](ctx, r, "templates", t)
	if err != nil {
		return err
	}
	for _, w := range templates {
		v.Templates = append(v.Templates, templateView(w))
	}
	statements, err := lookup.Rows[schema.Preference](ctx, r, "preferences", t)
	for _, s := range statements {
		v.Statements = append(v.Statements, statementView(s))
	}
	return err
}

// mostStatementsShown is how many statements of a host the terminal shows.
const mostStatementsShown = 8

func (v *hostView) printWords(p *cli.Text) {
	for _, w := range v.Templates {
		text := "  words of " + w.Template
		if w.Version != nil {
			text += " " + *w.Version
		}
		p.Line(p.Foreign(fmt.Sprintf("%s (%s), lines %d to %d", text, w.Kind, w.FirstLine, w.LastLine)))
	}
	for i, s := range v.Statements {
		if i == mostStatementsShown {
			p.Line(fmt.Sprintf("  and %s more about use, all in --json", words.Number(int64(len(v.Statements)-i))))
			return
		}
		p.Line("  " + p.Foreign(s.words()))
	}
}

// words tells a statement, such as "line 4 for *: Content-Signal ai-train=no refuses AI
// training".
func (s *statementView) words() string {
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
		text += words.PageHeader.Of(*s.Header) + " " + (*schema.Preference)(s).OfHeader()
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
