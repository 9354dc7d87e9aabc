package series

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// Strata of all hosts.
const (
	All      = "all"
	Weighted = "weighted" // with each band of rank weighted by its hosts in the population
)

// Config says what a series is about.
type Config struct {
	In        store.Store        // the output folder
	Runs      []string           // IDs of complete runs, by date
	Profiles  []string           // nil for the first profile of the last run
	Strata    []string           // bands of rank, values of labels, or All; nil for all bands and All
	Panel     bool               // also count the hosts that all runs have, apart
	Paired    bool               // with Panel: keep which figures count its hosts, to compare runs host by host
	Clustered bool               // allow for several hosts of one registered domain
	Weights   map[string]float64 // hosts of the population by stratum; nil for none
	Warnings  []string           // about the choice of runs; those of the result follow

	vectors, keys int // bounds for the vectors and keys of a panel, 0 for mostVectors and mostKeys
}

// Result is a series.
type Result struct {
	Profiles []string       `json:"profiles"`
	Runs     []Run          `json:"runs"` // by date
	Marks    []Mark         `json:"marks"`
	Panel    *Panel         `json:"panel,omitempty"`
	Warnings []string       `json:"warnings"`
	Strips   *Strips        `json:"strips,omitempty"` // of few sites, if asked for
	Points   []schema.Point `json:"points"`           // by series, then by date

	pairing *pairing // of the panel, if it was asked for
	listed  []listedRun
	pages   []pagesRun
	strata  []string
}

// Run describes a run of a series.
type Run struct {
	Run  string    `json:"run"`
	Date time.Time `json:"date"`
	// Source says where most answers of the run come from: network, warc, body. One of
	// warc has a row for each capture, and counts it as a host.
	Source string `json:"source"`
	Hosts  int64  `json:"hosts"`
	// Files are the hosts whose rules decide, under the first profile of the series; nil
	// for a run without that profile.
	Files *int64 `json:"files"`
	// Breaks say why no figure can be compared with those of the run before.
	Breaks []string `json:"breaks,omitempty"`
}

// Mark is an event that the figures of a run may show: what differs from the run
// before.
type Mark struct {
	Run string `json:"run"`
	// agent_new, agent_gone, agent_changed, profile_changed, list_changed, settings_changed,
	// outage, walls, meaning_changed, break
	Kind string `json:"kind"`
	Of   string `json:"of"` // the agent or profile; "" for the run
	Text string `json:"text"`
}

// errNoRuns reports that there is nothing to follow.
var errNoRuns = errors.New("a series needs at least one complete run")

// ErrNoTable reports a run that did not write a table that a series needs.
var ErrNoTable = errors.New("cannot be followed")

// id identifies a figure.
type id struct{ metric, agent, category, profile, key string }

// countedRun is a run with what is counted in it.
type countedRun struct {
	*past.Run
	all     population
	values  map[string]bool // strata of its labels, if the series is about some
	panel   population      // with --panel
	others  population
	byHost  map[string]bool // metrics that the pass over hosts counts
	moved   moved           // against the run before
	changes *changes

	decides map[decidedOf]*summary.Decided
	listed  map[listedBy]summary.Percents // how much of what they list hosts let agents fetch
	closed  map[string]int64              // hosts whose sitemaps are closed to the census, by stratum

	practices map[metOn]*summary.Practice // what identities meet on pages
}

// filesOf is the base of the hosts whose rules decide under a profile.
func filesOf(profile string) string { return baseFiles + " " + profile }

// Bases of shares.
const (
	baseHosts = "hosts"
	baseFiles = "files"
	baseTexts = "texts"
	basePages = "pages"
	baseLists = "lists"
	baseBoth  = "both"

	baseAsked    = "asked"    // for the document of the figure
	baseCompared = "compared" // of what an identity meets on a page with what the control does

	baseBefore = "before"
)

// metrics of summary that a series follows, with their bases. Files are a base of
// those keys that only hosts with a file can have.
var metrics = map[string]struct {
	bases []string
	files []string // keys with files as a second base
	with  string   // the metric that only runs have which counted this one, "" for all
}{
	"targets":         {bases: []string{baseHosts}},
	"outcome":         {bases: []string{baseHosts}},
	"reason":          {bases: []string{baseHosts}},
	"status":          {bases: []string{baseHosts}},
	"policy":          {bases: []string{baseHosts}, files: []string{"disallow_all", "partial"}},
	"policy_explicit": {bases: []string{baseFiles}},
	"category":        {bases: []string{baseHosts}, files: []string{"all", "some", closesAny}},
	"signal":          {bases: []string{baseHosts, baseTexts}},
	"field":           {bases: []string{baseHosts, baseTexts}},
	"feature":         {bases: []string{baseHosts, baseTexts}},
	"body":            {bases: []string{baseHosts, baseTexts}},
	"refusal":         {bases: []string{baseHosts, baseFiles}},
	"preference":      {bases: []string{baseHosts, baseTexts}},
	"template":        {bases: []string{baseHosts, baseTexts}},
	"policy_template": {bases: []string{baseHosts, baseFiles}},
	"turned_away":     {bases: []string{baseHosts}, with: "turned_away"},
	"challenge":       {bases: []string{baseHosts}, with: "challenge"},
	"answer":          {bases: []string{baseHosts}, with: "answer"},
	"answer_let_in":   {bases: []string{baseHosts}, with: "answer"},
	"front_page":      {bases: []string{baseHosts}, with: "front_page"},
	"page_preference": {bases: []string{basePages}, with: "front_page"},
	"page_refusal":    {bases: []string{basePages}, with: "front_page"},

	"document":            {bases: []string{baseHosts, baseAsked}, with: "document"},
	"document_preference": {bases: []string{baseHosts}, with: "document"},
	"page_met":            {bases: []string{baseCompared}, with: "page_met"},

	"coverage_closed": {bases: []string{baseLists}, with: "sitemap_host"},
}

// Read reads a series.
func Read(ctx context.Context, c Config) (*Result, error) {
	if len(c.Runs) == 0 {
		return nil, errNoRuns
	}
	runs := make([]*countedRun, len(c.Runs))
	g, each := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, run := range c.Runs {
		g.Go(func() (err error) {
			runs[i], err = readRun(each, c.In, run, c.Strata)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if len(c.Profiles) == 0 {
		if last := runs[len(runs)-1]; len(last.Profiles) > 0 {
			c.Profiles = last.Profiles[:1]
		}
	}
	r := &Result{Profiles: c.Profiles, Marks: []Mark{}, Warnings: append([]string{}, c.Warnings...)}
	if c.Panel || c.Clustered {
		if err := readHosts(ctx, c, runs, r); err != nil {
			return nil, err
		}
	}
	if err := checkLabels(c, runs); err != nil {
		return nil, err
	}
	if !c.Clustered {
		if err := warnOfDomains(ctx, c, runs, r); err != nil {
			return nil, err
		}
	}
	for i := range runs {
		if i == 0 {
			continue
		}
		var err error
		if runs[i].changes, err = readChanges(ctx, c, runs[i-1].Manifest, runs[i].Manifest); err != nil {
			return nil, err
		}
	}
	p := newPointMaker(c, runs, r)
	p.points()
	r.listed, r.pages, r.strata = p.listed(), p.pages(), p.strata
	return r, nil
}

// readRun reads the counters and the registry of a run.
func readRun(ctx context.Context, in store.Store, run string, strata []string) (*countedRun, error) {
	m, err := past.Read(ctx, in, run)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(m.Tables, "summary") {
		return nil, fmt.Errorf("run %s %w: it has no table summary; choose other runs with --runs", run, ErrNoTable)
	}
	r := &countedRun{Run: m, all: make(population), decides: make(map[decidedOf]*summary.Decided),
		listed: make(map[listedBy]summary.Percents), closed: make(map[string]int64),
		practices: make(map[metOn]*summary.Practice)}
	counts, err := summary.Read(ctx, in, m.Manifest)
	if err != nil {
		return nil, err
	}
	for _, c := range counts.List() {
		r.add(c)
	}
	if labels := labelsOf(strata); labels != nil {
		if counts, err = summary.ReadByLabel(ctx, in, m.Manifest, labels); err != nil {
			return nil, err
		}
		r.values = make(map[string]bool)
		for _, c := range counts.List() {
			r.values[c.Stratum] = true
			if slices.Contains(strata, c.Stratum) {
				r.add(c)
			}
		}
	}
	for k, d := range r.decides {
		if k.profile != "" { // of no profile are hosts without a wall
			r.all.of(k.stratum).shown(k.profile, d)
		}
	}
	r.all.sumUp()
	return r, nil
}

// add adds a counter of summary.
func (r *countedRun) add(c summary.Count) {
	b := r.all.of(c.Stratum)
	switch c.Metric {
	case "targets":
		b.size(baseHosts, c.N)
	case "body_bytes":
		b.size(baseTexts, c.N)
	case "front_page":
		if c.Key == string(usage.PageRead) {
			b.size(basePages, c.N)
		}
	case "document":
		b.size(baseFor(c.Key, baseAsked), c.N)
	case "sitemap_host":
		if c.Key == summary.HostLists {
			b.size(baseLists, c.N)
		}
		if c.Key == summary.ListsClosed {
			for _, stratum := range strataOf(c) {
				r.closed[stratum] += c.N
			}
		}
	case "page_met":
		r.met(c)
		return
	case "coverage":
		r.addListed(c)
	case "coverage_closed":
		c.Key = c.Key[strings.LastIndexByte(c.Key, ' ')+1:] // without the class of the policy
	case "outcome", "reason", "challenge", "challenge_outcome":
		r.decided(c.Stratum, c.Profile).Add(c.Metric, c.Key, c.N)
	}
	if _, ok := metrics[c.Metric]; !ok || c.Metric == "outcome" || c.Metric == "reason" { // see shown
		return
	}
	k := id{c.Metric, c.Agent, c.Category, c.Profile, c.Key}
	b.counts[k] = b.counts[k].plus(simple(c.N))
	if c.Metric == "category" && (c.Key == "all" || c.Key == "some") {
		k.key = closesAny
		b.counts[k] = b.counts[k].plus(simple(c.N))
	}
}

// baseFor is a base of one figure: of a document, or of an identity and what robots.txt says to its
// agent. A key begins with its words.
func baseFor(key, base string) string {
	words := strings.SplitN(key, " ", 3)
	if base == baseAsked {
		return base + " " + words[0]
	}
	return base + " " + strings.Join(words[:min(len(words), 2)], " ")
}

// control ends the key of the figure of the control beside that of an identity.
const control = " control"

// met adds a counter of the metric page_met: hosts that serve the page to the control, those of them
// that turn the identity away and, beside them, those that turn the control away when it asks
// again.
func (r *countedRun) met(c summary.Count) {
	var p summary.Practice
	p.Add(c.Key, c.N)
	if strings.HasPrefix(c.Key, summary.Control) || p.Compared() == 0 {
		return
	}
	b, base := r.all.of(c.Stratum), baseFor(c.Key, baseCompared)
	b.size(base, c.N)
	k := id{metric: c.Metric, profile: c.Profile, key: strings.TrimPrefix(base, baseCompared+" ")}
	strata := []string{c.Stratum}
	if !isLabel(c.Stratum) {
		strata = append(strata, All)
	}
	for _, stratum := range strata {
		at := metOn{stratum, c.Profile, k.key}
		if r.practices[at] == nil {
			r.practices[at] = new(summary.Practice)
		}
		r.practices[at].Add(c.Key, c.N)
	}
	b.counts[k] = b.counts[k].plus(simple(p.TurnedAway()))
	k.key += control
	b.counts[k] = b.counts[k].plus(simple(p.Once + p.Both))
}

// strata returns the strata that any run has, in order of rank, All first.
func strata(runs []*countedRun, wanted []string) (names []string) {
	in := make(map[string]bool)
	for _, r := range runs {
		for name := range r.all {
			in[name] = true
		}
	}
	order := func(name string) int { // -1 for All
		if isLabel(name) {
			return len(bandNames)
		}
		return slices.Index(bandNames, name)
	}
	names = slices.SortedFunc(maps.Keys(in),
		func(a, b string) int { return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a, b)) })
	return slices.DeleteFunc(names, func(name string) bool { return wanted != nil && !slices.Contains(wanted, name) })
}
