package diffs

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink/visible"
)

// told returns an example as one line, with the run that its state before is from, if
// not the first one, and the number of hosts that changed in the same way.
func told(p cli.Page, r *diff.Result, e *diff.Example) string {
	out := ToldOfHost(p, e)
	if e.BeforeRun != nil && *e.BeforeRun != r.Before {
		out += fmt.Sprintf(" (since %s)", p.Foreign(*e.BeforeRun))
	}
	if e.Hosts > 1 {
		out += fmt.Sprintf(" (%s changed in this way)", words.Count(e.Hosts, "host"))
	}
	return out
}

// ToldOfHost returns an example as one line.
func ToldOfHost(p cli.Page, e *diff.Example) string {
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
		out, known := words.Value(e.Kind, *value)
		if !known {
			out = p.Foreign(*value)
		}
		if line != nil {
			out += fmt.Sprintf(" (line %d)", *line)
		}
		return out
	}
	text := []string{visible.Text(words.Kind(e.Kind))}
	if e.Document != nil {
		text[0] += " of " + p.Foreign(*e.Document)
	}
	if e.Kind == "document" {
		text[0] = "document " + p.Foreign(*e.Document)
	}
	if e.Identity != nil { // which says more than the agent
		return fmt.Sprintf("%s to %s: %s → %s", text[0], p.Foreign(*e.Identity), side(e.Before, nil),
			side(e.After, nil)) + alikeMore(e)
	}
	for _, s := range []*string{e.Agent, e.URL} {
		if s != nil {
			text = append(text, p.Foreign(*s))
		}
	}
	if e.Use != nil {
		text = append(text, visible.Text(words.Use.Of(*e.Use)))
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
		text = append(text, "in the words of "+p.Foreign(*e.Template))
	}
	return strings.Join(text, " ") + alikeMore(e)
}

// alikeMore says how many further rows of the host are like an example.
func alikeMore(e *diff.Example) string {
	if e.More == 0 {
		return ""
	}
	return fmt.Sprintf(" (and %s more like it)", words.Number(e.More))
}

// lineWord names the line that decides.
func lineWord(line *int32) string {
	if line == nil {
		return "no line"
	}
	return fmt.Sprintf("line %d", *line)
}
