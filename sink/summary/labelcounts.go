package summary

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// ReadByLabel adds up the counters by label of a run. Their strata are those of
// [LabelValue.Stratum]. A run without labels has none.
func ReadByLabel(ctx context.Context, s store.Store, m *journal.Manifest) (*Counts, error) {
	n, err := readTable(ctx, s, m, "label_counts", newLabelCounts)
	if err != nil {
		return nil, err
	}
	out := newCounts()
	ids := make([]uint32, len(n.kinds.texts))
	for i, text := range n.kinds.texts {
		ids[i] = out.id(text)
	}
	for v, sums := range n.sums {
		stratum := out.id(v.Stratum())
		for i, count := range sums {
			if count == 0 {
				continue
			}
			l := n.kinds.names[i]
			for k := range l {
				l[k] = ids[l[k]]
			}
			l[1] = stratum
			out.sums[out.counter(l)] += count
		}
	}
	return out, nil
}

// labelCounts are counters by label of parts. Thousands of values share the same counters,
// so each has its sums in their order.
type labelCounts struct {
	kinds *Counts // the counters, without strata, in any order; their own sums are 0
	next  []uint32
	sets  setReader
	sums  map[LabelValue][]int64
}

// mostLabelSums bounds the sums of all values: 512 MB.
const mostLabelSums = 16 * mostCounters

func newLabelCounts() *labelCounts {
	return &labelCounts{kinds: newCounts(), sums: make(map[LabelValue][]int64)}
}

func (n *labelCounts) fits(rows int64) error { return n.bounded(rows) }

func (n *labelCounts) bounded(sums int64) error {
	if sums > mostLabelSums {
		return fmt.Errorf("label_counts is %w: it has more than %d different counters", journal.ErrDamaged, mostLabelSums)
	}
	return nil
}

func (n *labelCounts) read(_ int, batch []schema.LabelCount) error {
	var now LabelValue
	var sums []int64
	last := -1 // the counter of the row before
	for i := range batch {
		c := &batch[i]
		metric, isOfSet := strings.CutPrefix(c.Metric, setPrefix)
		if isOfSet && metric == "" {
			if err := n.sets.number(c); err != nil {
				return err
			}
			continue
		}
		if c.Label != now.Label || c.Value != now.Value {
			n.put(now, sums)
			now = LabelValue{strings.Clone(c.Label), strings.Clone(c.Value)}
			sums = n.sums[now]
		}
		add := func(k uint32) error {
			if int(k) >= len(sums) {
				sums = append(sums, make([]int64, int(k)+1-len(sums))...)
			}
			sums[k] += c.Count
			return n.kinds.admit(c.Count)
		}
		var err error
		if isOfSet {
			err = n.sets.each(c, metric, n.kinds, add)
		} else {
			last = int(n.kind(c, last))
			err = add(uint32(last))
		}
		if err != nil {
			return err
		}
	}
	n.put(now, sums)
	return n.bounded(int64(len(n.sums)) * int64(len(n.kinds.names)))
}

func (n *labelCounts) put(v LabelValue, sums []int64) {
	if sums != nil {
		n.sums[v] = sums
	}
}

// kind returns the counter of a row, mostly the one that came after that of the row before
// when another value was read.
func (n *labelCounts) kind(c *schema.LabelCount, last int) uint32 {
	texts := [...]string{c.Metric, "", schema.OrZero(c.Agent), schema.OrZero(c.Category), schema.OrZero(c.Profile),
		schema.OrZero(c.Key)}
	if last >= 0 && last < len(n.next) && n.kinds.has(n.next[last], &texts) {
		return n.next[last]
	}
	k := n.kinds.counter(n.kinds.labels(texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]))
	for int(k) >= len(n.next) {
		n.next = append(n.next, 0)
	}
	if last >= 0 {
		n.next[last] = k
	}
	return k
}

// has reports whether a counter has the texts.
func (n *Counts) has(i uint32, texts *[len(labels{})]string) bool {
	for k, id := range n.names[i] {
		if n.texts[id] != texts[k] {
			return false
		}
	}
	return true
}

func (n *labelCounts) Merge(from *labelCounts) error {
	if len(from.sums) == 0 {
		return nil
	}
	if len(n.sums) == 0 {
		known := n.kinds.known
		*n = *from
		return n.kinds.admit(known)
	}
	ids, kinds := make([]uint32, len(from.kinds.texts)), make([]uint32, len(from.kinds.names))
	for i, text := range from.kinds.texts {
		ids[i] = n.kinds.id(text)
	}
	for i, l := range from.kinds.names {
		for k := range l {
			l[k] = ids[l[k]]
		}
		kinds[i] = n.kinds.counter(l)
	}
	for v, added := range from.sums {
		n.sums[v] = addSums(n.sums[v], added, func(i int) int { return int(kinds[i]) }, len(n.kinds.names))
	}
	if err := n.kinds.admit(from.kinds.known); err != nil {
		return err
	}
	return n.bounded(int64(len(n.sums)) * int64(len(n.kinds.names)))
}

// addSums adds sums to others, at other places.
func addSums(to, from []int64, at func(i int) int, size int) []int64 {
	if len(to) < size {
		to = append(to, make([]int64, size-len(to))...)
	}
	for i, n := range from {
		if n != 0 {
			to[at(i)] += n
		}
	}
	return to
}

// rows yields the counters as rows of the table label_counts, value by value, with at most
// [MostValues] values of a label. They are valid until the next ones.
func (n *labelCounts) rows() iter.Seq[[]schema.LabelCount] {
	n.fold()
	order := n.kinds.sorted(func(uint32) bool { return true })
	var rows []schema.LabelCount
	return func(yield func([]schema.LabelCount) bool) {
		for _, v := range n.values() {
			rows = rows[:0]
			sums := n.sums[v]
			for _, i := range order {
				if int(i) < len(sums) && sums[i] != 0 {
					rows = append(rows, n.kinds.labelCount(i, v, sums[i]))
				}
			}
			if len(rows) > 0 && !yield(rows) {
				return
			}
		}
	}
}

// values returns the values, sorted.
func (n *labelCounts) values() []LabelValue {
	return slices.SortedFunc(maps.Keys(n.sums), LabelValue.compare)
}

// fold adds the values of a label that are not among the most frequent to [Other].
func (n *labelCounts) fold() {
	targets := n.kinds.counter(n.kinds.labels("targets", "", "", "", "", ""))
	hosts := func(v LabelValue) int64 {
		if sums := n.sums[v]; int(targets) < len(sums) {
			return sums[targets]
		}
		return 0
	}
	byLabel := make(map[string][]LabelValue)
	for _, v := range n.values() {
		if v.Value != Other {
			byLabel[v.Label] = append(byLabel[v.Label], v)
		}
	}
	for label, all := range byLabel {
		if len(all) <= MostValues {
			continue
		}
		slices.SortStableFunc(all, func(a, b LabelValue) int { return cmp.Compare(hosts(b), hosts(a)) })
		other := LabelValue{label, Other}
		for _, v := range all[MostValues:] {
			n.sums[other] = addSums(n.sums[other], n.sums[v], func(i int) int { return i }, len(n.kinds.names))
			delete(n.sums, v)
		}
	}
}
