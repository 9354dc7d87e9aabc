// Package draw draws figures on a page of HTML.
//
//   - page.go, page.tmpl.html: the page: sections of figures, facts, remarks, provenance
//   - figure.go: a figure: its finding, bars, numbers and SQL
//   - histogram.go: the columns of a distribution
//   - heat.go: a table of shares, coloured by their size
//   - multiples.go: small drawings of lines over time
//   - lists.go: examples, and long lists, whose end is folded
//   - svg.go: the drawing and the numbers as files to download
//
// The page is self-contained: it has no script, font or image and loads nothing,
// and its Content-Security-Policy forbids all of that. Hosts, rules, servers and
// agents are text from the network: html/template escapes it, and package visible
// shows invisible and bidirectional control characters as escapes.
package draw

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/sink/visible"
)

//go:embed page.tmpl.html
var pageText string

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"visible": visible.Text, "decimal": Decimal,
		"plotHeight": func() int { return plotTop + plotHeight + plotFoot },
		"plotBase":   func() int { return plotTop + plotHeight }}).Parse(pageText))
})

// Page is a page of figures.
type Page struct {
	Title    string
	Facts    []Fact
	Remarks  []string
	Tiles    []Tile
	Sections []Section
	Sources  []Fact // provenance, in the footer
	Drawn    string // which tables the page is drawn from
}

// Fact is a name with a value.
type Fact struct{ Name, Value string }

// Tile is a headline number.
type Tile struct{ Name, Value, Note string }

// Section is a question, with the figures that answer it.
type Section struct {
	Title   string
	Figures []*Figure
}

// Add adds a section and returns its figures: those that are not nil, because the run has
// counters for them.
func (p *Page) Add(title string, figures ...*Figure) []*Figure {
	figures = slices.DeleteFunc(figures, func(f *Figure) bool { return f == nil })
	if len(figures) > 0 {
		p.Sections = append(p.Sections, Section{title, figures})
	}
	return figures
}

// Render returns the page as HTML.
func (p *Page) Render() ([]byte, error) {
	var out bytes.Buffer
	if err := pageTemplate().Execute(&out, p); err != nil {
		return nil, fmt.Errorf("draw the page: %w", err)
	}
	return visible.Lines(out.Bytes()), nil // of whatever the template shows as it is
}
