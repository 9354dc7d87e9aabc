package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink"
)

// SeriesPage returns the page of a series over several runs.
func SeriesPage(r *series.Result) ([]byte, error) {
	d := newSeriesData(r)
	var out bytes.Buffer
	if err := pageTemplate.Execute(&out, d.page()); err != nil {
		return nil, fmt.Errorf("draw the series: %w", err)
	}
	return out.Bytes(), nil
}

// followed identifies a line: a figure of a population, by base.
type followed struct{ metric, population, stratum, agent, category, profile, key, base string }

// seriesData holds the points of a series by line, each in the order of the runs.
type seriesData struct {
	*series.Result
	profile string
	lines   map[followed][]*sink.Point
	index   map[string]int // of runs, by ID
	last    string         // ID of the last run

	allFiles bool // in every run, the rules of all hosts decide
}

func newSeriesData(r *series.Result) *seriesData {
	d := &seriesData{Result: r, lines: make(map[followed][]*sink.Point), index: make(map[string]int)}
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
		l := followed{p.Metric, p.Population, p.Stratum, text(p.Agent), text(p.Category), text(p.Profile), text(p.Key), p.Base}
		if l.agent != "" {
			l.category = ""
		}
		d.lines[l] = append(d.lines[l], p)
	}
	return d
}

func (d *seriesData) page() *page {
	first, last := d.Runs[0], d.Runs[len(d.Runs)-1]
	p := &page{
		Title: fmt.Sprintf("Crawl policies over time: %s, %s to %s", counted(int64(len(d.Runs)), "run"), day(first.Date), day(last.Date)),
		Facts: []fact{{"profile", d.profile}, {"runs", first.Run + " to " + last.Run}},
		Drawn: "Drawn from the table summary of each run",
	}
	if len(d.Runs) == 1 {
		p.Title = "Crawl policies in one run, " + day(first.Date)
		p.Facts = []fact{{"profile", d.profile}, {"run", first.Run}}
	}
	if d.Panel != nil {
		p.Drawn += ", and from fetches and policies for the panel"
	}
	for _, run := range d.Runs {
		for _, text := range run.Breaks {
			p.Remarks = append(p.Remarks, fmt.Sprintf("No figure of run %s can be compared with the run before it: %s.", run.Run, text))
		}
	}
	for _, text := range d.Warnings {
		p.Remarks = append(p.Remarks, sentence(text))
	}
	p.Remarks = append(p.Remarks[:min(len(p.Remarks), 12)], howToRead)
	cautious := false
	p.Tiles = d.tiles()
	add := func(title string, figures ...*figure) {
		s := section{Title: title}
		for _, f := range figures {
			if f != nil {
				if !cautious && slices.ContainsFunc(f.Multiples, (*multiple).isCautious) {
					cautious, f.Note = true, strings.TrimSpace(f.Note+" "+aboutCautions)
				}
				f.file, f.source = "robocensus-series-"+f.ID, p.Title
				s.Figures = append(s.Figures, f)
			}
		}
		if len(s.Figures) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	add("Do hosts shut out AI crawlers?", d.training(), d.ofCategories(), d.ofStrata())
	add("Which agents do hosts shut out?", d.ofAgents(), d.ofNamed())
	add("The same hosts, and all hosts", d.populations(), d.movements())
	add("What happened between two runs?", d.ofChanges())
	add("What do hosts answer?", d.ofReasons(), d.ofStatuses())
	add("What may be done with their content?", d.ofRefusals(), d.ofPreferences())
	add("Whose words are they?", d.ofTemplates(), d.ofWords())
	add("What is in the files?", d.ofSignals(), d.ofFeatures(), d.ofBodies())
	for _, run := range d.Runs[:min(len(d.Runs), 40)] {
		what := hosts(run.Hosts)
		if isArchive(run) {
			what = counted(run.Hosts, "capture")
		}
		p.Sources = append(p.Sources, fact{run.Run, run.Date.Format(time.DateOnly) + ", " + what})
	}
	return p
}

// isArchive reports whether the rows of a run are captures of an archive.
func isArchive(run series.Run) bool { return run.Source == "warc" }

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

func (d *seriesData) tiles() []tile {
	last := d.Runs[len(d.Runs)-1]
	what, decide := "hosts", ""
	if isArchive(last) {
		what = "captures"
	}
	if last.Files != nil {
		decide = "the rules of " + percent(*last.Files, last.Hosts) + " decide"
	}
	tiles := []tile{{"runs", count(int64(len(d.Runs))), ""}, {what + " of the last run", count(last.Hosts), decide}}
	if p := d.at(followed{metric: "entered", population: series.All, stratum: series.All, base: "hosts"}, d.last); d.Panel != nil && p != nil {
		tiles = append(tiles, tile{"hosts that all runs have", count(d.Panel.Hosts), fmt.Sprintf("%s of the %s of the last run", percent(d.Panel.Hosts, p.Denominator), hosts(p.Denominator))})
	}
	if p := d.at(d.closing(headline, series.All, series.All, "hosts"), d.last); p != nil {
		tiles = append(tiles, tile{"shut out AI training", percent(p.Count, p.Denominator), "of hosts, in the last run"})
	}
	return tiles
}

// closing is the line of the hosts that shut out an agent of a category.
func (d *seriesData) closing(category, population, stratum, base string) followed {
	return followed{metric: "category", population: population, stratum: stratum, category: category, profile: d.profile, key: "any", base: base}
}

// at returns the point of a line at a run, or nil.
func (d *seriesData) at(l followed, run string) *sink.Point {
	for _, p := range d.lines[l] {
		if p.Run == run {
			return p
		}
	}
	return nil
}

// told says a share at the first and the last run that have the line.
func (d *seriesData) told(l followed, what string) string {
	points := slices.DeleteFunc(slices.Clone(d.lines[l]), func(p *sink.Point) bool { return p.Denominator == 0 })
	if len(points) == 0 {
		return "No host " + what
	}
	a, b := points[0], points[len(points)-1]
	if a == b {
		return fmt.Sprintf("%s of hosts %s", percent(a.Count, a.Denominator), what)
	}
	text := fmt.Sprintf("%s of hosts %s", words.Arrow(a.Count, a.Denominator, b.Count, b.Denominator), what)
	return text + d.between(points)
}

// between says what limits a comparison of the ends of a line: dates that are not those of
// the series, and gaps.
func (d *seriesData) between(points []*sink.Point) (text string) {
	a, b := points[0], points[len(points)-1]
	if a.Run != d.Runs[0].Run && !(ofPairs[a.Metric] && a.Run == d.Runs[1].Run) {
		text += ", from " + shortDay(a.Date)
	}
	if b.Run != d.last {
		text += ", to " + shortDay(b.Date)
	}
	if slices.ContainsFunc(points[1:], func(p *sink.Point) bool { return p.Comparable != nil && !*p.Comparable }) {
		text += ", not comparable throughout"
	}
	return text
}

// ofPairs are the metrics that compare a run with the one before it, so that the first run
// of a series has none.
var ofPairs = map[string]bool{"change": true, "entered": true, "left": true}

// leaders is the number of lines that a title names.
const leaders = 3

// leading says the shares of the first of some lines at both ends. Lines that tie with the
// last one that it could name are not named.
func (d *seriesData) leading(names []string, named func(string) string, line func(name string) followed) string {
	last := func(name string) float64 {
		points := d.lines[line(name)]
		if p := points[len(points)-1]; p.Share != nil {
			return *p.Share
		}
		return 0
	}
	n := min(len(names), leaders)
	for n > 1 && n < len(names) && last(names[n]) == last(names[n-1]) {
		n--
	}
	return d.tell(names[:n], named, line)
}

// movers says the shares of the lines that moved most.
func (d *seriesData) movers(names []string, named func(string) string, line func(name string) followed) string {
	by := func(name string) float64 {
		points := d.drawn(line(name))
		if len(points) < 2 {
			return 0
		}
		return math.Abs(*points[len(points)-1].Share - *points[0].Share)
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return by(name) == 0 })
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(by(b), by(a)) })
	return d.tell(names[:min(len(names), leaders)], named, line)
}

// drawn returns the points of a line that have a share.
func (d *seriesData) drawn(l followed) []*sink.Point {
	return slices.DeleteFunc(slices.Clone(d.lines[l]), func(p *sink.Point) bool { return p.Share == nil })
}

func (d *seriesData) tell(names []string, named func(string) string, line func(name string) followed) string {
	var said []string
	for _, name := range names {
		points := d.drawn(line(name))
		switch len(points) {
		case 0:
		case 1:
			said = append(said, named(name)+" "+shareOf(points[0]))
		default:
			said = append(said, named(name)+" "+fromTo(points[0], points[len(points)-1])+d.between(points))
		}
	}
	if said == nil {
		return "nothing"
	}
	return strings.Join(said, "; ")
}

// values returns the values of one label, among the lines that keep accepts, the
// greatest share at the last run that has it first.
func (d *seriesData) values(of func(followed) string, keep func(followed) bool) []string {
	greatest := make(map[string]float64)
	for l, points := range d.lines {
		if keep(l) {
			p := points[len(points)-1]
			if p.Share != nil {
				greatest[of(l)] = max(greatest[of(l)], *p.Share)
			}
		}
	}
	var names []string
	for name, share := range greatest {
		if share > 0 || slices.ContainsFunc(d.lines[d.any(of, keep, name)], func(p *sink.Point) bool { return p.Count > 0 }) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(greatest[b], greatest[a]), cmp.Compare(a, b)) })
	return names
}

func (d *seriesData) any(of func(followed) string, keep func(followed) bool, name string) followed {
	for l := range d.lines {
		if keep(l) && of(l) == name {
			return l
		}
	}
	return followed{}
}

// howToRead explains the drawings.
const howToRead = "How to read the drawings: a band is the interval of 95%, as if the hosts were a sample. Runs that cannot be compared are not joined; a dashed line marks what changed. All drawings of a figure have the same scale; below one that it makes flat stands the same with a scale of its own, which says so. Hosts with rules are those whose rules decide."

// aboutCautions explains hollow points, once.
const aboutCautions = "A hollow point: its interval may miss the true share more often than in 5% of cases, because hosts are few or the share is rare; its tooltip and the column caution of the table say which."

// follow makes a figure of small multiples. SQL computes its rows.
func (d *seriesData) follow(f *figure, query string, of ...*multiple) *figure {
	var all []*multiple
	most := 0.0
	for _, m := range of {
		if m != nil && m.hasPoints() {
			all = append(all, m)
			most = max(most, m.most())
		}
	}
	if all == nil {
		return nil
	}
	scale := scaleFor(int64(most*1e6), 1e6)
	for _, m := range all {
		m.place(d, scale)
		f.Multiples = append(f.Multiples, m)
	}
	if marks := d.common(); len(marks) > 0 {
		var said []string
		for _, at := range slices.Sorted(maps.Keys(marks)) {
			said = append(said, shortDay(d.Runs[at].Date)+": "+strings.Join(marks[at], "; "))
		}
		f.Note = strings.TrimSpace(f.Note + " Dashed lines: " + strings.Join(said, ". ") + ".")
	}
	f.Axis = fmt.Sprintf("%d%%", scale)
	f.SQL = query
	return f
}

// runsSQL is the condition that a view shows the runs of the series.
func (d *seriesData) runsSQL() string {
	ids := make([]string, len(d.Runs))
	for i, run := range d.Runs {
		ids[i] = quote(run.Run)
	}
	return "run IN (" + strings.Join(ids, ", ") + ")"
}

// query returns a query of a view: one row for each run and name.
func (d *seriesData) query(view, name, bases, where string) string {
	return fmt.Sprintf("SELECT run, strftime(date AT TIME ZONE 'UTC', '%%Y-%%m-%%d') AS date, %s, count, %s\nFROM %s\nWHERE %s\n  AND %s\nORDER BY %s, series_%s.date, run", name, bases, view, where, d.runsSQL(), strings.Fields(name)[0], strings.TrimPrefix(view, "series_"))
}

// rows sets the numbers of a figure: a row for each run and name.
func (d *seriesData) rows(f *figure, name string, bases []string, names []string, line func(name, base string) followed) {
	f.Head = append([]string{"run", "date", name, "count"}, bases...)
	slices.Sort(names)
	for _, n := range names {
		for _, p := range d.lines[line(n, bases[0])] {
			row := []string{p.Run, p.Date.Format(time.DateOnly), n, number(p.Count)}
			for _, base := range bases {
				of := "0"
				if q := d.at(line(n, base), p.Run); q != nil {
					of = number(q.Denominator)
				}
				row = append(row, of)
			}
			f.Rows = append(f.Rows, row)
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
	for _, m := range append(d.marksOf([]string{"break", "settings_changed", "list_changed", "outage", "meaning_changed"}, ""), d.marksOf([]string{"profile_changed"}, d.profile)...) {
		e.add(d.index[m.Run], m.Text)
	}
	return e
}

// twoBases is the legend of lines of all hosts and of those with rules.
func (d *seriesData) twoBases() []legend {
	if d.allFiles {
		return nil
	}
	return []legend{{"allow", "of hosts"}, {"closed", "of hosts with rules"}}
}

// bothBases draws a line of hosts and one of the other base.
func (d *seriesData) bothBases(name string, alike []string, other string, marks []series.Mark, line func(base string) followed) *multiple {
	m := &multiple{Name: name, alike: alike, marks: marks}
	m.add(d, "allow", "of hosts", line("hosts"))
	if other != "files" || !d.allFiles {
		m.add(d, "closed", map[string]string{"files": "of hosts with rules", "texts": "of hosts with a file"}[other], line(other))
	}
	return m
}

// apart returns the names that a figure draws, of those that are ranked by their share at
// the last run. Three or more whose lines are the same are drawn once, under the first
// name: alike has the others. Names that tie with the first one that has no room have
// none either; note says how many there are, and what they are.
func (d *seriesData) apart(names []string, named func(string) string, many, that string, line func(name string) followed) (shown []string, alike map[string][]string, note string) {
	same := make(map[string][]string) // by line
	key := func(name string) string {
		var out strings.Builder
		for _, p := range d.lines[line(name)] {
			fmt.Fprintf(&out, "%s %d %d\n", p.Run, p.Count, p.Denominator)
		}
		return out.String()
	}
	for _, name := range names {
		same[key(name)] = append(same[key(name)], name)
	}
	alike = make(map[string][]string)
	for _, name := range names {
		group := same[key(name)]
		switch {
		case len(group) < 3:
			shown = append(shown, name)
		case group[0] == name:
			shown = append(shown, name)
			for _, other := range group[1:] {
				alike[name] = append(alike[name], named(other))
			}
		}
	}
	if len(shown) <= mostMultiples {
		return shown, alike, ""
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
		left += 1 + len(alike[name])
	}
	return shown[:n], alike, strings.Join(strings.Fields(fmt.Sprintf("Not drawn: %s more %s %s, each by at most %s.", count(int64(left)), many, that, words.Share(last(shown[n])))), " ")
}

func categoryWords(category string) string { return words.Category.Of(category) }
