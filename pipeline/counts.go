package pipeline

import (
	"cmp"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/sink"
)

// strata are exclusive bands of rank, so that counts over them add up.
var strata = []struct {
	last int64
	name string
}{
	{1_000, "1-1000"}, {10_000, "1001-10000"}, {100_000, "10001-100000"},
	{1_000_000, "100001-1000000"}, {10_000_000, "1000001-10000000"},
	{1<<63 - 1, "10000001-"},
}

const unranked = "unranked"

func stratumOf(rank *int64) string {
	if rank == nil {
		return unranked
	}
	for _, s := range strata {
		if *rank <= s.last {
			return s.name
		}
	}
	return unranked
}

// label is all that tells one counter from another. Profile is an index from
// 1, 0 standing for none.
type label struct {
	metric, stratum, category string
	profile                   int
	key                       string
}

// tally counts for one agent, profile and stratum what is counted for every
// target: arrays instead of labels, since there are thousands per target.
type tally struct {
	policies [classes]int64 // by class
	explicit [classes]int64 // of these, with a group of the agent's own
	fallback [classes]int64 // with one of an agent that it falls back to
	versus   [relations]int64
	verdicts [values]int64
}

// Counts are additive counters: those of segments add up to those of a run.
type Counts struct {
	agents   []Agent
	profiles []string

	mu      sync.Mutex
	counts  map[label]int64
	tallies map[string][]tally // by stratum; index profile × agents + agent
}

func newCounts(c Config) *Counts {
	n := &Counts{agents: c.Agents, counts: make(map[label]int64), tallies: make(map[string][]tally)}
	for _, p := range c.Profiles {
		n.profiles = append(n.profiles, p.Name)
	}
	return n
}

func (n *Counts) add(metric, stratum, key string) {
	n.counts[label{metric: metric, stratum: stratum, key: key}]++
}

func (n *Counts) addProfile(metric, stratum string, profile int, key string) {
	n.counts[label{metric: metric, stratum: stratum, profile: profile + 1, key: key}]++
}

func (n *Counts) addCategory(metric, stratum, category string, profile int, key string) {
	n.counts[label{metric: metric, stratum: stratum, category: category, profile: profile + 1, key: key}]++
}

// of is the tally of a stratum's agents under one profile.
func (n *Counts) of(stratum string, profile int) []tally {
	all := n.tallies[stratum]
	if all == nil {
		all = make([]tally, len(n.agents)*len(n.profiles))
		n.tallies[stratum] = all
	}
	return all[profile*len(n.agents):][:len(n.agents)]
}

// merge adds a segment's counters to the run's.
func (n *Counts) merge(from *Counts) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for l, count := range from.counts {
		n.counts[l] += count
	}
	for stratum, tallies := range from.tallies {
		for profile := range n.profiles {
			into := n.of(stratum, profile)
			for i := range into {
				t := &tallies[profile*len(n.agents)+i]
				for k := range t.policies {
					into[i].policies[k] += t.policies[k]
					into[i].explicit[k] += t.explicit[k]
					into[i].fallback[k] += t.fallback[k]
				}
				for k := range t.versus {
					into[i].versus[k] += t.versus[k]
				}
				for k := range t.verdicts {
					into[i].verdicts[k] += t.verdicts[k]
				}
			}
		}
	}
}

func (n *Counts) reset() {
	clear(n.counts)
	clear(n.tallies)
}

// Count is one counter with its labels, "" for those that it has not.
type Count struct {
	Metric, Stratum, Agent, Category, Profile, Key string
	Count                                          int64
}

// rows are the counters as rows of `summary`.
func (n *Counts) rows() []sink.Count {
	var rows []sink.Count
	for _, c := range n.List() {
		rows = append(rows, sink.Count{
			Metric: c.Metric, Stratum: c.Stratum, Agent: sink.NonZero(c.Agent), Category: sink.NonZero(c.Category),
			Profile: sink.NonZero(c.Profile), Key: sink.NonZero(c.Key), Count: c.Count,
		})
	}
	return rows
}

// List gives the counters in one order, whatever the order in which they were
// counted. Counters of 0 are left out.
func (n *Counts) List() []Count {
	var rows []Count
	for l, count := range n.counts {
		row := Count{Metric: l.metric, Stratum: l.stratum, Category: l.category, Key: l.key, Count: count}
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
						Profile: profile, Key: key, Count: count,
					})
				}
			}
			for k := range classes {
				add("policy", classNames[k], tallies[i].policies[k])
				add("policy_explicit", classNames[k], tallies[i].explicit[k])
				add("policy_fallback", classNames[k], tallies[i].fallback[k])
			}
			for k := range relations {
				add("policy_versus_star", relationNames[k], tallies[i].versus[k])
			}
			for k := range values {
				add("verdict", valueNames[k], tallies[i].verdicts[k])
			}
		}
	}
	slices.SortFunc(rows, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Stratum, b.Stratum), cmp.Compare(a.Agent, b.Agent),
			cmp.Compare(a.Category, b.Category), cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.Key, b.Key))
	})
	return rows
}

// bin is the key of a value of a distribution.
func bin(n int64) string { return sink.BinOf(n).String() }
