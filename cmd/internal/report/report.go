// Package report renders a run of the census as one page of HTML.
//
//	summary, examples, changes ─► sums ─► figures ─► page
//
// It reads only these three tables, the hosts of a run of archives, to count them, of a
// run of few sites its policies, and of a profile that lets agents go free which these are.
// The first two hold totals, so the cost hardly depends on the number of hosts. A figure
// has a title that states its finding, the base of its shares, a drawing, and the numbers
// with the SQL that computes them. The drawing and the numbers can be downloaded.
//
// Each share has one of two bases: all hosts of the run, or those with rules, which are
// the hosts whose rules decide. An outage is neither a rule nor a policy. Tests compare
// every figure with its SQL.
//
//   - report.go: the sections of the page
//   - sites.go: whom each of few sites lets in
//   - access.go, ranks.go, rules.go: which agents hosts shut out, and how
//   - practice.go: what identities meet on a page
//   - intervals.go: how sure these shares are
//   - labels.go: how hosts with a value of a label differ from the others
//   - listed.go: how much of what they list in sitemaps agents may fetch
//   - uses.go, pages.go: what may be done with content, and whose words files have
//   - documents.go, documents_by.go: which documents of consent hosts have, and what they refuse
//   - identities.go: what others are answered
//   - answers.go, network.go: what hosts answer, and how fast
//   - content.go, parity.go: what is in the files, and what is wrong with them
//   - before.go, average.go: shares of this run and of the one before, and what the
//     average host does
//   - sql.go: numbers of a figure, with the SQL that computes them
//
// Package counters adds up what it reads, draw draws, and changes has the figures of a
// comparison.
package report

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/report/changes"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/series"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// ErrNoSummary reports a run that cannot be drawn.
var ErrNoSummary = errors.New("no report")

// Page returns the page for the run with manifest m. It covers the
// committed segments. If against is not "", the page also shows what changed
// since that run; Page returns an error that wraps [changes.ErrNoChanges] if the two runs
// have not been compared, or [ErrNoSummary] if the run did not write the table summary.
func Page(ctx context.Context, in store.Store, m *journal.Manifest, against string) (_ []byte, err error) {
	if !slices.Contains(m.Tables, "summary") {
		return nil, fmt.Errorf("%w: run %s has no table summary, from which the page is drawn; choose a run that has it",
			ErrNoSummary, m.Run)
	}
	d := &data{run: m.Run, against: against, manifest: m, examples: make(counters.Examples)}
	if len(m.Profiles) > 0 {
		d.profile = m.Profiles[0]
	}
	counts, err := summary.Read(ctx, in, m)
	if err != nil {
		return nil, err
	}
	d.sums = counters.Of(counts)
	few, err := summary.ReadExamples(ctx, in, m)
	if err != nil {
		return nil, err
	}
	for _, x := range few.Rows() {
		d.examples.Add(x)
	}
	if against != "" {
		if d.changes, err = changes.Read(ctx, in, m, against, d.profile); err != nil {
			return nil, err
		}
		if d.before, err = readEarlier(ctx, in, against, d.profile, strings.TrimPrefix(d.changes.Since, "run ")); err != nil {
			return nil, err
		}
	}
	d.hosts, d.texts = d.sums.Total("targets"), d.sums.Total("body_bytes")
	d.files = d.sums.Decided(d.profile).Rules()
	d.known = d.answered()
	if d.labels, err = ReadLabels(ctx, in, m, nil); err != nil {
		return nil, err
	}
	if d.free, err = freeAgents(ctx, in, m, d.profile); err != nil {
		return nil, err
	}
	if d.sites, err = sitesOf(ctx, in, m, d.hosts, d.profile); err != nil {
		return nil, err
	}
	if d.archived = d.sums.By("source", d.profile, counters.Key)[journal.FromArchive] > 0; d.archived {
		if d.captured, err = capturedHosts(ctx, in, m.Run); err != nil {
			return nil, err
		}
	}
	return d.page().Render()
}

// data holds the input of the figures.
type data struct {
	run, against string
	profile      string // the run's first
	manifest     *journal.Manifest
	sums         counters.Sums
	examples     counters.Examples
	changes      *changes.Changes // nil without against
	before       *earlier         // nil without against, or without counters of that run

	hosts int64 // all of the run; of archives, their captures
	files int64 // hosts with rules: those whose rules decide
	texts int64 // files whose contents were counted, including those that the profile leaves undefined
	known int64 // hosts whose policy is known

	free map[string][]string // by category, the agents that the group for all does not bind

	labels Labels // none for a run without

	sites *sites // nil if there are too many to show each

	archived bool  // some of them are captures of archives
	captured int64 // the hosts that these captures are of, 0 if unknown
}

// freeAgents returns the agents that the group for all does not bind under a profile, by
// category. It reads the registry under profiles alone that let agents go free.
func freeAgents(ctx context.Context, in store.Store, m *journal.Manifest, profile string) (map[string][]string, error) {
	free := make(map[string][]string)
	p, err := past.Profile(m, profile)
	if err != nil || !p.IgnoresStar && !p.ByAgent {
		return free, nil // a profile that nobody knows any more binds as it may
	}
	columns := []string{"agent", "category", "ignores_star"}
	if slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(m.Without, "agents."+c) }) {
		return free, nil
	}
	return free, rowio.Of(ctx, in, m.PartsOf("agents"), rowio.Selection{Columns: columns},
		func(batch []schema.Agent) error {
			for _, a := range batch {
				if a.IgnoresStar {
					free[a.Category] = append(free[a.Category], a.Name)
				}
			}
			return nil
		})
}

// capturedHosts counts the hosts of a run whose captures are from archives. It returns
// 0 if that is not cheap, or the run has no column for it.
func capturedHosts(ctx context.Context, in store.Store, run string) (int64, error) {
	if store.IsURL(in.Path(".")) {
		return 0, nil
	}
	m, err := journal.ReadManifest(in, run) // of the run, whose head the page needs otherwise
	if err != nil || slices.Contains(m.Without, "fetches.host") || slices.Contains(m.Without, "fetches.port") {
		return 0, err
	}
	return series.Hosts(ctx, in, m)
}

// all names what the run has.
func (d *data) all() string {
	text := words.Count(d.hosts, d.noun())
	if d.noun() == "capture" && d.captured > 0 {
		text += " of " + words.Hosts(d.captured)
	}
	return text
}

// noun says what counts once: a host, or a capture of one.
func (d *data) noun() string {
	if !d.archived || d.captured == d.hosts {
		return "host"
	}
	return "capture"
}

func (d *data) page() *draw.Page {
	m := d.manifest
	p := &draw.Page{Title: fmt.Sprintf("Crawl policies of %s, %s", d.all(), words.Day(m.Date)),
		Drawn: "Drawn from the tables summary and examples alone", Sources: d.sources()}
	if d.changes != nil {
		p.Drawn = "Drawn from the tables summary, examples and changes alone"
		p.Title += ", and what changed since " + strings.TrimPrefix(d.changes.Since, "run ")
	}
	p.Facts = []draw.Fact{{Name: "source", Value: d.source()}, {Name: "profile", Value: d.profile}}
	if share := m.Sample(); share < 1 {
		p.Facts = append(p.Facts, draw.Fact{Name: "sample",
			Value: fmt.Sprintf("%v of the registered domains, by hash (--sample)", share)})
	}
	if limit := m.Limit(); limit > 0 {
		p.Facts = append(p.Facts, draw.Fact{Name: "limit", Value: fmt.Sprintf("the first %s at most (--limit)",
			words.Hosts(limit))})
	}
	if !m.Complete() {
		p.Remarks = append(p.Remarks, "The run is not complete: the page shows what is committed so far.")
	}
	if len(m.Profiles) > 1 {
		p.Remarks = append(p.Remarks, fmt.Sprintf(
			"The run judges every file under %d profiles. The page shows the first, %s, and where the others differ from "+
				"it; the tables hold all of them.", len(m.Profiles), d.profile))
	}
	if !slices.Contains(m.Tables, "examples") {
		p.Remarks = append(p.Remarks, "The page has no examples, because the run has no table examples.")
	} else if !summary.HasExamples(m) {
		p.Remarks = append(p.Remarks,
			"The page has no examples, because the run was published without some of their columns.")
	}
	if d.changes != nil && len(d.changes.Notes) > 0 {
		p.Remarks = append(p.Remarks, "Notes on the comparison: "+strings.Join(d.changes.Notes, "; ")+".")
	}
	if d.archived && d.captured != d.hosts {
		several := "An archive may have several captures of a host, and each of them counts as a host here."
		if slices.Contains(m.Tables, "fetches") && m.Complete() {
			several += fmt.Sprintf(" To count the hosts: SELECT count(DISTINCT host) FROM history.fetches WHERE run = %s.",
				views.Quote(m.Run))
		}
		p.Remarks = append(p.Remarks, several)
	}
	if d.hosts == 0 {
		p.Remarks = append(p.Remarks, "The run has no counters: no host was asked.")
		return p
	}
	if d.known == 0 {
		nobody, attempts := "None of the "+d.all(), "attempts"
		if d.hosts == 1 {
			nobody, attempts = "The only host has not", "attempt"
		}
		p.Remarks = append(p.Remarks, fmt.Sprintf(
			"%s said what crawlers may do there, so the page says nothing about policies. It shows how the %s failed.", nobody,
			attempts))
	} else {
		p.Tiles = d.tiles()
	}
	add := func(title string, figures ...*draw.Figure) {
		for _, f := range p.Add(title, figures...) {
			f.File, f.Source = "robocensus-"+d.run+"-"+f.ID, p.Title+", run "+d.run
			if !m.Complete() {
				f.SQL = notYet + f.SQL
			}
		}
	}
	if c := d.changes; c != nil {
		add("What changed since "+c.Since, append([]*draw.Figure{d.beforeCategories(), d.beforeAgents(), d.beforeAverage()},
			c.Figures(d.all())...)...)
	}
	if d.known == 0 {
		add("How the attempts failed", d.errors(), d.answers(), d.walls())
		return p
	}
	add("Do hosts shut out AI crawlers?", d.aiTraining(), d.categories())
	add("Which site lets whom in?", d.eachSite())
	add("How do groups of hosts differ?", d.labelFigures()...)
	add("What may be done with their content?", slices.Concat(
		[]*draw.Figure{d.refusals(), d.frontPages(), d.documentRefusals(), d.documentContraries(), d.documents()},
		d.documentLabels(), []*draw.Figure{d.preferences(), d.signalReach(), d.preferenceRemarks()})...)
	add("Which agents do hosts shut out, and which do they name?", d.agents(), d.intervals(), d.ranks(), d.together(),
		d.named(), d.deadNames(), d.versusStar())
	add("How much of what sites list may agents fetch?", slices.Concat(
		[]*draw.Figure{d.coverage(), d.coveragePartly(), d.coverageRanks()}, d.coverageLabels(),
		[]*draw.Figure{d.listedClosed(), d.sitemapHosts(), d.sitemapFiles(), d.sitemapFaults()})...)
	add("Whose words are they?", d.wordsOf(), d.templates(), d.templateRanks())
	add("Paper and practice: what are others answered?", d.turnedAway(), d.servedOtherwise(), d.wallsFor(),
		d.turnedAwayBy("turned-away-ranks", "stratum", func(l counters.Label) string { return l.Stratum }, words.Rank),
		d.turnedAwayBy("turned-away-categories", "category", func(l counters.Label) string { return l.Category },
			categoryOrNone))
	add("Paper and practice: what do others meet on a page?", append([]*draw.Figure{d.practice()}, d.practices()...)...)
	add("What do hosts answer?", d.answers(), d.errors(), d.walls())
	add("What is in the files?", d.sizes(), d.features(), d.delays(), d.sitemaps(), d.fields())
	add("Where do the profiles differ?", d.profiles(), d.profileAgents())
	add("What is wrong with the files?", d.flaws(), d.bodies(), d.parity(), d.parityCauses())
	add("How does the network perform?", d.times(),
		d.network("tld", "top-level domain", "."), d.network("address_block", "address block", ""),
		d.network("server", "server software", ""))
	return p
}

// notYet precedes the SQL of a run that is not complete, which would give no rows: the
// counters of segments are added up into the table at the end.
const notYet = "-- once the run is complete, which writes its rows of the table summary:\n"

// tiles returns the headline numbers.
func (d *data) tiles() []draw.Tile {
	tiles := []draw.Tile{{Name: "hosts", Value: words.Number(d.hosts), Note: ""}}
	if d.all() != words.Hosts(d.hosts) {
		tiles[0].Name = "captures"
		if d.captured > 0 {
			tiles[0].Note = "of " + words.Hosts(d.captured)
		}
	}
	if d.files != d.hosts {
		tiles = append(tiles, draw.Tile{Name: "hosts with rules", Value: words.Number(d.files),
			Note: words.ShareOf(d.files, d.hosts, "hosts") + ": " + d.agree(d.files, "its", "their") + " rules decide"})
	}
	if silent := d.hosts - d.known; silent > 0 {
		tiles = append(tiles, draw.Tile{Name: "policy unknown", Value: words.Number(silent),
			Note: words.ShareOf(silent, d.hosts, "hosts") + ", because of an outage or the like"})
	}
	closed := d.sums.Pivot("category", d.profile, func(l counters.Label) string { return l.Category })[counters.Headline]
	if closed != nil {
		n := closed["all"] + closed["some"]
		tiles = append(tiles, draw.Tile{Name: "shut out AI training", Value: words.Number(n),
			Note: strings.Join(d.of(n), ", ")})
	}
	return append(tiles, draw.Tile{Name: "agents evaluated", Value: words.Number(int64(len(d.sums.Agents(d.profile)))),
		Note: ""})
}

// of returns n as a share of each base.
func (d *data) of(n int64) []string {
	if d.files == d.hosts {
		return []string{words.ShareOf(n, d.hosts, "hosts")}
	}
	return []string{words.ShareOf(n, d.hosts, "hosts"), words.ShareOf(n, d.files, "those with rules")}
}

// source describes where the answers come from.
func (d *data) source() string {
	if s := journal.StoredIn(d.manifest.Inputs); s != nil {
		return s.Answers
	}
	return "asked over the network"
}

// sources returns the provenance of the page. It names input files and their
// digests but not their folders, because the page may be published.
func (d *data) sources() []draw.Fact {
	m := d.manifest
	out := []draw.Fact{{Name: "run", Value: m.Run},
		{Name: "made by", Value: strings.TrimSpace("robocensus " + m.ToolVersion)},
		{Name: "date", Value: m.Date.Format(time.DateOnly)},
		{Name: "started", Value: m.Started.UTC().Format("2006-01-02 15:04 UTC")}}
	if len(m.ConfigurationDigest) >= 12 {
		out = append(out, draw.Fact{Name: "configuration", Value: "sha256 " + m.ConfigurationDigest[:12]})
	}
	for _, in := range m.Inputs[:min(len(m.Inputs), 12)] {
		name := filepath.Base(filepath.ToSlash(in.Path))
		if in.Path == "-" {
			name = "standard input"
		}
		if len(in.SHA256) >= 12 {
			name += ", sha256 " + in.SHA256[:12]
		}
		out = append(out, draw.Fact{Name: in.Role, Value: name})
	}
	if d.changes != nil {
		out = append(out, draw.Fact{Name: "compared with", Value: d.against})
	}
	return out
}
