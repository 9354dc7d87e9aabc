package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// The table label_counts is held against the hosts in labels that it counts, the policies of
// each agent, and the verdicts of all agents together. Which values of a label count apart is
// known to the run alone, as it follows from the user's list: those that label_counts has do, and
// the rest must be other.

// mostLabelled bounds the counters in memory, because parts may be forged: some 400 MB. With
// more of them, or more labels of a segment than maxTargets, label_counts is not checked.
const mostLabelled = 4 << 20

// labelled names a counter: of hosts (targets), policies or verdicts.
type labelled struct {
	metric              string
	value               summary.LabelValue
	agent, profile, key string
}

// labelCounts counts what label_counts should count.
type labelCounts struct {
	counters map[labelled]int64
	tooMany  bool
}

func (n *labelCounts) add(to map[labelled]int64, c labelled, count int64) {
	if to[c] += count; len(to) > mostLabelled {
		n.tooMany = true
		clear(to)
	}
}

// merge adds the counters of a segment.
func (n *labelCounts) merge(from *labelCounts) {
	for c, count := range from.counters {
		n.add(n.counters, c, count)
	}
	n.tooMany = n.tooMany || from.tooMany
}

// segmentLabels are the labels of a segment's targets, in the order of their seqs, and what
// the rows of these count.
type segmentLabels struct {
	seqs   []int64
	values []int32 // of labels, by number
	at     int     // the first label whose seq is not before that of the last row

	texts   map[string]int32 // numbers of texts, and of values as strata
	names   []string
	tallies map[tallied]int64
	counts  labelCounts

	seq      int64 // of the verdicts in verdicts, by profile and verdict
	verdicts []verdicts
}

// verdicts counts those of a target.
type verdicts struct {
	profile, verdict string
	n                int64
}

// tallied is a counter of policies or verdicts, with numbers for texts.
type tallied struct {
	label               int32 // of its value
	agent, profile, key int32
	isVerdict           bool
}

// labelsOf returns what a run's segments count by label, nil where nothing is to be held
// against it.
func labelsOf(m *journal.Manifest) *labelCounts {
	if !m.Complete() || len(m.PartsOf("label_counts")) == 0 || !slices.Contains(m.Tables, "labels") ||
		slices.ContainsFunc(m.Without, func(column string) bool {
			table, _, _ := strings.Cut(column, ".")
			return table == "labels" || table == "label_counts" || table == "policies" || table == "verdicts"
		}) {
		return nil
	}
	return &labelCounts{counters: make(map[labelled]int64)}
}

func newSegmentLabels() *segmentLabels {
	return &segmentLabels{texts: make(map[string]int32), tallies: make(map[tallied]int64),
		counts: labelCounts{counters: make(map[labelled]int64)}}
}

// label takes a row of labels.
func (s *segmentLabels) label(r *row) {
	v := summary.LabelValue{Label: strings.Clone(r.Label), Value: strings.Clone(schema.OrZero(r.Value))}
	s.counts.add(s.counts.counters, labelled{metric: "targets", value: v}, 1)
	if len(s.seqs) == maxTargets {
		s.counts.tooMany = true
	}
	if !s.counts.tooMany {
		s.seqs, s.values = append(s.seqs, r.Seq), append(s.values, s.number(v.Stratum()))
	}
}

// rewind begins a table.
func (s *segmentLabels) rewind() {
	s.flush()
	s.at = 0
}

// policy takes a row of policies.
func (s *segmentLabels) policy(r *row) {
	s.add(r.Seq, tallied{agent: s.number(schema.OrZero(r.Agent)), profile: s.number(schema.OrZero(r.Profile)),
		key: s.number(schema.OrZero(r.Class))}, 1)
}

// verdict takes a row of verdicts, and reports whether it has a verdict that the last target's
// rows before did not have. Most of the rows of a run are such rows, so those of a target are
// added up first.
func (s *segmentLabels) verdict(r *row) (isOther bool) {
	if r.Seq != s.seq {
		s.flush()
		s.seq = r.Seq
	}
	for i := range s.verdicts {
		if v := &s.verdicts[i]; v.verdict == *r.Verdict && v.profile == *r.Profile {
			v.n++
			return false
		}
	}
	s.verdicts = append(s.verdicts, verdicts{strings.Clone(*r.Profile), strings.Clone(*r.Verdict), 1})
	return true
}

// flush adds the verdicts of a target.
func (s *segmentLabels) flush() {
	for _, v := range s.verdicts {
		s.add(s.seq, tallied{profile: s.number(v.profile), key: s.number(v.verdict), isVerdict: true}, v.n)
	}
	s.verdicts = s.verdicts[:0]
}

// add adds to a counter of each value that a target has.
func (s *segmentLabels) add(seq int64, c tallied, n int64) {
	for s.at < len(s.seqs) && s.seqs[s.at] < seq {
		s.at++
	}
	for i := s.at; i < len(s.seqs) && s.seqs[i] == seq && !s.counts.tooMany; i++ {
		c.label = s.values[i]
		if s.tallies[c] += n; len(s.tallies) > mostLabelled {
			s.counts.tooMany = true
			clear(s.tallies)
		}
	}
}

func (s *segmentLabels) number(text string) int32 {
	n, ok := s.texts[text]
	if !ok {
		n = int32(len(s.names))
		text = strings.Clone(text)
		s.texts[text], s.names = n, append(s.names, text)
	}
	return n
}

// end returns what the segment counts.
func (s *segmentLabels) end() *labelCounts {
	s.flush()
	for c, count := range s.tallies {
		v, _ := summary.ParseLabelValue(s.names[c.label])
		l := labelled{"policy", v, s.names[c.agent], s.names[c.profile], s.names[c.key]}
		if c.isVerdict {
			l.metric, l.agent = "verdict", ""
		}
		s.counts.add(s.counts.counters, l, count)
	}
	return &s.counts
}

// counted takes a row of label_counts.
func (r *rowCheck) counted(c *row) {
	r.counter(c)
	if r.segment.counts == nil {
		return
	}
	l := labelled{c.Metric, summary.LabelValue{Label: c.Label, Value: schema.OrZero(c.Value)}, schema.OrZero(c.Agent),
		schema.OrZero(c.Profile), schema.OrZero(c.Key)}
	switch l.metric {
	case "targets", "policy":
	case "verdict":
		l.agent = ""
	default:
		return
	}
	l.metric, l.value = strings.Clone(l.metric),
		summary.LabelValue{Label: strings.Clone(l.value.Label), Value: strings.Clone(l.value.Value)}
	l.agent, l.profile, l.key = strings.Clone(l.agent), strings.Clone(l.profile), strings.Clone(l.key)
	r.segment.counts.add(r.segment.counts.counters, l, c.Count)
}

// otherLabels returns how label_counts differs from what the segments count, "" for not at all.
func otherLabels(has, counted *labelCounts, m *journal.Manifest) string {
	if has.tooMany || counted.tooMany {
		return ""
	}
	apart := make(map[summary.LabelValue]bool)
	agents := make(map[string]bool) // of a large registry the first ones count by label
	for c := range has.counters {
		switch c.metric {
		case "targets":
			apart[c.value] = true
		case "policy":
			agents[c.agent] = true
		}
	}
	want := make(map[labelled]int64)
	for c, n := range counted.counters {
		switch {
		case c.metric == "policy" && !slices.Contains(m.Tables, "policies"),
			c.metric == "verdict" && !slices.Contains(m.Tables, "verdicts"):
			continue
		case !apart[c.value]:
			c.value.Value = summary.Other
		}
		want[c] += n
	}
	left := 0
	for c := range want {
		if c.metric == "policy" && !agents[c.agent] {
			left++
		}
	}
	bySelf := func(a, b labelled) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.value.Stratum(), b.value.Stratum()),
			cmp.Compare(a.agent, b.agent), cmp.Compare(a.profile, b.profile), cmp.Compare(a.key, b.key))
	}
	all := maps.Clone(want)
	maps.Copy(all, has.counters)
	for _, c := range slices.SortedFunc(maps.Keys(all), bySelf) {
		switch {
		case c.metric == "policy" && (!agents[c.agent] && len(agents) >= summary.MostByLabel ||
			!slices.Contains(m.Tables, "policies")),
			c.metric == "verdict" && (left > 0 || !slices.Contains(m.Tables, "verdicts")):
			continue
		}
		if got, want := has.counters[c], want[c]; got != want {
			about := c.metric
			for _, text := range []string{c.agent, c.profile, c.key} {
				if text != "" {
					about += " " + fmt.Sprintf("%.64q", text)
				}
			}
			return fmt.Sprintf("counts %d of %s for %.64q of label %.64q, and the tables hold %d", got, about, c.value.Value,
				c.value.Label, want)
		}
	}
	return ""
}
