package changes

import (
	"fmt"
	"math"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
)

// list adds examples with a key, best ranked first.
func list(out *draw.Listed, key string, of []changeExample, text func(*changeExample) string) {
	for i, x := range of {
		row := draw.Example{Host: x.Host, Text: text(&x)}
		if i == 0 && key != "" {
			row.Key, row.Span = key, len(of)
		}
		if x.rank < math.MaxInt64 {
			row.Rank, out.HasRank = words.Number(x.rank), true
		}
		if x.line != nil {
			row.Line, out.HasLine = counters.Digits(int64(*x.line)), true
		}
		out.Rows = append(out.Rows, row)
	}
}

// valueOf returns the words for a value before or after a change of a kind.
func (x *changeExample) valueOf(value string) string {
	if text, known := words.Value(x.Kind, value); known {
		return text
	}
	if of, ok := words.ValuesOf[x.Kind]; ok {
		return of.Of(value)
	}
	return value
}

// moved says what happened to an agent that a figure names.
func (x *changeExample) moved() string {
	if x.Kind == "rules" {
		return strings.TrimSpace(x.valueOf(x.After) + " " + x.URL)
	}
	return x.valueOf(x.Before) + " → " + x.valueOf(x.After)
}

func (x *changeExample) words() (s string) {
	said := x.valueOf
	if s = words.Kind(x.Kind); x.Kind == "document" {
		s += " " + x.Document
	} else if x.Document != "" {
		s += " of " + x.Document
	}
	if x.Agent != "" && x.Identity == "" { // which says more
		s += ", " + x.Agent
	}
	if x.Use != "" {
		s += ", " + words.Use.Of(x.Use)
	}
	if x.Identity != "" {
		s += " to " + x.Identity
	}
	if x.URL != "" && x.URL != x.Before && x.URL != x.After {
		s += ", " + x.URL
	}
	if x.more > 0 {
		defer func() { s += fmt.Sprintf(" (and %s more)", words.Number(x.more)) }()
	}
	switch {
	case x.Kind == "text": // its before and after are digests
	case x.Kind == "rules":
		s += ": " + said(x.After)
	case x.Before != "" && x.After != "":
		s += ": " + said(x.Before) + " → " + said(x.After)
	case x.After != "":
		s += ": now " + said(x.After)
	case x.Before != "":
		s += ": was " + said(x.Before)
	}
	return s
}

// addHosts adds a bar for each share that some hosts have.
func addHosts(f *draw.Figure, name string, shares ...draw.Share) {
	for _, s := range shares {
		if s.N > 0 {
			f.AddBar(name, s.Name, draw.Track{Shares: []draw.Share{s}, Values: []string{words.Hosts(s.N)}})
		}
	}
}
