package summary

import (
	"cmp"
	"errors"
	"fmt"
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
	index   map[labels]uint32 // of counters in names and sums
	names   []labels
	sums    []int64
	tallies map[string][]Tally // per stratum, at profile × agents + agent
	hosts   *hosts             // what each host adds, nil unless the counters are wanted by label
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

// tallied are the metrics of a tally.
var tallied = []struct {
	metric string
	keys   []string
	of     func(*Tally) []int64
}{
	{"policy", ClassNames[:], func(t *Tally) []int64 { return t.Policies[:] }},
	{"policy_explicit", ClassNames[:], func(t *Tally) []int64 { return t.Explicit[:] }},
	{"policy_fallback", ClassNames[:], func(t *Tally) []int64 { return t.Fallback[:] }},
	{"policy_versus_star", RelationNames[:], func(t *Tally) []int64 { return t.Versus[:] }},
	{"versus_first", VersusFirstNames[:], func(t *Tally) []int64 { return t.VersusFirst[:] }},
	{"verdict", ValueNames[:], func(t *Tally) []int64 { return t.Verdicts[:] }},
}

// New returns empty counters for agents and profiles, whose names must be unique.
// Without agents and profiles it can only add up the counters of others.
func New(agents []schema.Agent, profiles []string) *Counts {
	return &Counts{
		agents: agents, profiles: profiles,
		ids: map[string]uint32{"": 0}, texts: []string{""}, index: make(map[labels]uint32), tallies: make(map[string][]Tally),
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

func (n *Counts) labels(metric, stratum, agent, category, profile, key string) labels {
	return labels{n.id(metric), n.id(stratum), n.id(agent), n.id(category), n.id(profile), n.id(key)}
}

// counter returns the index of a counter in sums.
func (n *Counts) counter(l labels) uint32 {
	i, ok := n.index[l]
	if !ok {
		i = uint32(len(n.names))
		n.index[l] = i
		n.names, n.sums = append(n.names, l), append(n.sums, 0)
	}
	return i
}

// add adds to a counter of the current host.
func (n *Counts) add(metric, stratum, category, profile, key string, count int64) {
	i := n.counter(n.labels(metric, stratum, "", category, profile, key))
	n.sums[i] += count
	if n.hosts != nil {
		n.hosts.add(i, count)
	}
}

// addAgent increments a counter of an agent, given by index.
func (n *Counts) addAgent(metric, stratum string, agent int, profile, key string) {
	i := n.counter(n.labels(metric, stratum, n.agents[agent].Name, n.agents[agent].Category, profile, key))
	n.sums[i]++
	if n.hosts != nil && agent < MostByLabel {
		n.hosts.add(i, 1)
	}
}

// Add increments the counter of a key.
func (n *Counts) Add(metric, stratum, key string) { n.AddN(metric, stratum, key, 1) }

// AddN adds count to the counter of a key.
func (n *Counts) AddN(metric, stratum, key string, count int64) {
	n.add(metric, stratum, "", "", key, count)
}

// AddProfile increments the counter of a key under a profile, given by index.
func (n *Counts) AddProfile(metric, stratum string, profile int, key string) {
	n.add(metric, stratum, "", n.profiles[profile], key, 1)
}

// AddCategory increments the counter of a key under a profile, given by index, for a
// category of agents.
func (n *Counts) AddCategory(metric, stratum, category string, profile int, key string) {
	n.add(metric, stratum, category, n.profiles[profile], key, 1)
}

// AddAgent increments the counter of a key under a profile for an agent, both given by
// index.
func (n *Counts) AddAgent(metric, stratum string, profile, agent int, key string) {
	n.addAgent(metric, stratum, agent, n.profiles[profile], key)
}

// AddOf increments the counter of a key for an agent, given by index, that no profile of
// the run decides.
func (n *Counts) AddOf(metric, stratum string, agent int, key string) {
	n.addAgent(metric, stratum, agent, "", key)
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
						n.sums[n.counter(n.labels(metric, stratum, agent.Name, agent.Category, profile, keys[k]))] += count
					}
				}
			}
			for _, m := range tallied {
				move(m.metric, m.keys, m.of(&tallies[i]))
			}
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
	for i, l := range from.names {
		if from.sums[i] == 0 {
			continue
		}
		for k := range l {
			l[k] = ids[l[k]]
		}
		n.sums[n.counter(l)] += from.sums[i]
	}
	if err := n.admit(from.known); err != nil {
		return err
	}
	return n.bounded()
}

// Reset sets all counters to zero.
func (n *Counts) Reset() {
	clear(n.sums)
	clear(n.tallies)
	if n.hosts != nil {
		n.hosts.reset()
	}
}

// Count is a counter with its labels; a label that it lacks is "".
type Count struct {
	Metric, Stratum, Agent, Category, Profile, Key string
	N                                              int64
}

// List returns the counters sorted by their labels.
func (n *Counts) List() []Count {
	n.settle()
	list := make([]Count, 0, len(n.names))
	for _, i := range n.sorted(func(i uint32) bool { return n.sums[i] != 0 }) {
		list = append(list, n.count(i, n.sums[i]))
	}
	return list
}

// sorted returns the indexes of the counters that are wanted, sorted by their labels.
func (n *Counts) sorted(wanted func(i uint32) bool) []uint32 {
	out := make([]uint32, 0, len(n.names))
	for i := range n.names {
		if wanted(uint32(i)) {
			out = append(out, uint32(i))
		}
	}
	slices.SortFunc(out, func(i, j uint32) int {
		a, b := &n.names[i], &n.names[j]
		for k := range a {
			if a[k] != b[k] {
				return cmp.Compare(n.texts[a[k]], n.texts[b[k]])
			}
		}
		return 0
	})
	return out
}

// count returns a counter by its index.
func (n *Counts) count(i uint32, of int64) Count {
	text := func(k int) string { return n.texts[n.names[i][k]] }
	return Count{text(0), text(1), text(2), text(3), text(4), text(5), of}
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
			c.Metric, c.Stratum, schema.OrZero(c.Agent), schema.OrZero(c.Category), schema.OrZero(c.Profile),
			schema.OrZero(c.Key),
		} {
			if text != n.texts[last[k]] {
				last[k] = n.id(text)
			}
		}
		if err := n.admit(c.Count); err != nil {
			return err
		}
		n.sums[n.counter(last)] += c.Count
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

func (n *Counts) bounded() error { return n.fits(int64(len(n.names))) }

// fits returns an error for more rows than there can be counters: a part has each once.
func (n *Counts) fits(rows int64) error {
	if most := cmp.Or(n.most, mostCounters); rows > int64(most) {
		return fmt.Errorf("summary is %w: it has more than %d different counters", journal.ErrDamaged, most)
	}
	return nil
}
