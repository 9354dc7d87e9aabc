package summary

import (
	"cmp"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/sink"
)

// label is all that tells one counter from another. Profile is an index from
// 1, 0 standing for none.
type label struct {
	metric, stratum, category string
	profile                   int
	key                       string
}

// Tally counts for one agent, profile and stratum what is counted for every
// target: arrays instead of labels, since there are thousands per target.
type Tally struct {
	Policies [classes]int64   // by class
	Explicit [classes]int64   // of these, with a group of the agent's own
	Fallback [classes]int64   // with one of an agent that it falls back to
	Versus   [relations]int64 // by how its own group compares with the group for *
	Parted   [parts]int64     // by whether they differ from the first profile's
	Verdicts [values]int64
}

// Counts are additive counters: those of segments add up to those of a run.
type Counts struct {
	agents   []Agent
	profiles []string
	index    map[string]int // of agents, by name

	mu      sync.Mutex
	counts  map[label]int64
	tallies map[string][]Tally // by stratum; index profile × agents + agent
}

// newCounts counts for agents and profiles, whose names differ.
func New(agents []Agent, profiles []string) *Counts {
	n := &Counts{agents: agents, profiles: profiles, index: make(map[string]int), counts: make(map[label]int64), tallies: make(map[string][]Tally)}
	for i, a := range agents {
		n.index[a.Name] = i
	}
	return n
}

// countedAgent is what counters say of an agent.
type Agent struct{ Name, Category string }

func (n *Counts) Add(metric, stratum, key string) {
	n.counts[label{metric: metric, stratum: stratum, key: key}]++
}

func (n *Counts) AddProfile(metric, stratum string, profile int, key string) {
	n.counts[label{metric: metric, stratum: stratum, profile: profile + 1, key: key}]++
}

func (n *Counts) AddCategory(metric, stratum, category string, profile int, key string) {
	n.counts[label{metric: metric, stratum: stratum, category: category, profile: profile + 1, key: key}]++
}

// Of is the tally of a stratum's agents under one profile.
func (n *Counts) Of(stratum string, profile int) []Tally {
	all := n.tallies[stratum]
	if all == nil {
		all = make([]Tally, len(n.agents)*len(n.profiles))
		n.tallies[stratum] = all
	}
	return all[profile*len(n.agents):][:len(n.agents)]
}

// Merge adds a segment's counters to the run's.
func (n *Counts) Merge(from *Counts) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l, count := range from.counts {
		n.counts[l] += count
	}
	for stratum, tallies := range from.tallies {
		for profile := range n.profiles {
			into := n.Of(stratum, profile)
			for i := range into {
				t := &tallies[profile*len(n.agents)+i]
				for k := range t.Policies {
					into[i].Policies[k] += t.Policies[k]
					into[i].Explicit[k] += t.Explicit[k]
					into[i].Fallback[k] += t.Fallback[k]
				}
				for k := range t.Versus {
					into[i].Versus[k] += t.Versus[k]
				}
				for k := range t.Parted {
					into[i].Parted[k] += t.Parted[k]
				}
				for k := range t.Verdicts {
					into[i].Verdicts[k] += t.Verdicts[k]
				}
			}
		}
	}
}

func (n *Counts) Reset() {
	clear(n.counts)
	clear(n.tallies)
}

// Count is one counter with its labels, "" for those that it has not.
type Count struct {
	Metric, Stratum, Agent, Category, Profile, Key string
	N                                              int64
}

// Rows are the counters as rows of `summary`.
func (n *Counts) Rows() []sink.Count {
	var rows []sink.Count
	for _, c := range n.List() {
		rows = append(rows, sink.Count{
			Metric: c.Metric, Stratum: c.Stratum, Agent: sink.NonZero(c.Agent), Category: sink.NonZero(c.Category),
			Profile: sink.NonZero(c.Profile), Key: sink.NonZero(c.Key), Count: c.N,
		})
	}
	return rows
}

// List gives the counters in one order, whatever the order in which they were
// counted. Counters of 0 are left out.
func (n *Counts) List() []Count {
	var rows []Count
	for l, count := range n.counts {
		row := Count{Metric: l.metric, Stratum: l.stratum, Category: l.category, Key: l.key, N: count}
		if l.profile > 0 {
			row.Profile = n.profiles[l.profile-1]
		}
		rows = append(rows, row)
	}
	for stratum, tallies := range n.tallies {
		for i := range tallies {
			agent, profile := n.agents[i%len(n.agents)], n.profiles[i/len(n.agents)]
			add := func(metric, key string, count int64) {
				if count > 0 {
					rows = append(rows, Count{
						Metric: metric, Stratum: stratum, Agent: agent.Name, Category: agent.Category,
						Profile: profile, Key: key, N: count,
					})
				}
			}
			for k := range classes {
				add("policy", ClassNames[k], tallies[i].Policies[k])
				add("policy_explicit", ClassNames[k], tallies[i].Explicit[k])
				add("policy_fallback", ClassNames[k], tallies[i].Fallback[k])
			}
			for k := range relations {
				add("policy_versus_star", RelationNames[k], tallies[i].Versus[k])
			}
			for k := range parts {
				add("versus_first", PartNames[k], tallies[i].Parted[k])
			}
			for k := range values {
				add("verdict", ValueNames[k], tallies[i].Verdicts[k])
			}
		}
	}
	slices.SortFunc(rows, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Stratum, b.Stratum), cmp.Compare(a.Agent, b.Agent),
			cmp.Compare(a.Category, b.Category), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Key, b.Key))
	})
	return rows
}

// Bin is the key of a value of a distribution.
func Bin(n int64) string { return sink.BinOf(n).String() }

// Restore adds a row of summary.
func (n *Counts) Restore(row sink.Count) {
	text := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	profile, key := slices.Index(n.profiles, text(row.Profile)), text(row.Key)
	if row.Agent == nil {
		n.counts[label{metric: row.Metric, stratum: row.Stratum, category: text(row.Category), profile: profile + 1, key: key}] += row.Count
		return
	}
	agent, ok := n.index[*row.Agent]
	if !ok || profile < 0 {
		return // the run would have been refused
	}
	t := &n.Of(row.Stratum, profile)[agent]
	class, value, relation := slices.Index(ClassNames[:], key), slices.Index(ValueNames[:], key), slices.Index(RelationNames[:], key)
	part := slices.Index(PartNames[:], key)
	switch {
	case row.Metric == "policy" && class >= 0:
		t.Policies[class] += row.Count
	case row.Metric == "policy_explicit" && class >= 0:
		t.Explicit[class] += row.Count
	case row.Metric == "policy_fallback" && class >= 0:
		t.Fallback[class] += row.Count
	case row.Metric == "policy_versus_star" && relation >= 0:
		t.Versus[relation] += row.Count
	case row.Metric == "versus_first" && part >= 0:
		t.Parted[part] += row.Count
	case row.Metric == "verdict" && value >= 0:
		t.Verdicts[value] += row.Count
	}
}
