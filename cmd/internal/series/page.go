package series

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/views"
)

// Page returns the page of a series over several runs.
func Page(r *series.Result) ([]byte, error) {
	return newSeriesData(r).page().Render()
}

// followed identifies a line: a figure of a population, by base.
type followed struct{ metric, population, stratum, agent, category, profile, key, base string }

// seriesData holds the points of a series by line, each in the order of the runs.
type seriesData struct {
	*series.Result
	profile string
	lines   map[followed][]*schema.Point
	index   map[string]int // of runs, by ID
	last    string         // ID of the last run

	allFiles bool // in every run, the rules of all hosts decide
}

func newSeriesData(r *series.Result) *seriesData {
	d := &seriesData{Result: r, lines: make(map[followed][]*schema.Point), index: make(map[string]int)}
	if len(r.Profiles) > 0 {
		d.profile = r.Profiles[0]
	}
	d.allFiles = true
	for i, run := range r.Runs {
		d.allFiles = d.allFiles && run.Files != nil && *run.Files == run.Hosts
		d.index[run.Run], d.last = i, run.Run
	}
	for i := range r.Points {
		p := &r.Points[i]
		l := followed{p.Metric, p.Population, p.Stratum, schema.OrZero(p.Agent), schema.OrZero(p.Category),
			schema.OrZero(p.Profile), schema.OrZero(p.Key), p.Base}
		if l.agent != "" {
			l.category = ""
		}
		d.lines[l] = append(d.lines[l], p)
	}
	return d
}

func (d *seriesData) page() *draw.Page {
	first, last := d.Runs[0], d.Runs[len(d.Runs)-1]
	p := &draw.Page{
		Title: fmt.Sprintf("Crawl policies over time: %s, %s to %s", words.Count(int64(len(d.Runs)), "run"),
			words.Day(first.Date), words.Day(last.Date)),
		Facts: []draw.Fact{{Name: "profile", Value: d.profile}, {Name: "runs", Value: first.Run + " to " + last.Run}},
		Drawn: "Drawn from the table summary of each run",
	}
	if len(d.Runs) == 1 {
		p.Title = "Crawl policies in one run, " + words.Day(first.Date)
		p.Facts = []draw.Fact{{Name: "profile", Value: d.profile}, {Name: "run", Value: first.Run}}
	}
	if d.Panel != nil {
		p.Drawn += ", and from fetches and policies for the panel"
	}
	for _, run := range d.Runs {
		for _, text := range run.Breaks {
			p.Remarks = append(p.Remarks, fmt.Sprintf("No figure of run %s can be compared with the run before it: %s.",
				run.Run, text))
		}
	}
	for _, text := range d.Warnings {
		p.Remarks = append(p.Remarks, sentence(text))
	}
	p.Remarks = append(p.Remarks[:min(len(p.Remarks), 12)], howToRead)
	cautious := false
	p.Tiles = d.tiles()
	add := func(title string, figures ...*draw.Figure) {
		for _, f := range p.Add(title, figures...) {
			if !cautious && slices.ContainsFunc(f.Multiples, (*draw.Multiple).HasHollow) {
				cautious, f.Note = true, strings.TrimSpace(f.Note+" "+aboutCautions)
			}
			f.File, f.Source = "robocensus-series-"+f.ID, p.Title
		}
	}
	add("Do hosts shut out AI crawlers?", d.training(), d.ofCategories(), d.ofStrata())
	add("Which agents do hosts shut out?", d.ofAgents(), d.ofRanks(), d.ofNamed())
	add("What moved by more than chance?", d.differences())
	add("The same hosts, and all hosts", d.populations(), d.movements())
	add("What happened between two runs?", d.ofChanges())
	add("Which site lets whom in, run by run?", d.strips())
	add("What do hosts answer?", d.ofReasons(), d.ofStatuses())
	add("What may be done with their content?", d.ofRefusals(), d.ofPreferences())
	add("What do hosts say elsewhere, and do on pages?", d.ofDocuments(), d.ofPages())
	add("Whose words are they?", d.ofTemplates(), d.ofWords())
	add("What is in the files?", d.ofSignals(), d.ofFeatures(), d.ofBodies())
	for _, run := range d.Runs[:min(len(d.Runs), 40)] {
		what := words.Hosts(run.Hosts)
		if isArchive(run) {
			what = words.Count(run.Hosts, "capture")
		}
		p.Sources = append(p.Sources, draw.Fact{Name: run.Run, Value: run.Date.Format(time.DateOnly) + ", " + what})
	}
	return p
}

// isArchive reports whether the rows of a run are captures of an archive.
func isArchive(run series.Run) bool { return run.Source == journal.FromArchive }

func (d *seriesData) tiles() []draw.Tile {
	last := d.Runs[len(d.Runs)-1]
	what, decide := "hosts", ""
	if isArchive(last) {
		what = "captures"
	}
	if last.Files != nil {
		decide = "the rules of " + words.Percent(*last.Files, last.Hosts) + " decide"
	}
	tiles := []draw.Tile{{Name: "runs", Value: words.Number(int64(len(d.Runs))), Note: ""},
		{Name: what + " of the last run", Value: words.Number(last.Hosts), Note: decide}}
	if p := d.at(followed{metric: "entered", population: series.All, stratum: series.All, base: "hosts"},
		d.last); d.Panel != nil && p != nil {
		tiles = append(tiles, draw.Tile{Name: "hosts that all runs have", Value: words.Number(d.Panel.Hosts),
			Note: fmt.Sprintf("%s of the %s of the last run", words.Percent(d.Panel.Hosts, p.Denominator),
				words.Hosts(p.Denominator))})
	}
	if p := d.at(d.closing(counters.Headline, series.All, series.All, "hosts"), d.last); p != nil {
		tiles = append(tiles, draw.Tile{Name: "shut out AI training", Value: words.Percent(p.Count, p.Denominator),
			Note: "of hosts, in the last run"})
	}
	return tiles
}

// closing is the line of the hosts that shut out an agent of a category.
func (d *seriesData) closing(category, population, stratum, base string) followed {
	return followed{metric: "category", population: population, stratum: stratum, category: category, profile: d.profile,
		key: "any", base: base}
}

// at returns the point of a line at a run, or nil.
func (d *seriesData) at(l followed, run string) *schema.Point {
	for _, p := range d.lines[l] {
		if p.Run == run {
			return p
		}
	}
	return nil
}

// howToRead explains the drawings.
const howToRead = "How to read the drawings: a band is the interval of 95%, as if the hosts were a sample. Runs " +
	"that cannot be compared are not joined; a dashed line marks what changed. All drawings of a figure have the same " +
	"scale; below one that it makes flat stands the same with a scale of its own, which says so. Hosts with rules are " +
	"those whose rules decide."

// aboutCautions explains hollow points, once.
const aboutCautions = "A hollow point: its interval may miss the true share more often than in 5% of cases, " +
	"because hosts are few or the share is rare; its tooltip and the column caution of the table say which."

// A subject is what a figure follows: lines by a name and by the base of their shares.
type subject struct {
	column string   // of the names, in views and in the numbers
	bases  []string // by the first, names are ranked
	named  func(name string) string
	line   func(name, base string) followed
	names  []string
	alike  map[string][]string // by name, others whose lines are the same, in words
	agents bool                // names are agents, whose entries in the registry may change
}

// follow makes a figure of small multiples, and its numbers, which the SQL computes. It
// returns nil if no line has a point.
func (d *seriesData) follow(f *draw.Figure, s subject, query string, of ...*lines) *draw.Figure {
	var all []*lines
	most := 0.0
	for _, m := range of {
		if len(m.lines) > 0 {
			m.wide = f.Wide
			all = append(all, m)
			most = max(most, m.most())
		}
	}
	if all == nil {
		return nil
	}
	scale := draw.ScaleFor(int64(most*1e6), 1e6)
	for _, m := range all {
		f.Multiples = append(f.Multiples, m.place(d, scale))
	}
	if marks := d.common(); len(marks) > 0 {
		var said []string
		for _, at := range slices.Sorted(maps.Keys(marks)) {
			said = append(said, shortDay(d.Runs[at].Date)+": "+strings.Join(marks[at], "; "))
		}
		f.Note = strings.TrimSpace(f.Note + " Dashed lines: " + strings.Join(said, ". ") + ".")
	}
	f.SQL = query
	d.rows(f, s)
	return f
}

// runsSQL is the condition that a view shows the runs of the series.
func (d *seriesData) runsSQL() string {
	ids := make([]string, len(d.Runs))
	for i, run := range d.Runs {
		ids[i] = views.Quote(run.Run)
	}
	return "run IN (" + strings.Join(ids, ", ") + ")"
}

// query returns a query of a view: one row for each run and name.
func (d *seriesData) query(s subject, view, where string) string {
	return fmt.Sprintf("SELECT run, strftime(date AT TIME ZONE 'UTC', '%%Y-%%m-%%d') AS date, %s, count, %s\nFROM %s\n"+
		"WHERE %s\n  AND %s\nORDER BY %[1]s, %[3]s.date, run", s.column, strings.Join(s.bases, ", "), view, where,
		d.runsSQL())
}

// rows sets the numbers of a figure: a row for each run and name.
func (d *seriesData) rows(f *draw.Figure, s subject) {
	f.Head = append([]string{"run", "date", s.column, "count"}, s.bases...)
	for _, name := range slices.Sorted(slices.Values(s.names)) {
		for _, p := range d.lines[s.line(name, s.bases[0])] {
			counts := []int64{p.Count}
			for _, base := range s.bases {
				of := int64(0)
				if q := d.at(s.line(name, base), p.Run); q != nil {
					of = q.Denominator
				}
				counts = append(counts, of)
			}
			f.AddRow([]string{p.Run, p.Date.Format(time.DateOnly), name}, counts...)
		}
	}
}

func (d *seriesData) marksOf(kinds []string, of string) (out []series.Mark) {
	for _, m := range d.Marks {
		if slices.Contains(kinds, m.Kind) && (of == "" || m.Of == of) {
			out = append(out, m)
		}
	}
	return out
}

// common are the events that every figure shows.
func (d *seriesData) common() events {
	e := make(events)
	for _, m := range append(d.marksOf([]string{"break", "settings_changed", "list_changed", "outage", "walls",
		"meaning_changed"}, ""), d.marksOf([]string{"profile_changed"}, d.profile)...) {
		e.add(d.index[m.Run], m.Text)
	}
	return e
}

// twoBases is the legend of lines of all hosts and of those with rules.
func (d *seriesData) twoBases() []draw.Legend {
	if d.allFiles {
		return nil
	}
	return []draw.Legend{{Class: "allow", Name: "of hosts"}, {Class: "closed", Name: "of hosts with rules"}}
}

// multiples draws the lines of each name together, one of each base.
func (d *seriesData) multiples(s subject) (all []*lines) {
	for _, name := range s.names {
		m := &lines{name: s.named(name), alike: s.alike[name]}
		if s.agents {
			m.marks = d.marksOf([]string{"agent_new", "agent_gone", "agent_changed"}, name)
		}
		for i, base := range s.bases {
			switch {
			case base == "hosts":
				m.add(d, "allow", "of hosts", s.line(name, base))
			case base == "asked":
				m.add(d, "allow", "of hosts asked", s.line(name, base))
			case base == "texts":
				m.add(d, "closed", "of hosts with a file", s.line(name, base))
			case i == 0 || !d.allFiles: // otherwise the line of hosts
				m.add(d, "closed", "of hosts with rules", s.line(name, base))
			}
		}
		all = append(all, m)
	}
	return all
}

// apart leaves the names that a figure draws, of those that are ranked by their share at
// the last run. Three or more whose lines are the same are drawn once, under the first
// name. Names that tie with the first one that has no room have none either; the note says
// how many there are, and what they are.
func (d *seriesData) apart(s *subject, many, that string) (note string) {
	line := func(name string) followed { return s.line(name, s.bases[0]) }
	same := make(map[string][]string) // by line
	key := func(name string) string {
		var out strings.Builder
		for _, p := range d.lines[line(name)] {
			fmt.Fprintf(&out, "%s %d %d\n", p.Run, p.Count, p.Denominator)
		}
		return out.String()
	}
	for _, name := range s.names {
		same[key(name)] = append(same[key(name)], name)
	}
	var shown []string
	s.alike = make(map[string][]string)
	for _, name := range s.names {
		group := same[key(name)]
		switch {
		case len(group) < 3:
			shown = append(shown, name)
		case group[0] == name:
			shown = append(shown, name)
			for _, other := range group[1:] {
				s.alike[name] = append(s.alike[name], s.named(other))
			}
		}
	}
	if s.names = shown; len(shown) <= mostMultiples {
		return ""
	}
	last := func(name string) float64 {
		points := d.drawn(line(name))
		if len(points) == 0 {
			return 0
		}
		return *points[len(points)-1].Share
	}
	n := mostMultiples
	for n > 1 && last(shown[n]) == last(shown[n-1]) {
		n--
	}
	left := 0
	for _, name := range shown[n:] {
		left += 1 + len(s.alike[name])
	}
	s.names = shown[:n]
	return strings.Join(strings.Fields(fmt.Sprintf("Not drawn: %s more %s %s, each by at most %s.",
		words.Number(int64(left)), many, that, words.Share(last(shown[n])))), " ")
}
