// Package report draws a run of the census as one page of HTML.
//
//	summary, examples, changes ─► sums ─► figures ─► page
//
// It reads no table but these three, and of the first two what a run has summed
// up, so that the number of hosts hardly matters. A figure has a title that
// states what it shows, the denominator, a drawing, and the table behind it with
// the SQL that gives the same rows.
//
// The page stands alone: no script, no font, no image, nothing from elsewhere;
// a policy in its head forbids all of that. Hosts, rules, servers and agents
// are strangers' text: html/template escapes it, and package visible shows
// what would hide in it or turn it round.
package report

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/visible"
	"github.com/robocensus/robocensus/sink"
)

//go:embed page.tmpl.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{"visible": visible.Text, "count": count}).Parse(pageText))

// ErrNoChanges tells that two runs have not been compared.
var ErrNoChanges = errors.New("the runs have not been compared")

// Page makes the page about the run below dir whose manifest is m, as far as it
// is committed, and with against not "" about what has changed since that run.
// It returns [ErrNoChanges] where diff has not been asked to compare the two.
func Page(ctx context.Context, dir string, m *sink.Manifest, against string) (_ []byte, err error) {
	run := m.Run
	d := &data{run: run, against: against, manifest: m, sums: make(sums), examples: make(examples)}
	if len(m.Profiles) > 0 {
		d.profile = m.Profiles[0]
	}
	if err := sink.ReadCounts(ctx, dir, m, d.sums.add); err != nil {
		return nil, err
	}
	if err := sink.ReadExamples(ctx, dir, m, d.examples.add); err != nil {
		return nil, err
	}
	if against != "" {
		if d.changes, err = readChanges(ctx, dir, run, against, d.profile); err != nil {
			return nil, err
		}
	}
	d.targets, d.files = d.sums.total("targets"), d.sums.total("body_bytes")
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, d.page()); err != nil {
		return nil, fmt.Errorf("draw the report: %w", err)
	}
	return out.Bytes(), nil
}

// data is what the figures are made of.
type data struct {
	run, against string
	profile      string // the first
	manifest     *sink.Manifest
	sums         sums
	examples     examples
	changes      *changes // nil where none were asked for
	targets      int64
	files        int64 // hosts that have a file
}

type page struct {
	Run, Against string
	Facts        []fact
	Remarks      []string
	Tiles        []tile
	Sections     []section
}

type fact struct{ Name, Value string }

type tile struct{ Name, Value, Note string }

type section struct {
	Title   string
	Figures []*figure
}

func (d *data) page() *page {
	m := d.manifest
	p := &page{Run: d.run, Against: d.against}
	p.Facts = []fact{
		{"run", d.run}, {"begun", m.Started.UTC().Format("2006-01-02 15:04 UTC")},
		{"profile", d.profile}, {"made by", "robocensus " + m.ToolVersion},
	}
	for _, in := range m.Inputs {
		if in.Role == "hosts" {
			p.Facts = append(p.Facts, fact{"hosts from", in.Path})
		}
	}
	if m.Finished == nil {
		p.Remarks = append(p.Remarks, "The run is not complete: this is what is committed so far.")
	}
	if len(m.Profiles) > 1 {
		p.Remarks = append(p.Remarks, fmt.Sprintf("The run reads every file by %d profiles; this is the reading of the first, %s. The others are in the tables.", len(m.Profiles), d.profile))
	}
	if !slices.Contains(m.Tables, "examples") {
		p.Remarks = append(p.Remarks, "The run has no table examples: it was told to leave it out, or an earlier version made it, which also counted less.")
	}
	if d.targets == 0 {
		p.Remarks = append(p.Remarks, "The run has no counters: either no host was asked, or it was told to leave out the table summary.")
		return p
	}
	p.Tiles = []tile{{"hosts asked", count(d.targets), ""}, {"have a file", percent(d.files, d.targets), hosts(d.files)}}
	if d.sums["tld"] != nil { // else failures were not counted
		failed := d.sums.total("tld_failed")
		p.Tiles = append(p.Tiles, tile{"no answer or a 5xx", percent(failed, d.targets), hosts(failed)})
	}
	p.Tiles = append(p.Tiles, tile{"agents asked about", count(int64(len(d.sums.agents(d.profile)))), fmt.Sprintf("%s verdicts", count(d.sums.total("verdict")))})
	add := func(title string, figures ...*figure) {
		s := section{Title: title}
		for _, f := range figures {
			if f != nil { // what it shows was not counted, or there is none of it
				s.Figures = append(s.Figures, f)
			}
		}
		if len(s.Figures) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	if d.changes != nil {
		add("What changed since "+d.against, d.changeKinds(), d.changeAgents())
	}
	add("How hosts answer", d.outcomes(), d.reasons())
	add("Who is let in", d.closedAgents(), d.agentClasses(), d.categories())
	add("What the files hold", d.sizes(), d.lines(), d.features(), d.delays(), d.sitemaps(), d.fields(), d.signals())
	add("What is wrong in them", d.lint(), d.bodies())
	add("The network", d.times(), d.errors(),
		d.network("tld", "top-level domain", "."), d.network("address_block", "address block", ""), d.network("server", "server software", ""))
	return p
}
