package audit

import (
	"cmp"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/closing"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// DiffResult is the summary of a comparison. Hosts are counted by origin.
type DiffResult struct {
	Before   string   `json:"before"` // IDs of the runs
	After    string   `json:"after"`
	Notes    []string `json:"notes"`             // what is not compared, and why
	Policies bool     `json:"policies_compared"` // false: only where hosts redirect to, and which are new or gone
	Compared int64    `json:"compared"`          // hosts in both runs
	Unread   int64    `json:"unread"`            // of these, without a state before or after that could be read: their policies are not compared
	Same     int64    `json:"same"`              // compared hosts whose row of fetches shows that nothing changed
	Changed  int64    `json:"changed"`           // compared hosts with a change
	New      int64    `json:"new"`
	Gone     int64    `json:"gone"`
	Changes  int64    `json:"changes"` // rows

	// Earlier are the runs that stand in for the first one, latest first, each with the
	// number of hosts that the first run could not read and that are compared with it.
	Earlier []sink.EarlierRun `json:"earlier"`

	BySeverity DiffSeverities `json:"hosts_by_severity"` // changed hosts
	Kinds      []DiffKind     `json:"kinds"`             // by severity and kind
	Profiles   []DiffProfile  `json:"profiles"`          // by what happened to policies for any agent, under each profile
	Agents     []DiffAgent    `json:"agents"`            // the same for each agent, most closed first
	Categories []DiffCategory `json:"categories"`        // the same for any agent of a category
	Strata     []DiffStratum  `json:"strata"`            // by the rank in the later run
	Examples   []DiffExample  `json:"examples"`          // the gravest changes, one for a host and one for hosts that changed in the same way
	Together   []DiffExample  `json:"together"`          // ways in which several hosts changed, the commonest first

	Expectations []*Promise `json:"expectations,omitempty"`

	kinds   map[[2]string]*DiffKind
	closing *closing.Counter
	strata  map[string]*DiffStratum
	ways    Ways
	pair    pairChanges
}

// pairChanges holds the changes of the current pair.
type pairChanges struct {
	examples exampleSet
	stratum  *DiffStratum // nil before the first change
	kinds    map[[2]string]bool
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

// DiffKind counts the changes of one kind and severity, and the hosts with any.
type DiffKind struct {
	Severity string `json:"severity"`
	Kind     string `json:"kind"`
	Hosts    int64  `json:"hosts"`
	Count    int64  `json:"count"` // rows
}

// DiffProfile counts hosts by what happened to their policies for any agent under a
// profile.
type DiffProfile struct {
	Profile string `json:"profile"`
	closing.Totals
}

// DiffAgent counts hosts by what happened to their policy for an agent.
type DiffAgent struct {
	Agent    string `json:"agent"`
	Category string `json:"category"`
	Profile  string `json:"profile"`
	closing.Counts
}

// DiffCategory counts hosts by what happened to their policies for any agent of a
// category.
type DiffCategory struct {
	Category string `json:"category"`
	Profile  string `json:"profile"`
	closing.Counts
}

// DiffStratum counts the hosts of a band of ranks by their gravest change.
type DiffStratum struct {
	Stratum  string `json:"stratum"`
	Compared int64  `json:"compared"`
	Changed  int64  `json:"changed"`
	DiffSeverities
}

func newDiffResult(c DiffConfig, notes, profiles []string) *DiffResult {
	return &DiffResult{
		Before: c.Before, After: c.After, Notes: append([]string{}, notes...), Earlier: []sink.EarlierRun{}, kinds: make(map[[2]string]*DiffKind),
		closing: closing.NewCounter(profiles), strata: make(map[string]*DiffStratum),
		pair: pairChanges{examples: make(exampleSet), kinds: make(map[[2]string]bool)},
	}
}

// settled counts a pair; compared reports whether its policies are compared.
func (r *DiffResult) settled(p *pair, compared bool) {
	switch {
	case p.sides[0] == nil:
		r.New++
	case p.sides[1] == nil:
		r.Gone++
	default:
		r.Compared++
		if !compared {
			r.Unread++
		}
		if p.from > 0 {
			r.Earlier[p.from-1].Hosts++
		}
		r.of(p.last().rank).Compared++
	}
}

// of returns the stratum of a rank.
func (r *DiffResult) of(rank *int64) *DiffStratum {
	name := summary.StratumOf(rank)
	if r.strata[name] == nil {
		r.strata[name] = &DiffStratum{Stratum: name}
	}
	return r.strata[name]
}

// add counts a row of changes.
func (r *DiffResult) add(row *sink.Change) {
	r.Changes++
	kind := [2]string{row.Severity, row.Kind}
	if r.kinds[kind] == nil {
		r.kinds[kind] = &DiffKind{Severity: row.Severity, Kind: row.Kind}
	}
	r.kinds[kind].Count++
	r.pair.kinds[kind] = true
	r.pair.stratum = r.of(row.Rank)
	r.pair.examples.add(row)
	r.ways.Add(row)
	r.closing.Add(row)
}

// endOfPair counts the current host.
func (r *DiffResult) endOfPair() {
	best := r.pair.examples.gravest()
	if best == nil {
		return
	}
	for kind := range r.pair.kinds {
		r.kinds[kind].Hosts++
	}
	r.closing.EndOfHost()
	if best.Kind != "host_new" && best.Kind != "host_gone" {
		r.Changed++
		r.BySeverity.add(best.Severity)
		r.pair.stratum.Changed++
		r.pair.stratum.add(best.Severity)
	}
	if shared := r.ways.end(); shared != nil && isShared(best.Kind, best.Agent) {
		best.way = shared.way
	}
	clear(r.pair.examples)
	clear(r.pair.kinds)
	r.addExample(best)
}

// addExample adds the gravest change of a host to the examples. Hosts that changed in
// the same way have one example, the best-ranked of them.
func (r *DiffResult) addExample(best *DiffExample) {
	if best.way != 0 {
		i := slices.IndexFunc(r.Examples, func(e DiffExample) bool { return e.way == best.way })
		if i >= 0 && summary.CompareRanks(best.Rank, r.Examples[i].Rank) >= 0 {
			return
		}
		if i >= 0 {
			r.Examples = slices.Delete(r.Examples, i, i+1)
		}
	}
	r.Examples = append(r.Examples, *best)
	slices.SortStableFunc(r.Examples, func(a, b DiffExample) int { return cmp.Or(gravity(&a, &b), summary.CompareRanks(a.Rank, b.Rank)) })
	r.Examples = r.Examples[:min(len(r.Examples), MaxExamples)]
}

// finish sorts the counters into lists.
func (r *DiffResult) finish() {
	r.Kinds, r.Profiles, r.Agents, r.Categories, r.Strata = []DiffKind{}, []DiffProfile{}, []DiffAgent{}, []DiffCategory{}, []DiffStratum{}
	if r.Examples == nil {
		r.Examples = []DiffExample{}
	}
	for i := range r.Examples {
		r.Examples[i].Hosts = r.ways.hosts(&r.Examples[i])
	}
	r.Together = r.ways.Commonest()
	for _, severity := range Severities {
		for _, kind := range Kinds {
			if k := r.kinds[[2]string{severity, kind}]; k != nil {
				r.Kinds = append(r.Kinds, *k)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.closing.Profiles)) {
		r.Profiles = append(r.Profiles, DiffProfile{name, *r.closing.Profiles[name]})
	}
	for _, a := range closing.Sorted(r.closing.Agents, func(a, b closing.Agent) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Profile, b.Profile))
	}) {
		r.Agents = append(r.Agents, DiffAgent{a.Agent, a.Category, a.Profile, *r.closing.Agents[a]})
	}
	for _, c := range closing.Sorted(r.closing.Categories, func(a, b closing.Category) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.Profile, b.Profile))
	}) {
		r.Categories = append(r.Categories, DiffCategory{c.Category, c.Profile, *r.closing.Categories[c]})
	}
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
