package summary

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// setPrefix begins the metrics of rows that count the same for each agent of a set. Most
// agents are named nowhere, so that a value has a few different tallies, and writing and
// reading a row for each agent took most of the time of labels. Such rows are only in parts
// of segments, which nobody queries: [labelCounts] undoes them. A row whose metric is the
// prefix alone gives an agent the next number, from 0; these rows stand together, and sets
// follow them. In the other rows, the agent is a set of numbers, such as "0-14,17".
const setPrefix = "agents:"

// members returns the rows that number the agents.
func (n *Counts) members() []schema.LabelCount {
	rows := make([]schema.LabelCount, n.agentsByLabel())
	for i := range rows {
		a := &n.agents[i]
		rows[i] = schema.LabelCount{Metric: setPrefix, Agent: &a.Name, Category: schema.NonZero(a.Category)}
	}
	return rows
}

// agentSets puts agents with equal tallies together.
type agentSets struct {
	of   map[Tally]int // their places in sets
	sets [][]int       // agents, ascending
}

// find fills sets with the agents of tallies.
func (s *agentSets) find(tallies []Tally) {
	if s.of == nil {
		s.of = make(map[Tally]int)
	}
	clear(s.of)
	for i := range s.sets {
		s.sets[i] = s.sets[i][:0]
	}
	for i := range tallies {
		at, ok := s.of[tallies[i]]
		if !ok {
			if at = len(s.of); at == len(s.sets) {
				s.sets = append(s.sets, nil)
			}
			s.of[tallies[i]] = at
		}
		s.sets[at] = append(s.sets[at], i)
	}
}

// setText writes a set of numbers, which ascend.
func setText(set []int) string {
	var b strings.Builder
	for i := 0; i < len(set); {
		first := i
		for i++; i < len(set) && set[i] == set[i-1]+1; i++ {
		}
		if first > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(set[first]))
		if i-first > 1 {
			b.WriteString("-" + strconv.Itoa(set[i-1]))
		}
	}
	return b.String()
}

// parseSet appends the numbers of a set, which must ascend and be less than n.
func parseSet(set []int, text string, n int) ([]int, error) {
	for part := range strings.SplitSeq(text, ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if err == nil && isRange {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last < first || last >= n || len(set) > 0 && first <= set[len(set)-1] {
			return nil, fmt.Errorf("label_counts is %w: %q is no set of %d agents", journal.ErrDamaged, Clip([]byte(text)), n)
		}
		for i := first; i <= last; i++ {
			set = append(set, i)
		}
	}
	return set, nil
}

// tallied appends the counters of tallies, by profile and agent.
func (n *Counts) tallied(v LabelValue, tallies []Tally, sets *agentSets, rows []schema.LabelCount) []schema.LabelCount {
	agents := n.agentsByLabel()
	for p := range n.profiles {
		tallies := tallies[p*agents:][:agents]
		sets.find(tallies)
		for _, set := range sets.sets[:len(sets.of)] {
			text := setText(set)
			for i := range tallied {
				m := &tallied[i]
				for k, count := range m.of(&tallies[set[0]]) {
					if count > 0 {
						rows = append(rows, schema.LabelCount{
							Metric: setMetrics[i], Label: v.Label, Value: v.Value, Agent: &text, Profile: &n.profiles[p],
							Key: &m.keys[k], Count: count,
						})
					}
				}
			}
		}
	}
	return rows
}

// setMetrics are the metrics of tallies, for sets.
var setMetrics = func() (all []string) {
	for _, m := range tallied {
		all = append(all, setPrefix+m.metric)
	}
	return all
}()

// setReader reads the rows of sets.
type setReader struct {
	agents   []schema.Agent
	complete bool // all agents of the part are numbered
	left     int  // how many counters the part may have
	counters map[[3]string][]uint32
	set      []int
}

// mostInSets bounds the counters of the sets of one part, each counted as often as it stands
// there: a few seconds.
const mostInSets = 16 * mostLabelSums

// number reads a row that numbers an agent.
func (r *setReader) number(c *schema.LabelCount) error {
	if r.complete || r.agents == nil { // of another part
		*r = setReader{left: mostInSets}
	}
	if c.Agent == nil || len(r.agents) == MostByLabel {
		return fmt.Errorf("label_counts is %w: it numbers agents that are none, or too many", journal.ErrDamaged)
	}
	r.agents = append(r.agents, schema.Agent{Name: strings.Clone(*c.Agent),
		Category: strings.Clone(schema.OrZero(c.Category))})
	return nil
}

// each calls add with each counter that a row of a set stands for.
func (r *setReader) each(c *schema.LabelCount, metric string, n *Counts, add func(counter uint32) error) error {
	if r.complete = true; r.counters == nil {
		r.counters = make(map[[3]string][]uint32)
	}
	var err error
	if r.set, err = parseSet(r.set[:0], schema.OrZero(c.Agent), len(r.agents)); err != nil {
		return err
	}
	if r.left -= len(r.set); r.left < 0 {
		return fmt.Errorf("label_counts is %w: its sets of agents have more than %d counters", journal.ErrDamaged, mostInSets)
	}
	of := [3]string{metric, schema.OrZero(c.Profile), schema.OrZero(c.Key)}
	counters := r.counters[of]
	if counters == nil {
		counters = make([]uint32, len(r.agents))
		r.counters[of] = counters
	}
	for _, i := range r.set {
		if counters[i] == 0 {
			a := &r.agents[i]
			counters[i] = n.counter(n.labels(metric, "", a.Name, a.Category, of[1], of[2])) + 1
		}
		if err := add(counters[i] - 1); err != nil {
			return err
		}
	}
	return nil
}
