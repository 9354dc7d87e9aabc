package diff

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// An outage must not hide a change. If the first run could not read a host that the
// second one read, the state before is that of the latest earlier run that read it. A
// run that does not have the host is passed over. A host that the first run does not
// have is new, whatever earlier runs say: a list is not an outage.

// mostEarlier bounds the runs that are searched. Hosts that were never read before lead
// through all of them.
const mostEarlier = 16

// hidden reports whether the earlier row hides the state of a host that the later one
// shows: the host could not be read, or not by the later row's scheme.
func (p *pair) hidden() bool {
	a, b := p.sides[0], p.sides[1]
	if a == nil || b == nil || change.Unreachable(b.Reason) {
		return false
	}
	return change.Unreachable(a.Reason) || a.Origin != b.Origin && a.Fallback != ""
}

// stateOf returns the row of an earlier run that holds the state before b; rows are
// those of the host. over reports whether runs before that one say nothing more: this
// one read the host, if perhaps by a scheme that the later run gave up.
func stateOf(rows []*records.Fetched, b *records.Fetched) (row *records.Fetched, over bool) {
	if b.IsBare() {
		rows = slices.DeleteFunc(slices.Clone(rows), func(f *records.Fetched) bool { return !f.IsBare() })
	}
	for _, p := range pairsOf(rows, []*records.Fetched{b}) {
		if p.sides[0] == nil || p.sides[1] == nil {
			continue
		}
		switch {
		case p.seen():
			return p.sides[0], true
		case !p.hidden():
			return nil, true
		}
	}
	return nil, false
}

// hiddenPairs holds pairs whose earlier row hides the state before, by host.
type hiddenPairs struct {
	*store.Sorter
	hosts hostSet
	count int64
}

func (d *differ) newHidden() *hiddenPairs {
	return &hiddenPairs{Sorter: d.sorter(), hosts: newHostSet()}
}

// add adds pair n.
func (h *hiddenPairs) add(p *pair, n int64) error {
	var value records.Encoder
	value.Ordered(n)
	p.encode(&value)
	h.hosts.add(p.last().Host)
	h.count++
	return h.Sorter.Add(p.last().Key(), value)
}

// each calls f for each pair in the order of hosts.
func (h *hiddenPairs) each(ctx context.Context, f func(p *pair, n int64) error) error {
	defer h.Close()
	m, err := h.Sorted()
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		_, value, err := m.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		k := records.Decoder(value)
		n := k.Ordered()
		if err := f(decodePair(k), n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// looksBack reports whether earlier runs are searched: the runs are in order, and the
// first profile takes the same answers for an outage in both.
func (d *differ) looksBack() bool { return d.SameReading && d.SameAnswers && d.Between.Reversed == "" }

// lookBack finds the state before of hidden pairs in earlier runs, and settles them.
func (d *differ) lookBack(ctx context.Context) error {
	runs, err := d.before()
	if err != nil {
		return err
	}
	for opened := 0; len(runs) > 0 && d.hidden.count > 0 && opened < mostEarlier; runs = runs[1:] {
		if !d.mayStandIn(runs[0]) {
			continue
		}
		opened++
		e, err := d.standIn(ctx, runs[0].Run)
		if err == nil && e != nil {
			d.hidden, err = d.lookIn(ctx, e, d.hidden)
		}
		if err != nil {
			return fmt.Errorf("look in run %s for hosts that run %s could not read: %w", runs[0].Run, d.Before, err)
		}
	}
	return d.hidden.each(ctx, d.settle)
}

// before returns the complete runs before the first one, latest first, without their
// parts.
func (d *differ) before() ([]*journal.Manifest, error) {
	if d.hidden.count == 0 {
		return nil, nil
	}
	runs, err := journal.CompleteRuns(d.In)
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(runs, func(m *journal.Manifest) bool { return m.Run == d.Before })
	runs = runs[:max(first, 0)]
	slices.Reverse(runs)
	return runs, nil
}

// mayStandIn reports whether a run may stand in for the first one, by its manifest
// without its parts: it has the tables and profiles that are compared.
func (d *differ) mayStandIn(m *journal.Manifest) bool {
	a := d.Runs[0]
	needs := []string{"fetches"}
	for _, t := range d.tables {
		needs = append(needs, records.DetailTables[t])
	}
	return m.SchemaVersion == a.SchemaVersion && m.FirstProfile() == a.FirstProfile() && isWithin(needs, m.Tables) &&
		isWithin(d.Common, m.Profiles) && isWithin(d.Others, m.Profiles) && isWithin(m.Without, a.Without)
}

// standIn returns the comparison of an earlier run with the second one, or nil if it
// cannot show all that the comparison of the first one shows: agents excepted, which
// come and go.
func (d *differ) standIn(ctx context.Context, run string) (*differ, error) {
	r, err := past.Read(ctx, d.In, run)
	if err != nil {
		return nil, err
	}
	e := &differ{Config: d.Config, names: d.names, write: d.write, result: d.result, checker: d.checker}
	e.Runs = [2]*past.Run{r, d.Runs[1]}
	e.Before = run
	e.plan()
	switch {
	case !e.looksBack(), !isWithin(e.Between.Tables, d.Between.Tables), !isWithin(e.Between.Asked, d.Between.Asked):
		return nil, nil
	case !isWithin(d.Common, e.Common), !isWithin(d.Others, slices.Concat(e.Common, e.Others)):
		return nil, nil
	case d.Between.Labels() == "" && e.Between.Labels() != "":
		return nil, nil
	case d.rules == nil:
		e.rules = nil
	case e.rules == nil || d.rules.bodies && !e.rules.bodies:
		return nil, nil
	}
	e.tables = d.tables
	for i := range e.beside {
		e.beside[i] = e.beside[i] && d.beside[i]
	}
	e.beside[records.OfAnswers] = e.beside[records.OfAnswers] && (controlled(r) || !controlled(d.Runs[0]))
	if d.Expect != nil {
		e.Files = e.rules.under()
		if err := d.checker.StandIn(ctx, d.In, &e.Comparison, &d.Comparison); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// isWithin reports whether all elements of some are among those of all.
func isWithin[T comparable](some, all []T) bool {
	return !slices.ContainsFunc(some, func(x T) bool { return !slices.Contains(all, x) })
}

// without returns the agents that the first run and the second one judge, and that are
// not compared with this earlier one.
func (d *differ) without(e *differ) (agents []string) {
	for _, name := range slices.Sorted(maps.Keys(e.Runs[1].Category)) {
		_, first := d.Runs[0].Category[name]
		_, earlier := e.Runs[0].Category[name]
		if first && (!earlier || e.Redefined[name] && e.rules == nil) {
			agents = append(agents, name)
		}
	}
	return agents
}

// lookIn settles the hidden pairs whose state before a run shows, and returns the rest.
func (d *differ) lookIn(ctx context.Context, e *differ, hidden *hiddenPairs) (*hiddenPairs, error) {
	byHost := d.sorter()
	defer byHost.Close()
	if err := d.readFetches(ctx, e.Runs[0], hidden.hosts.has, byHost); err != nil {
		return nil, err
	}
	rows, err := newHostReader(byHost)
	if err != nil {
		return nil, err
	}
	rest := d.newHidden()
	var of []*records.Fetched // the rows of host
	host, found := "", false
	err = hidden.each(ctx, func(p *pair, n int64) error {
		b := p.sides[1]
		for host != b.Host {
			if rows.next == nil || rows.next.Host > b.Host {
				host, of = b.Host, nil
				break
			}
			host = rows.next.Host
			var err error
			if of, err = rows.take(host); err != nil {
				return err
			}
		}
		row, over := stateOf(of, b)
		switch {
		case !over:
			return rest.add(p, n)
		case row != nil:
			if !found {
				found = true
				d.earlier, d.result.Earlier = append(d.earlier, e),
					append(d.result.Earlier, journal.EarlierRun{Run: e.Before, Without: d.without(e)})
			}
			p.outage, p.sides[0], p.from = p.sides[0], row, len(d.earlier)
		}
		return d.settle(p, n)
	})
	return rest, err
}

// A hostSet holds hosts in a fixed megabyte. It may have hosts that nobody added.
type hostSet struct {
	seed maphash.Seed
	bits []uint64
}

func newHostSet() hostSet { return hostSet{maphash.MakeSeed(), make([]uint64, 1<<17)} }

func (s hostSet) place(host string) (word uint64, bit uint64) {
	h := maphash.String(s.seed, host)
	return h >> 6 % uint64(len(s.bits)), 1 << (h & 63)
}

func (s hostSet) add(host string) {
	word, bit := s.place(host)
	s.bits[word] |= bit
}

func (s hostSet) has(host string) bool {
	word, bit := s.place(host)
	return s.bits[word]&bit != 0
}
