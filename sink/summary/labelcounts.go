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

// ReadByLabel adds up the counters of a run by some labels, in any case; nil for all. Of other
// labels, only hosts are counted. Strata are those of [LabelValue.Stratum]. A run without labels
// has none.
func ReadByLabel(ctx context.Context, s store.Store, m *journal.Manifest, labels []string) (*Counts, error) {
	n, err := readTable(ctx, s, m, "label_counts", func() *labelCounts {
		n := newLabelCounts()
		n.wanted = labels
		return n
	})
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
		for i, count := range sums.all() {
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
	wanted []string // labels, nil for all
	kinds  *Counts  // the counters, without strata, in any order; their own sums are 0
	next   []uint32
	sets   setReader
	sums   map[LabelValue]*labelSums
	held   int64 // sums that have room
}

// labelSums are the sums of a value, by counter. Many counters are of few values, so room is
// made for some at a time.
type labelSums struct{ pages []*[sumsOfPage]int64 }

const sumsOfPage = 32

// add adds to the sum of a counter, and returns for how many sums it made room.
func (s *labelSums) add(i uint32, n int64) (made int64) {
	at := int(i / sumsOfPage)
	if at >= len(s.pages) {
		s.pages = append(s.pages, make([]*[sumsOfPage]int64, at+1-len(s.pages))...)
	}
	if s.pages[at] == nil {
		s.pages[at], made = new([sumsOfPage]int64), sumsOfPage
	}
	s.pages[at][i%sumsOfPage] += n
	return made
}

func (s *labelSums) of(i uint32) int64 {
	if at := int(i / sumsOfPage); at < len(s.pages) && s.pages[at] != nil {
		return s.pages[at][i%sumsOfPage]
	}
	return 0
}

// all yields the sums that are not 0.
func (s *labelSums) all() iter.Seq2[uint32, int64] {
	return func(yield func(uint32, int64) bool) {
		for at, page := range s.pages {
			if page == nil {
				continue
			}
			for k, n := range page {
				if n != 0 && !yield(uint32(at*sumsOfPage+k), n) {
					return
				}
			}
		}
	}
}

// mostLabelSums bounds the sums of all values: 512 MB.
const mostLabelSums = 16 * mostCounters

func newLabelCounts() *labelCounts {
	return &labelCounts{kinds: newCounts(), sums: make(map[LabelValue]*labelSums)}
}

func (n *labelCounts) fits(rows int64) error { return bounded(rows) }

// bounded returns the error of more sums than there may be. [CheckLabels] refuses a run that
// would surely have more.
func bounded(sums int64) error {
	if sums > mostLabelSums {
		return fmt.Errorf("label_counts has more than %d different counters, or is %w: %s", mostLabelSums, journal.ErrDamaged,
			fewerLabels)
	}
	return nil
}

const fewerLabels = "leave out labels, or profiles, or agents"

// CheckLabels returns an error for values of labels that a run cannot count: each has one
// class of each agent under each profile at least.
func CheckLabels(values, agents, profiles int) error {
	least := int64(values) * int64(min(agents, MostByLabel)) * int64(profiles)
	if least <= mostLabelSums {
		return nil
	}
	return fmt.Errorf("%d values of labels × %d agents × %d profiles are %d counters, and a run has at most %d: %s",
		values, min(agents, MostByLabel), profiles, least, mostLabelSums, fewerLabels)
}

func (n *labelCounts) wants(label string) bool {
	return slices.ContainsFunc(n.wanted, func(wanted string) bool { return strings.EqualFold(wanted, label) })
}

// of returns the sums of a value.
func (n *labelCounts) of(v LabelValue) *labelSums {
	sums := n.sums[v]
	if sums == nil {
		sums = new(labelSums)
		n.sums[v] = sums
	}
	return sums
}

func (n *labelCounts) read(_ int, batch []schema.LabelCount) error {
	var now LabelValue
	var sums *labelSums
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
		if n.wanted != nil && metric != "targets" && !n.wants(c.Label) {
			continue
		}
		if sums == nil || c.Label != now.Label || c.Value != now.Value {
			now = LabelValue{strings.Clone(c.Label), strings.Clone(c.Value)}
			sums = n.of(now)
		}
		add := func(k uint32) error {
			n.held += sums.add(k, c.Count)
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
	return bounded(n.held)
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
		to := n.of(v)
		for i, count := range added.all() {
			n.held += to.add(kinds[i], count)
		}
		delete(from.sums, v)
		if err := bounded(n.held); err != nil {
			return err
		}
	}
	return n.kinds.admit(from.kinds.known)
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
				if count := sums.of(i); count != 0 {
					rows = append(rows, n.kinds.labelCount(i, v, count))
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
	hosts := func(v LabelValue) int64 { return n.sums[v].of(targets) }
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
			for i, count := range n.sums[v].all() {
				n.of(other).add(i, count)
			}
			delete(n.sums, v)
		}
	}
}
