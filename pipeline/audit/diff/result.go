package diff

import (
	"cmp"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Result is the summary of a comparison. Hosts are counted by origin.
type Result struct {
	Before   string   `json:"before"` // IDs of the runs
	After    string   `json:"after"`
	Notes    []string `json:"notes"`             // what is not compared, and why
	Policies bool     `json:"policies_compared"` // false: only where hosts redirect to, and which are new or gone
	Compared int64    `json:"compared"`          // hosts in both runs
	// of these, without a state before or after that could be read: only their reachability is compared, and neither
	// policies nor answers nor documents
	Unread  int64 `json:"unread"`
	Same    int64 `json:"same"`    // compared hosts whose row of fetches shows that nothing changed
	Changed int64 `json:"changed"` // compared hosts with a change
	New     int64 `json:"new"`
	Gone    int64 `json:"gone"`
	Changes int64 `json:"changes"` // rows

	// Earlier are the runs that stand in for the first one, latest first, each with the
	// number of hosts that the first run could not read and that are compared with it.
	Earlier []journal.EarlierRun `json:"earlier"`

	BySeverity Severities `json:"hosts_by_severity"` // changed hosts
	Kinds      []Kind     `json:"kinds"`             // by severity and kind
	Profiles   []Profile  `json:"profiles"`          // by what happened to policies for any agent, under each profile
	Agents     []Agent    `json:"agents"`            // the same for each agent, most closed first
	Categories []Category `json:"categories"`        // the same for any agent of a category
	Words      []Words    `json:"words"`             // the same for each agent, by the template whose words the change is
	Uses       []Use      `json:"uses"`              // by what files state about each use, under each profile
	Identities []Identity `json:"identities"`        // by how they answer each identity, most turned away first
	Pages      []Identity `json:"pages"`             // by what each identity meets on a page, likewise
	Documents  []Document `json:"documents"`         // by which documents of consent they have
	Stated     []Stated   `json:"stated"`            // by what these state about each use
	Strata     []Stratum  `json:"strata"`            // by the rank in the later run
	// the most severe changes, one for a host and one for hosts that changed in the same way
	Examples []Example `json:"examples"`
	// hosts that opened a path to an agent, the best ranked first, one change for each
	Opened   []Example `json:"opened"`
	Together []Example `json:"together"` // ways in which several hosts changed, the commonest first
	Ways     int64     `json:"ways"`     // of which these are the first

	Expectations []*expect.Promise `json:"expectations,omitempty"`

	kinds   map[[2]string]*Kind
	closing *change.Counter
	strata  map[string]*Stratum
	ways    Ways
	pair    pairChanges
}

// pairChanges holds the changes of the current pair.
type pairChanges struct {
	examples exampleSet
	stratum  *Stratum // nil before the first change
	opened   *Example // the row that opens most, nil for none
	opens    summary.Move
	kinds    map[[2]string]bool
}

// Severities counts hosts, each once, by the most severe of their changes.
type Severities struct {
	Critical int64 `json:"critical"`
	Major    int64 `json:"major"`
	Minor    int64 `json:"minor"`
	Cosmetic int64 `json:"cosmetic"`
}

func (s *Severities) add(severity string) {
	switch severity {
	case change.Critical:
		s.Critical++
	case change.Major:
		s.Major++
	case change.Minor:
		s.Minor++
	case change.Cosmetic:
		s.Cosmetic++
	}
}

// Kind counts the changes of one kind and severity, and the hosts with any.
type Kind struct {
	Severity string `json:"severity"`
	Kind     string `json:"kind"`
	Hosts    int64  `json:"hosts"`
	Count    int64  `json:"count"` // rows
}

// Profile counts hosts by what happened to their policies for any agent under a
// profile.
type Profile struct {
	Profile string `json:"profile"`
	change.Totals
}

// Agent counts hosts by what happened to their policy for an agent.
type Agent struct {
	change.OfAgent
	change.Counts
}

// Words counts hosts by what happened to their policy for an agent in the words of a
// template, nil for the files' own.
type Words struct {
	Agent    string  `json:"agent"`
	Profile  string  `json:"profile"`
	Template *string `json:"template"`
	change.Counts
}

// Use counts hosts by what they state about a use.
type Use struct {
	change.OfUse
	change.UseCounts
}

// Identity counts hosts by how they answer an identity.
type Identity struct {
	Identity string `json:"identity"`
	change.IdentityCounts
}

// Document counts hosts by whether they have a document of consent.
type Document struct {
	Document string `json:"document"`
	change.DocumentCounts
}

// Stated counts hosts by what a document of consent states about a use.
type Stated struct {
	change.OfDocument
	change.StatedCounts
}

// Category counts hosts by what happened to their policies for any agent of a
// category.
type Category struct {
	change.OfCategory
	change.Counts
}

// Stratum counts the hosts of a band of ranks by most severe change.
type Stratum struct {
	Stratum  string `json:"stratum"`
	Compared int64  `json:"compared"`
	Changed  int64  `json:"changed"`
	Severities
}

func newResult(c Config, notes, profiles []string) *Result {
	return &Result{
		Before: c.Before, After: c.After, Notes: append([]string{}, notes...), Earlier: []journal.EarlierRun{},
		kinds:   make(map[[2]string]*Kind),
		closing: change.NewCounter(profiles), strata: make(map[string]*Stratum),
		pair: pairChanges{examples: make(exampleSet), kinds: make(map[[2]string]bool)},
	}
}

// settled counts a pair; compared reports whether its policies are compared.
func (r *Result) settled(p *pair, compared bool) {
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
		r.of(p.last().Rank).Compared++
	}
}

// of returns the stratum of a rank.
func (r *Result) of(rank *int64) *Stratum {
	name := summary.StratumOf(rank)
	if r.strata[name] == nil {
		r.strata[name] = &Stratum{Stratum: name}
	}
	return r.strata[name]
}

// add counts a row of changes.
func (r *Result) add(row *schema.Change) {
	r.Changes++
	kind := [2]string{row.Severity, row.Kind}
	if r.kinds[kind] == nil {
		r.kinds[kind] = &Kind{Severity: row.Severity, Kind: row.Kind}
	}
	r.kinds[kind].Count++
	r.pair.kinds[kind] = true
	r.pair.stratum = r.of(row.Rank)
	r.pair.examples.add(row)
	r.pair.open(row)
	r.ways.Add(row)
	r.closing.Add(row)
}

// endOfPair counts the current host.
func (r *Result) endOfPair() {
	best := r.pair.examples.worst()
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
	if shared := r.ways.EndOfHost(); shared != nil && isShared(best.Kind, best.Agent) {
		best.way = shared.way
	}
	clear(r.pair.examples)
	clear(r.pair.kinds)
	r.addExample(best)
	r.addOpened(r.pair.opened)
	r.pair.opened, r.pair.opens = nil, summary.Move{}
}

// open keeps a row that opens a path to an agent, if none that says more is kept: one that
// lets in an agent that was shut out, else one of a policy's class.
func (p *pairChanges) open(row *schema.Change) {
	m, ok := summary.MoveOf(row)
	if !ok || !m.Opens {
		return
	}
	if p.opened == nil || m.LetsIn && !p.opens.LetsIn || p.opened.Kind == "rules" && row.Kind != "rules" &&
		m.LetsIn == p.opens.LetsIn {
		p.opened, p.opens = &Example{Change: *row}, m
	}
}

// addOpened adds a host that opened to the best ranked of them.
func (r *Result) addOpened(x *Example) {
	if x == nil {
		return
	}
	x.Hosts = 1
	r.Opened = append(r.Opened, *x)
	slices.SortStableFunc(r.Opened, func(a, b Example) int { return summary.CompareRanks(a.Rank, b.Rank) })
	r.Opened = r.Opened[:min(len(r.Opened), MaxExamples)]
}

// addExample adds the weightiest change of a host to the examples. Hosts that changed in
// the same way have one example, the best-ranked of them.
func (r *Result) addExample(best *Example) {
	if best.way != 0 {
		i := slices.IndexFunc(r.Examples, func(e Example) bool { return e.way == best.way })
		if i >= 0 && summary.CompareRanks(best.Rank, r.Examples[i].Rank) >= 0 {
			return
		}
		if i >= 0 {
			r.Examples = slices.Delete(r.Examples, i, i+1)
		}
	}
	r.Examples = append(r.Examples, *best)
	slices.SortStableFunc(r.Examples,
		func(a, b Example) int { return cmp.Or(byWeight(&a, &b), summary.CompareRanks(a.Rank, b.Rank)) })
	r.Examples = r.Examples[:min(len(r.Examples), MaxExamples)]
}

// finish sorts the counters into lists.
func (r *Result) finish() {
	r.Kinds, r.Strata = []Kind{}, []Stratum{}
	if r.Examples == nil {
		r.Examples = []Example{}
	}
	for i := range r.Examples {
		r.Examples[i].Hosts = r.ways.hosts(&r.Examples[i])
	}
	if r.Opened == nil {
		r.Opened = []Example{}
	}
	r.Together, r.Ways = r.ways.Commonest(), r.ways.ofSeveral()
	for _, severity := range change.Severities {
		for _, kind := range change.Kinds {
			if k := r.kinds[[2]string{severity, kind}]; k != nil {
				r.Kinds = append(r.Kinds, *k)
			}
		}
	}
	closing := r.closing
	r.Profiles = listed(closing.Profiles, func(name string, n change.Totals) Profile { return Profile{name, n} },
		func(a, b *Profile) int { return cmp.Compare(a.Profile, b.Profile) })
	r.Agents = listed(closing.Agents, func(of change.OfAgent, n change.Counts) Agent { return Agent{of, n} },
		func(a, b *Agent) int {
			return cmp.Or(a.Compare(&b.Counts), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Profile, b.Profile))
		})
	r.Categories = listed(closing.Categories,
		func(of change.OfCategory, n change.Counts) Category { return Category{of, n} },
		func(a, b *Category) int {
			return cmp.Or(a.Compare(&b.Counts), cmp.Compare(a.Category, b.Category), cmp.Compare(a.Profile, b.Profile))
		})
	r.finishWords()
	r.Uses = listed(closing.Uses, func(of change.OfUse, n change.UseCounts) Use { return Use{of, n} },
		func(a, b *Use) int { return cmp.Or(cmp.Compare(a.Use, b.Use), cmp.Compare(a.Profile, b.Profile)) })
	r.Identities, r.Pages = identities(closing.Identities), identities(closing.Pages)
	r.Documents = listed(closing.Documents,
		func(name string, n change.DocumentCounts) Document { return Document{name, n} },
		func(a, b *Document) int { return cmp.Compare(a.Document, b.Document) })
	r.Stated = listed(closing.Stated, func(of change.OfDocument, n change.StatedCounts) Stated { return Stated{of, n} },
		func(a, b *Stated) int { return cmp.Or(cmp.Compare(a.Document, b.Document), cmp.Compare(a.Use, b.Use)) })
	for _, s := range summary.Strata {
		r.addStratum(s.Name)
	}
	r.addStratum(summary.Unranked)
}

// listed makes a sorted list of counts.
func listed[K comparable, N, R any](counts map[K]*N, row func(K, N) R, compare func(a, b *R) int) []R {
	out := []R{}
	for of, n := range counts {
		out = append(out, row(of, *n))
	}
	slices.SortFunc(out, func(a, b R) int { return compare(&a, &b) })
	return out
}

// finishWords sorts the counters of words, in the order of Agents.
func (r *Result) finishWords() {
	place := make(map[change.OfAgent]int)
	for i, a := range r.Agents {
		place[a.OfAgent] = i
	}
	words := r.closing.Words
	r.Words = []Words{}
	for _, w := range slices.SortedFunc(maps.Keys(words), func(a, b change.AgentWords) int {
		return cmp.Or(cmp.Compare(place[a.OfAgent], place[b.OfAgent]), words[a].Compare(words[b]),
			cmp.Compare(a.Template, b.Template))
	}) {
		r.Words = append(r.Words, Words{w.Agent, w.Profile, schema.NonZero(w.Template), *words[w]})
	}
}

// identities sorts counters of identities.
func identities(by map[string]*change.IdentityCounts) []Identity {
	return listed(by, func(name string, n change.IdentityCounts) Identity { return Identity{name, n} },
		func(a, b *Identity) int {
			return cmp.Or(cmp.Compare(b.TurnedAway, a.TurnedAway), cmp.Compare(a.Identity, b.Identity))
		})
}

func (r *Result) addStratum(name string) {
	if s := r.strata[name]; s != nil {
		r.Strata = append(r.Strata, *s)
	}
}
