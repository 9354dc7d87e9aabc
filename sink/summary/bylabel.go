package summary

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// Counters by label. Counting every host again for each of its labels would take as much
// time as counting it; so what a host adds to the counters is kept until the segment ends,
// and then added up for all hosts of each value.

// MostByLabel bounds the agents that are counted by label, for registries of any size: those
// that come first.
const MostByLabel = 1000

// MostValues is the number of values of a label that are counted apart; the rest is [Other].
const MostValues = 1000

// LabelValue is a value of a label.
type LabelValue struct{ Label, Value string }

// Stratum returns what stands for the value where bands of rank have their name: no label has
// the character "=".
func (v LabelValue) Stratum() string { return v.Label + "=" + v.Value }

func (v LabelValue) compare(other LabelValue) int {
	return cmp.Or(strings.Compare(v.Label, other.Label), strings.Compare(v.Value, other.Value))
}

// ParseLabelValue reads what [LabelValue.Stratum] returns. ok is false for a band of rank.
func ParseLabelValue(stratum string) (v LabelValue, ok bool) {
	v.Label, v.Value, ok = strings.Cut(stratum, "=")
	return v, ok && v.Label != ""
}

// hosts is what the hosts of a segment add to the counters.
type hosts struct {
	all        []host
	increments []increment // of all hosts, one after the other
	places     []uint32    // per counter: its place in increments, plus 1, for the last host that has it
	marks      [][]Mark    // of the hosts that were judged, by profile and agent
	judged     int         // how many of marks are in use
	of         map[LabelValue][]uint32
}

type host struct {
	from  uint32 // where its increments begin
	marks int    // the place of its marks, -1 for none
}

type increment struct {
	counter uint32
	n       int64
}

// Mark is what one agent adds to its tally for a host.
type Mark struct {
	Class       uint8
	Match       robots.Match
	Versus      uint8 // index of the relation plus 1, 0 for none
	VersusFirst uint8 // likewise
	Verdicts    [values]uint32
}

// Add adds a mark.
func (t *Tally) Add(m *Mark) {
	t.Policies[m.Class]++
	switch m.Match {
	case robots.OwnGroup:
		t.Explicit[m.Class]++
	case robots.FallbackGroup:
		t.Fallback[m.Class]++
	}
	if m.Versus > 0 {
		t.Versus[m.Versus-1]++
	}
	if m.VersusFirst > 0 {
		t.VersusFirst[m.VersusFirst-1]++
	}
	for v, n := range m.Verdicts {
		t.Verdicts[v] += int64(n)
	}
}

// KeepHosts keeps what hosts add, for [Counts.EachByLabel].
func (n *Counts) KeepHosts() {
	if n.hosts == nil { // else [Counts.Reset] has emptied it, and left its memory
		n.hosts = &hosts{of: make(map[LabelValue][]uint32)}
	}
}

// BeginHost begins the next host: what is added is its, until the next one begins. Without
// [Counts.KeepHosts] it does nothing.
func (n *Counts) BeginHost(values []LabelValue) {
	h := n.hosts
	if h == nil {
		return
	}
	for _, v := range values {
		h.of[v] = append(h.of[v], uint32(len(h.all)))
	}
	h.all = append(h.all, host{uint32(len(h.increments)), -1})
}

// Mark keeps the mark of an agent under a profile, both given by index, for the host that
// was begun. Without [Counts.KeepHosts] it does nothing.
func (n *Counts) Mark(profile, agent int, m *Mark) {
	h, agents := n.hosts, n.agentsByLabel()
	if h == nil || agent >= agents {
		return
	}
	now := &h.all[len(h.all)-1]
	if now.marks < 0 {
		if now.marks = h.judged; now.marks == len(h.marks) {
			h.marks = append(h.marks, make([]Mark, agents*len(n.profiles)))
		}
		h.judged++
	}
	h.marks[now.marks][profile*agents+agent] = *m
}

func (n *Counts) agentsByLabel() int { return min(len(n.agents), MostByLabel) }

// add adds to a counter of the current host: the counter has one place, however often a
// file makes us add to it.
func (h *hosts) add(counter uint32, count int64) {
	if int(counter) >= len(h.places) {
		h.places = append(h.places, make([]uint32, int(counter)+1-len(h.places))...)
	}
	if at := h.places[counter]; at > h.all[len(h.all)-1].from {
		h.increments[at-1].n += count
		return
	}
	h.increments = append(h.increments, increment{counter, count})
	h.places[counter] = uint32(len(h.increments))
}

func (h *hosts) reset() {
	h.all, h.increments, h.judged = h.all[:0], h.increments[:0], 0
	clear(h.places)
	clear(h.of)
}

// incrementsOf returns those of a host.
func (h *hosts) incrementsOf(i uint32) []increment {
	to := len(h.increments)
	if int(i)+1 < len(h.all) {
		to = int(h.all[i+1].from)
	}
	return h.increments[h.all[i].from:to]
}

// EachByLabel calls yield with the counters of each value of a label, in the order of labels
// and values, as a part of a segment has them: see [setPrefix]. The rows are valid until
// yield returns.
func (n *Counts) EachByLabel(yield func([]schema.LabelCount) error) error {
	h := n.hosts
	if h == nil {
		return nil
	}
	whole := n.withoutStrata()
	isWhole := make([]bool, len(n.names))
	for _, i := range whole {
		isWhole[i] = true
	}
	order := n.sorted(func(i uint32) bool { return isWhole[i] })
	sums, tallies := make([]int64, len(n.names)), make([]Tally, n.agentsByLabel()*len(n.profiles))
	var rows []schema.LabelCount
	var sets agentSets
	numbered := false
	for _, v := range slices.SortedFunc(maps.Keys(h.of), LabelValue.compare) {
		isJudged := false
		for _, i := range h.of[v] {
			for _, x := range h.incrementsOf(i) {
				sums[whole[x.counter]] += x.n
			}
			if at := h.all[i].marks; at >= 0 {
				isJudged = true
				for k := range tallies {
					tallies[k].Add(&h.marks[at][k])
				}
			}
		}
		rows = rows[:0]
		for _, i := range order {
			if sums[i] == 0 {
				continue
			}
			rows = append(rows, n.labelCount(i, v, sums[i]))
			sums[i] = 0
		}
		if isJudged {
			if !numbered {
				rows, numbered = append(rows, n.members()...), true
			}
			rows = n.tallied(v, tallies, &sets, rows)
			clear(tallies)
		}
		if err := yield(rows); err != nil {
			return err
		}
	}
	return nil
}

// withoutStrata returns, per counter, the one for all strata.
func (n *Counts) withoutStrata() []uint32 {
	whole := make([]uint32, len(n.names), 2*len(n.names))
	for i := range whole {
		l := n.names[i]
		l[1] = 0
		whole[i] = n.counter(l)
	}
	return whole
}

// labelCount returns the row of a counter for a value of a label.
func (n *Counts) labelCount(i uint32, v LabelValue, count int64) schema.LabelCount {
	l := &n.names[i]
	return schema.LabelCount{
		Metric: n.texts[l[0]], Label: v.Label, Value: v.Value, Agent: n.textOf(l[2]), Category: n.textOf(l[3]),
		Profile: n.textOf(l[4]), Key: n.textOf(l[5]), Count: count,
	}
}

func (n *Counts) textOf(id uint32) *string {
	if id == 0 {
		return nil
	}
	return &n.texts[id]
}
