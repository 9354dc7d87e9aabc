package changes

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink/schema"
)

// list adds examples with a key, best ranked first.
func list(out *draw.Listed, key string, of []diff.Example, text func(*diff.Example) string) {
	for i, x := range of {
		row := draw.Example{Host: x.Host, Text: text(&x)}
		if i == 0 && key != "" {
			row.Key, row.Span = key, len(of)
		}
		if x.Rank != nil {
			row.Rank, out.HasRank = words.Number(*x.Rank), true
		}
		if x.LineAfter != nil {
			row.Line, out.HasLine = counters.Digits(int64(*x.LineAfter)), true
		}
		out.Rows = append(out.Rows, row)
	}
}

// valueOf returns the words for a value before or after a change of a kind.
func valueOf(kind string, value *string) string {
	text := schema.OrZero(value)
	if text, known := words.Value(kind, text); known {
		return text
	}
	if of, ok := words.ValuesOf[kind]; ok {
		return of.Of(text)
	}
	return text
}

// moved says what happened to an agent that a figure names.
func moved(x *diff.Example) string {
	before, after := valueOf(x.Kind, x.Before), valueOf(x.Kind, x.After)
	if x.Kind == "rules" {
		return strings.TrimSpace(after + " " + schema.OrZero(x.URL))
	}
	return before + " → " + after
}

// told says what changed on a host.
func told(x *diff.Example) (s string) {
	agent, url, before, after := schema.OrZero(x.Agent), schema.OrZero(x.URL), schema.OrZero(x.Before),
		schema.OrZero(x.After)
	if s = words.Kind(x.Kind); x.Kind == "document" {
		s += " " + schema.OrZero(x.Document)
	} else if x.Document != nil {
		s += " of " + *x.Document
	}
	if agent != "" && x.Identity == nil { // which says more
		s += ", " + agent
	}
	if x.Use != nil {
		s += ", " + words.Use.Of(*x.Use)
	}
	if x.Identity != nil {
		s += " to " + *x.Identity
	}
	if url != "" && url != before && url != after {
		s += ", " + url
	}
	if x.More > 0 {
		defer func() { s += fmt.Sprintf(" (and %s more)", words.Number(x.More)) }()
	}
	switch {
	case x.Kind == "text": // its before and after are digests
	case x.Kind == "rules":
		s += ": " + valueOf(x.Kind, x.After)
	case before != "" && after != "":
		s += ": " + valueOf(x.Kind, x.Before) + " → " + valueOf(x.Kind, x.After)
	case after != "":
		s += ": now " + valueOf(x.Kind, x.After)
	case before != "":
		s += ": was " + valueOf(x.Kind, x.Before)
	}
	return s
}
