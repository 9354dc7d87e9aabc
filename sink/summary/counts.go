package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// columns are the texts that tell one counter from another.
var columns = []string{"metric", "stratum", "agent", "category", "profile", "key"}

// labels are these texts by their numbers: thousands of counters have few texts.
type labels [6]uint32

// mostCounters bounds the counters that are told apart. A run has as many as
// agents and known keys make; more come from a forged part.
const mostCounters = 4 << 20

// Counts are additive counters: those of segments add up to those of a run.
type Counts struct {
	agents   []Agent
	profiles []string

	mu      sync.Mutex
	ids     map[string]uint32 // of texts
	texts   []string
	sums    map[labels]int64
	tallies map[string][]Tally // by stratum; index profile × agents + agent
}

// Agent is what counters say of an agent.
type Agent struct{ Name, Category string }

// Tally counts for one agent, profile and stratum what is counted for every
// target: arrays instead of labels, since there are thousands per target.
type Tally struct {
	Policies [classes]int64   // by class
	Explicit [classes]int64   // of these, with a group for the agent itself
	Fallback [classes]int64   // with one for an agent that it falls back to
	Versus   [relations]int64 // by how its group compares with the group for *
	Parted   [parts]int64     // by whether they differ from the first profile's
	Verdicts [values]int64
}

// New counts for agents and profiles, whose names differ. Without any it still
// adds up what others have counted.
func New(agents []Agent, profiles []string) *Counts {
	return &Counts{
		agents: agents, profiles: profiles,
		ids: map[string]uint32{"": 0}, texts: []string{""}, sums: make(map[labels]int64), tallies: make(map[string][]Tally),
	}
}

// id is the number of a text, which is copied if it is new.
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

// Add counts a key of a metric.
func (n *Counts) Add(metric, stratum, key string) { n.add(metric, stratum, "", "", "", key, 1) }

// AddProfile counts one under a profile, by its index.
func (n *Counts) AddProfile(metric, stratum string, profile int, key string) {
	n.add(metric, stratum, "", "", n.profiles[profile], key, 1)
}

// AddCategory counts one under a profile for a category of agents.
func (n *Counts) AddCategory(metric, stratum, category string, profile int, key string) {
	n.add(metric, stratum, "", category, n.profiles[profile], key, 1)
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

// settle moves the tallies to the other counters.
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
			move("versus_first", PartNames[:], t.Parted[:])
			move("verdict", ValueNames[:], t.Verdicts[:])
		}
	}
	clear(n.tallies)
}

// Merge adds other counters, of a segment or of parts, and leaves them with the
// same figures. Several may be merged at the same time.
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
	return n.bounded()
}

// Reset forgets all figures.
func (n *Counts) Reset() {
	clear(n.sums)
	clear(n.tallies)
}

// Count is one counter with its labels, "" for those that it has not.
type Count struct {
	Metric, Stratum, Agent, Category, Profile, Key string
	N                                              int64
}

// List gives the counters in one order, whatever the order in which they were
// counted.
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

// Rows are the counters as rows of the table summary.
func (n *Counts) Rows() []sink.Count {
	list := n.List()
	rows := make([]sink.Count, len(list))
	for i, c := range list {
		rows[i] = sink.Count{
			Metric: c.Metric, Stratum: c.Stratum, Agent: sink.NonZero(c.Agent), Category: sink.NonZero(c.Category),
			Profile: sink.NonZero(c.Profile), Key: sink.NonZero(c.Key), Count: c.N,
		}
	}
	return rows
}

func (n *Counts) selection() scan.Selection { return scan.Selection{Dictionaries: columns} }

// read adds the rows of a batch, whose texts are dictionaries.
func (n *Counts) read(_ int, batch arrow.RecordBatch) error {
	var texts [len(labels{})]*array.Dictionary
	var ids [len(labels{})][]uint32 // by index of the dictionary
	for k, name := range columns {
		texts[k] = scan.Column[*array.Dictionary](batch, name)
		all := texts[k].Dictionary().(*array.String)
		for i := range all.Len() {
			ids[k] = append(ids[k], n.id(all.Value(i)))
		}
	}
	counts := scan.Column[*array.Int64](batch, "count")
	for i := range int(batch.NumRows()) {
		var l labels
		for k, column := range texts {
			if column.IsValid(i) {
				l[k] = ids[k][column.GetValueIndex(i)]
			}
		}
		n.sums[l] += counts.Value(i)
	}
	return n.bounded()
}

func (n *Counts) bounded() error {
	if len(n.sums) > mostCounters {
		return fmt.Errorf("summary has more than %d different counters", mostCounters)
	}
	return nil
}
