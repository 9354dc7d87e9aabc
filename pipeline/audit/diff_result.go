package audit

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// DiffResult is what a comparison comes to. Hosts are counted by origin.
type DiffResult struct {
	Before   string   `json:"before"` // IDs of the runs
	After    string   `json:"after"`
	Notes    []string `json:"notes"`    // what is not compared, and why
	Compared int64    `json:"compared"` // in both runs
	Unread   int64    `json:"unread"`   // of these, the ones whose robots.txt could not be read in one run or in both
	Same     int64    `json:"same"`     // of these, the ones in which nothing was read further
	Changed  int64    `json:"changed"`  // of these, the ones with a change
	New      int64    `json:"new"`
	Gone     int64    `json:"gone"`
	Changes  int64    `json:"changes"` // rows

	BySeverity DiffSeverities `json:"hosts_by_severity"` // of the hosts with a change
	Kinds      []DiffKind     `json:"kinds"`             // those that occur, by severity and kind
	Agents     []DiffAgent    `json:"agents"`            // those whose class changed anywhere, by how many hosts closed
	Categories []DiffCategory `json:"categories"`        // the same for any agent of a category
	Strata     []DiffStratum  `json:"strata"`            // of the rank in the later run
	Examples   []DiffExample  `json:"examples"`          // the gravest, one to a host, and one of hosts that changed in the same way
	Together   []DiffExample  `json:"together"`          // ways in which several hosts changed, the commonest first

	Expectations []*Promise `json:"expectations,omitempty"`

	kinds   map[[2]string]*DiffKind
	agents  map[[2]string]*DiffAgent
	closing map[string]*DiffCategory
	strata  map[string]*DiffStratum
	ways    ways
	pair    pairChanges
}

// pairChanges are the changes of the pair under way.
type pairChanges struct {
	told       map[exampleKey]*DiffExample
	stratum    *DiffStratum // nil before the first change
	kinds      map[[2]string]bool
	categories map[string]DiffClasses // by category, of agents
	way        wayOfPair
}

// DiffSeverities counts hosts, each once, by the gravest of their changes.
type DiffSeverities struct {
	Critical int64 `json:"critical"`
	Major    int64 `json:"major"`
	Minor    int64 `json:"minor"`
	Cosmetic int64 `json:"cosmetic"`
}

func (s *DiffSeverities) add(severity string) {
	switch severity {
	case critical:
		s.Critical++
	case major:
		s.Major++
	case minor:
		s.Minor++
	case cosmetic:
		s.Cosmetic++
	}
}

// DiffKind counts the changes of one kind and severity, and the hosts that have
// any.
type DiffKind struct {
	Severity string `json:"severity"`
	Kind     string `json:"kind"`
	Hosts    int64  `json:"hosts"`
	Count    int64  `json:"count"` // rows
}

// DiffAgent counts the hosts whose policy for an agent changed its class:
// Closed to disallow_all, Opened from there, Narrowed from allow_all to
// partial, Widened from partial to allow_all.
type DiffAgent struct {
	Agent    string `json:"agent"`
	Category string `json:"category"`
	Profile  string `json:"profile"`
	DiffClasses
}

// DiffCategory counts the hosts whose policy for any agent of a category
// changed its class so, under any profile. A host may do several.
type DiffCategory struct {
	Category string `json:"category"`
	DiffClasses
}

// DiffClasses counts hosts by how the class of a policy changed.
type DiffClasses struct {
	Closed   int64 `json:"closed"`
	Opened   int64 `json:"opened"`
	Narrowed int64 `json:"narrowed"`
	Widened  int64 `json:"widened"`
}

// DiffStratum counts the hosts of a band of rank, by their gravest change.
type DiffStratum struct {
	Stratum  string `json:"stratum"`
	Compared int64  `json:"compared"`
	Changed  int64  `json:"changed"`
	DiffSeverities
}

// DiffExample is a change, and how many more agents or URLs of that host have
// the like.
type DiffExample struct {
	Host       string  `json:"host"`
	Origin     string  `json:"origin"`
	Rank       *int64  `json:"rank"`
	Kind       string  `json:"kind"`
	Severity   string  `json:"severity"`
	Agent      *string `json:"agent"`
	Category   *string `json:"category"`
	Profile    *string `json:"profile"`
	URL        *string `json:"url"`
	Before     *string `json:"before"`
	After      *string `json:"after"`
	LineBefore *int32  `json:"line_before"`
	LineAfter  *int32  `json:"line_after"`
	More       int64   `json:"more"`
	Hosts      int64   `json:"hosts"` // that changed in the same way, this one too

	way uint64 // 0 for none that hosts share
}

// exampleKey tells the rows that one example stands for.
type exampleKey struct{ severity, kind, before, after string }

const maxExamples = 10

func newDiffResult(c DiffConfig, notes []string) *DiffResult {
	return &DiffResult{
		Before: c.Before, After: c.After, Notes: append([]string{}, notes...), kinds: make(map[[2]string]*DiffKind),
		agents: make(map[[2]string]*DiffAgent), closing: make(map[string]*DiffCategory), strata: make(map[string]*DiffStratum),
		pair: pairChanges{told: make(map[exampleKey]*DiffExample), kinds: make(map[[2]string]bool), categories: make(map[string]DiffClasses)},
	}
}

// joined counts a pair, whether it differs or not.
func (r *DiffResult) joined(p *pair) {
	switch {
	case p.sides[0] == nil:
		r.New++
	case p.sides[1] == nil:
		r.Gone++
	default:
		r.Compared++
		if unreachable[p.sides[0].reason] || unreachable[p.sides[1].reason] {
			r.Unread++
		}
		r.of(p.last().rank).Compared++
	}
}

func (r *DiffResult) of(rank *int64) *DiffStratum {
	name := summary.StratumOf(rank)
	if r.strata[name] == nil {
		r.strata[name] = &DiffStratum{Stratum: name}
	}
	return r.strata[name]
}

// add counts a row of changes.
func (r *DiffResult) add(row *sink.Change, rank *int64) {
	r.Changes++
	kind := [2]string{row.Severity, row.Kind}
	if r.kinds[kind] == nil {
		r.kinds[kind] = &DiffKind{Severity: row.Severity, Kind: row.Kind}
	}
	r.kinds[kind].Count++
	r.pair.kinds[kind] = true
	r.pair.stratum = r.of(rank)
	r.pair.way.add(row)
	key := exampleKey{severity: row.Severity, kind: row.Kind}
	switch row.Kind {
	case "policy_class":
		r.class(row)
		key.before, key.after = *row.Before, *row.After
	case "verdict":
		key.before, key.after = *row.Before, *row.After
	case "rules":
		key.after = *row.After
	}
	if e := r.pair.told[key]; e != nil {
		e.More++
		return
	}
	r.pair.told[key] = &DiffExample{
		Host: row.Host, Origin: row.Origin, Rank: rank, Kind: row.Kind, Severity: row.Severity, Agent: row.Agent, Category: row.Category,
		Profile: row.Profile, URL: row.URL, Before: row.Before, After: row.After, LineBefore: row.LineBefore, LineAfter: row.LineAfter,
	}
}

func (r *DiffResult) class(row *sink.Change) {
	key := [2]string{*row.Agent, *row.Profile}
	a := r.agents[key]
	if a == nil {
		a = &DiffAgent{Agent: *row.Agent, Category: *row.Category, Profile: *row.Profile}
		r.agents[key] = a
	}
	disallow, partial := summary.ClassNames[robots.DisallowAll], summary.ClassNames[robots.Partial]
	ofPair := r.pair.categories[*row.Category]
	switch {
	case *row.After == disallow:
		a.Closed++
		ofPair.Closed = 1
	case *row.Before == disallow:
		a.Opened++
		ofPair.Opened = 1
	case *row.After == partial:
		a.Narrowed++
		ofPair.Narrowed = 1
	default:
		a.Widened++
		ofPair.Widened = 1
	}
	r.pair.categories[*row.Category] = ofPair
}

// endOfPair counts the pair's host, and keeps its gravest change among the
// examples.
func (r *DiffResult) endOfPair() {
	if len(r.pair.told) == 0 {
		return
	}
	best := slices.MinFunc(slices.Collect(maps.Values(r.pair.told)), func(a, b *DiffExample) int {
		return cmp.Or(gravity(a, b), cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)), cmp.Compare(b.More, a.More),
			strings.Compare(text(a.Before)+" "+text(a.After), text(b.Before)+" "+text(b.After)))
	})
	for kind := range r.pair.kinds {
		r.kinds[kind].Hosts++
	}
	for category, of := range r.pair.categories {
		c := r.closing[category]
		if c == nil {
			c = &DiffCategory{Category: category}
			r.closing[category] = c
		}
		c.Closed, c.Narrowed, c.Widened, c.Opened = c.Closed+of.Closed, c.Narrowed+of.Narrowed, c.Widened+of.Widened, c.Opened+of.Opened
	}
	if best.Kind != "host_new" && best.Kind != "host_gone" {
		r.Changed++
		r.BySeverity.add(best.Severity)
		r.pair.stratum.Changed++
		r.pair.stratum.add(best.Severity)
	}
	best.way = r.pair.way.end()
	r.ways.count(best)
	clear(r.pair.told)
	clear(r.pair.kinds)
	clear(r.pair.categories)
	if best.way != 0 && slices.ContainsFunc(r.Examples, func(e DiffExample) bool { return e.way == best.way }) {
		return
	}
	r.Examples = append(r.Examples, *best)
	slices.SortStableFunc(r.Examples, func(a, b DiffExample) int { return cmp.Or(gravity(&a, &b), summary.CompareRanks(a.Rank, b.Rank)) })
	r.Examples = r.Examples[:min(len(r.Examples), maxExamples)]
}

func gravity(a, b *DiffExample) int {
	return cmp.Compare(slices.Index(Severities, a.Severity), slices.Index(Severities, b.Severity))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// finish puts the counters into order.
func (r *DiffResult) finish() {
	r.Kinds, r.Agents, r.Categories, r.Strata = []DiffKind{}, []DiffAgent{}, []DiffCategory{}, []DiffStratum{}
	if r.Examples == nil {
		r.Examples = []DiffExample{}
	}
	for i := range r.Examples {
		r.Examples[i].Hosts = r.ways.hosts(&r.Examples[i])
	}
	r.Together = r.ways.commonest()
	for _, severity := range Severities {
		for _, kind := range Kinds {
			if k := r.kinds[[2]string{severity, kind}]; k != nil {
				r.Kinds = append(r.Kinds, *k)
			}
		}
	}
	for _, a := range r.agents {
		r.Agents = append(r.Agents, *a)
	}
	for _, c := range r.closing {
		r.Categories = append(r.Categories, *c)
	}
	order := func(a, b DiffClasses) int {
		return cmp.Or(cmp.Compare(b.Closed, a.Closed), cmp.Compare(b.Opened, a.Opened), cmp.Compare(b.Narrowed, a.Narrowed))
	}
	slices.SortFunc(r.Agents, func(a, b DiffAgent) int {
		return cmp.Or(order(a.DiffClasses, b.DiffClasses), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Profile, b.Profile))
	})
	slices.SortFunc(r.Categories, func(a, b DiffCategory) int {
		return cmp.Or(order(a.DiffClasses, b.DiffClasses), cmp.Compare(a.Category, b.Category))
	})
	for _, s := range summary.Strata {
		r.addStratum(s.Name)
	}
	r.addStratum(summary.Unranked)
}

func (r *DiffResult) addStratum(name string) {
	if s := r.strata[name]; s != nil {
		r.Strata = append(r.Strata, *s)
	}
}
