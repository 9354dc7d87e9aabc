package summary

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// labels are the texts that identify a counter (metric, stratum, agent, category, profile and
// key), as indices into Counts.texts: thousands of counters share few texts.
type labels [6]uint32

// SlowMicros is the duration in microseconds from which a fetch counts as slow, in
// the metrics that end with _slow.
const SlowMicros = 1_000_000

// mostCounters bounds the distinct counters. A run has no more than its agents and
// the known keys allow; only a forged part has more.
const mostCounters = 4 << 20

// Counts holds additive counters: those of segments add up to those of a run.
type Counts struct {
	agents   []schema.Agent
	profiles []string
	most     int   // bounds the distinct counters, 0 for mostCounters
	known    int64 // sum of the counters that were read of parts

	mu      sync.Mutex
	ids     map[string]uint32 // indices in texts
	texts   []string
	sums    map[labels]int64
	tallies map[string][]Tally // per stratum, at profile × agents + agent
}

// Tally holds the counters of one agent, profile and stratum that every target
// increments. It has arrays instead of labels, because there are thousands of
// increments per target.
type Tally struct {
	Policies    [classes]int64        // policies by class
	Explicit    [classes]int64        // those whose group names the agent
	Fallback    [classes]int64        // those whose group names a crawler that the agent falls back to
	Versus      [relations]int64      // own groups by their relation to the group for *
	VersusFirst [firstRelations]int64 // policies by their difference from the first profile
	Verdicts    [values]int64
}

// New returns empty counters for agents and profiles, whose names must be unique.
// Without agents and profiles it can only add up the counters of others.
func New(agents []schema.Agent, profiles []string) *Counts {
	return &Counts{
		agents: agents, profiles: profiles,
		ids: map[string]uint32{"": 0}, texts: []string{""}, sums: make(map[labels]int64), tallies: make(map[string][]Tally),
	}
}

// id returns the index of a text. It copies a new text.
func (n *Counts) id(text string) uint32 {
	if text == "" {
		return 0 // most labels of most counters
	}
	id, ok := n.ids[text]
	if !ok {
		id = uint32(len(n.texts))
		text = strings.Clone(text)
		n.ids[text] = id
		n.texts = append(n.texts, text)
	}
	return id
}

func (n *Counts) add(metric, stratum, agent, category, profile, key string, count int64) {
	n.sums[labels{n.id(metric), n.id(stratum), n.id(agent), n.id(category), n.id(profile), n.id(key)}] += count
}

// Add increments the counter of a key.
func (n *Counts) Add(metric, stratum, key string) { n.AddN(metric, stratum, key, 1) }

// AddN adds count to the counter of a key.
func (n *Counts) AddN(metric, stratum, key string, count int64) {
	n.add(metric, stratum, "", "", "", key, count)
}

// AddProfile increments the counter of a key under a profile, given by index.
func (n *Counts) AddProfile(metric, stratum string, profile int, key string) {
	n.add(metric, stratum, "", "", n.profiles[profile], key, 1)
}

// AddCategory increments the counter of a key under a profile, given by index, for a
// category of agents.
func (n *Counts) AddCategory(metric, stratum, category string, profile int, key string) {
	n.add(metric, stratum, "", category, n.profiles[profile], key, 1)
}

// AddAgent increments the counter of a key under a profile for an agent, both given by
// index.
func (n *Counts) AddAgent(metric, stratum string, profile, agent int, key string) {
	n.add(metric, stratum, n.agents[agent].Name, n.agents[agent].Category, n.profiles[profile], key, 1)
}

// AddOf increments the counter of a key for an agent, given by index, that no profile of
// the run decides.
func (n *Counts) AddOf(metric, stratum string, agent int, key string) {
	n.add(metric, stratum, n.agents[agent].Name, n.agents[agent].Category, "", key, 1)
}

// Of returns the tallies of a stratum under one profile, by index of the agent.
func (n *Counts) Of(stratum string, profile int) []Tally {
	all := n.tallies[stratum]
	if all == nil {
		all = make([]Tally, len(n.agents)*len(n.profiles))
		n.tallies[stratum] = all
	}
	return all[profile*len(n.agents):][:len(n.agents)]
}

// settle moves the tallies into sums.
func (n *Counts) settle() {
	for stratum, tallies := range n.tallies {
		for i := range tallies {
			agent, profile := n.agents[i%len(n.agents)], n.profiles[i/len(n.agents)]
			move := func(metric string, keys []string, counts []int64) {
				for k, count := range counts {
					if count > 0 {
						n.add(metric, stratum, agent.Name, agent.Category, profile, keys[k], count)
					}
				}
			}
			t := &tallies[i]
			move("policy", ClassNames[:], t.Policies[:])
			move("policy_explicit", ClassNames[:], t.Explicit[:])
			move("policy_fallback", ClassNames[:], t.Fallback[:])
			move("policy_versus_star", RelationNames[:], t.Versus[:])
			move("versus_first", VersusFirstNames[:], t.VersusFirst[:])
			move("verdict", ValueNames[:], t.Verdicts[:])
		}
	}
	clear(n.tallies)
}

// Merge adds the counters of from, which keep their values. It may be called
// concurrently.
func (n *Counts) Merge(from *Counts) error {
	from.settle()
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := make([]uint32, len(from.texts))
	for i, text := range from.texts {
		ids[i] = n.id(text)
	}
	for l, count := range from.sums {
		for k := range l {
			l[k] = ids[l[k]]
		}
		n.sums[l] += count
	}
	if err := n.admit(from.known); err != nil {
		return err
	}
	return n.bounded()
}

// Reset removes all counters.
func (n *Counts) Reset() {
	clear(n.sums)
	clear(n.tallies)
}

// Count is a counter with its labels; a label that it lacks is "".
type Count struct {
	Metric, Stratum, Agent, Category, Profile, Key string
	N                                              int64
}

// List returns the counters sorted by their labels.
func (n *Counts) List() []Count {
	n.settle()
	keys := slices.SortedFunc(maps.Keys(n.sums), func(a, b labels) int {
		for k := range a {
			if a[k] != b[k] {
				return cmp.Compare(n.texts[a[k]], n.texts[b[k]])
			}
		}
		return 0
	})
	list := make([]Count, len(keys))
	for i, l := range keys {
		text := func(k int) string { return n.texts[l[k]] }
		list[i] = Count{text(0), text(1), text(2), text(3), text(4), text(5), n.sums[l]}
	}
	return list
}

// Rows returns the counters as rows of the table summary.
func (n *Counts) Rows() []schema.Count {
	list := n.List()
	rows := make([]schema.Count, len(list))
	for i, c := range list {
		rows[i] = schema.Count{
			Metric: c.Metric, Stratum: c.Stratum, Agent: schema.NonZero(c.Agent), Category: schema.NonZero(c.Category),
			Profile: schema.NonZero(c.Profile), Key: schema.NonZero(c.Key), Count: c.N,
		}
	}
	return rows
}

// read adds the rows of a batch.
func (n *Counts) read(_ int, batch []schema.Count) error {
	var last labels // of the row before: rows are sorted by their labels
	for i := range batch {
		c := &batch[i]
		for k, text := range [...]string{
			c.Metric, c.Stratum, schema.OrZero(c.Agent), schema.OrZero(c.Category), schema.OrZero(c.Profile), schema.OrZero(c.Key),
		} {
			if text != n.texts[last[k]] {
				last[k] = n.id(text)
			}
		}
		if err := n.admit(c.Count); err != nil {
			return err
		}
		n.sums[last] += c.Count
	}
	return n.bounded()
}

// admit adds a counter, or several, of a part that somebody else may have written. It
// returns an error if no sum of the counters could be right.
func (n *Counts) admit(count int64) error {
	if count < 0 {
		return fmt.Errorf("summary has the counter %d, below zero", count)
	}
	if n.known > math.MaxInt64-count {
		return errors.New("summary has counters whose sum is above 2^63")
	}
	n.known += count
	return nil
}

func (n *Counts) bounded() error { return n.fits(int64(len(n.sums))) }

// fits returns an error for more rows than there can be counters: a part has each once.
func (n *Counts) fits(rows int64) error {
	if most := cmp.Or(n.most, mostCounters); rows > int64(most) {
		return fmt.Errorf("summary is %w: it has more than %d different counters", journal.ErrDamaged, most)
	}
	return nil
}
