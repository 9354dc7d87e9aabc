package pipeline

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// DiffResult is what a comparison comes to. Hosts are counted by origin.
type DiffResult struct {
	Before   string   `json:"before"` // IDs of the runs
	After    string   `json:"after"`
	Notes    []string `json:"notes"` // what is not compared, and why
	Compared int64    `json:"compared"`
	Same     int64    `json:"same"`    // of these, the ones in which nothing was read further
	Changed  int64    `json:"changed"` // of these, the ones with a change
	New      int64    `json:"new"`
	Gone     int64    `json:"gone"`
	Changes  int64    `json:"changes"`

	Kinds      []DiffKind     `json:"kinds"`      // those that occur, by severity and kind
	Agents     []DiffAgent    `json:"agents"`     // those whose class changed anywhere, by how many closed
	Categories []DiffCategory `json:"categories"` // all agents of each added up, in the same order
	Strata     []DiffStratum  `json:"strata"`     // of the rank in the later run
	Examples   []DiffExample  `json:"examples"`   // the gravest, one to a host

	Expectations []*Promise `json:"expectations,omitempty"`

	kinds   map[[2]string]int64
	agents  map[[2]string]*DiffAgent
	strata  map[string]*DiffStratum
	told    map[exampleKey]*DiffExample // of the pair under way
	stratum *DiffStratum                // of the pair under way, nil before its first row
}

// DiffKind counts the changes of one kind and severity.
type DiffKind struct {
	Severity string `json:"severity"`
	Kind     string `json:"kind"`
	Count    int64  `json:"count"`
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

// DiffCategory adds up the agents of a category, under all profiles.
type DiffCategory struct {
	Category string `json:"category"`
	DiffClasses
}

// DiffClasses counts policies by how their class changed.
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
	Critical int64  `json:"critical"`
	Major    int64  `json:"major"`
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
}

// exampleKey tells the rows that one example stands for.
type exampleKey struct{ severity, kind, before, after string }

const maxExamples = 10

func newDiffResult(c DiffConfig, notes []string) *DiffResult {
	return &DiffResult{
		Before: c.Before, After: c.After, Notes: append([]string{}, notes...), kinds: make(map[[2]string]int64),
		agents: make(map[[2]string]*DiffAgent), strata: make(map[string]*DiffStratum), told: make(map[exampleKey]*DiffExample),
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
		r.of(p.last().rank).Compared++
	}
}

func (r *DiffResult) of(rank *int64) *DiffStratum {
	name := stratumOf(rank)
	if r.strata[name] == nil {
		r.strata[name] = &DiffStratum{Stratum: name}
	}
	return r.strata[name]
}

// add counts a row of changes.
func (r *DiffResult) add(row *sink.Change, rank *int64) {
	r.Changes++
	r.kinds[[2]string{row.Severity, row.Kind}]++
	r.stratum = r.of(rank)
	key := exampleKey{severity: row.Severity, kind: row.Kind}
	switch row.Kind {
	case "policy_class":
		r.class(row)
		key.before, key.after = *row.Before, *row.After
	case "verdict":
		key.before, key.after = *row.Before, *row.After
	}
	if e := r.told[key]; e != nil {
		e.More++
		return
	}
	r.told[key] = &DiffExample{
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
	disallow, partial := classNames[robots.DisallowAll], classNames[robots.Partial]
	switch {
	case *row.After == disallow:
		a.Closed++
	case *row.Before == disallow:
		a.Opened++
	case *row.After == partial:
		a.Narrowed++
	default:
		a.Widened++
	}
}

// endOfPair keeps the pair's gravest change among the examples.
func (r *DiffResult) endOfPair() {
	if len(r.told) == 0 {
		return
	}
	best := slices.MinFunc(slices.Collect(maps.Values(r.told)), func(a, b *DiffExample) int {
		return cmp.Or(gravity(a, b), cmp.Compare(slices.Index(Kinds, a.Kind), slices.Index(Kinds, b.Kind)), cmp.Compare(b.More, a.More),
			strings.Compare(text(a.Before)+" "+text(a.After), text(b.Before)+" "+text(b.After)))
	})
	clear(r.told)
	if best.Kind != "host_new" && best.Kind != "host_gone" {
		r.Changed++
		r.stratum.Changed++
		switch best.Severity {
		case critical:
			r.stratum.Critical++
		case major:
			r.stratum.Major++
		}
	}
	r.Examples = append(r.Examples, *best)
	slices.SortStableFunc(r.Examples, func(a, b DiffExample) int { return cmp.Or(gravity(&a, &b), compareRanks(a.Rank, b.Rank)) })
	r.Examples = r.Examples[:min(len(r.Examples), maxExamples)]
}

func gravity(a, b *DiffExample) int {
	return cmp.Compare(slices.Index(Severities, a.Severity), slices.Index(Severities, b.Severity))
}

// compareRanks puts hosts without a rank last.
func compareRanks(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
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
	for _, severity := range Severities {
		for _, kind := range Kinds {
			if n := r.kinds[[2]string{severity, kind}]; n > 0 {
				r.Kinds = append(r.Kinds, DiffKind{severity, kind, n})
			}
		}
	}
	categories := make(map[string]*DiffCategory)
	for _, a := range r.agents {
		r.Agents = append(r.Agents, *a)
		c := categories[a.Category]
		if c == nil {
			c = &DiffCategory{Category: a.Category}
			categories[a.Category] = c
		}
		c.Closed, c.Narrowed, c.Widened, c.Opened = c.Closed+a.Closed, c.Narrowed+a.Narrowed, c.Widened+a.Widened, c.Opened+a.Opened
	}
	for _, c := range categories {
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
	for _, s := range strata {
		r.addStratum(s.name)
	}
	r.addStratum(unranked)
}

func (r *DiffResult) addStratum(name string) {
	if s := r.strata[name]; s != nil {
		r.Strata = append(r.Strata, *s)
	}
}
