package diff

import (
	"cmp"
	"context"
	"io"
	"iter"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// A pair is an origin with its row of fetches in each run.
type pair struct {
	sides [2]*records.Fetched // nil if the run does not have the origin
	rows  [2]records.Rows

	// If the first run could not read the host and an earlier one could, sides[0] is the
	// row of that one.
	from   int              // 0, or the index in differ.earlier plus 1
	outage *records.Fetched // the row of the first run, nil if that is sides[0]
}

// last returns the row of the later run, or that of the earlier one if the later
// run does not have the origin.
func (p *pair) last() *records.Fetched {
	if p.sides[1] != nil {
		return p.sides[1]
	}
	return p.sides[0]
}

func (p *pair) encode(e *records.Encoder) {
	e.Uint(uint64(p.from))
	for _, f := range []*records.Fetched{p.sides[0], p.sides[1], p.outage} {
		if f == nil {
			e.Uint(0)
			continue
		}
		e.Uint(1)
		f.Encode(e)
	}
}

func decodePair(b []byte) *pair {
	d, p := records.Decoder(b), &pair{}
	p.from = int(d.Uint())
	for _, f := range []**records.Fetched{&p.sides[0], &p.sides[1], &p.outage} {
		if d.Uint() == 1 {
			*f = d.Fetched()
		}
	}
	return p
}

// seen reports whether both sides show the host's policy. A host that moved between
// https and http counts as not seen.
func (p *pair) seen() bool {
	a, b := p.sides[0], p.sides[1]
	return a != nil && b != nil && a.Origin == b.Origin && !change.Unreachable(a.Reason) && !change.Unreachable(b.Reason)
}

// plain reports whether both answers mean the same whatever the profile says of
// redirects and outages.
func (p *pair) plain() bool {
	for _, f := range p.sides {
		if f.Reason != string(answer.Success) && f.Reason != string(answer.ClientError) {
			return false
		}
	}
	return true
}

// ruled reports whether the host's rules decided in both runs.
func (p *pair) ruled() bool {
	return p.sides[0].Outcome == string(answer.ConditionalAllow) && p.sides[1].Outcome == string(answer.ConditionalAllow)
}

// comparable reports whether policies of a pair are compared.
func (d *differ) comparable(p *pair) bool {
	return p.seen() && (!d.SameReading || d.SameAnswers || p.plain())
}

// unknown returns the first profile if it does not say of both runs what a host's policy
// is.
func (d *differ) unknown(p *pair) []string {
	for _, f := range p.sides {
		if f != nil && f.Outcome != string(answer.ConditionalAllow) && f.Outcome != string(answer.FullAllow) {
			return []string{d.Runs[1].FirstProfile()}
		}
	}
	return nil
}

// A hostReader reads the rows of fetches host by host.
type hostReader struct {
	m    *store.Merged
	next *records.Fetched // nil at the end
}

func newHostReader(s *store.Sorter) (*hostReader, error) {
	m, err := s.Sorted()
	if err != nil {
		return nil, err
	}
	r := &hostReader{m: m}
	return r, r.advance()
}

func (r *hostReader) advance() error {
	_, value, err := r.m.Next()
	if err == io.EOF {
		r.next = nil
		return nil
	}
	if err != nil {
		return err
	}
	d := records.Decoder(value)
	r.next = d.Fetched()
	return nil
}

// take returns the last row of each origin of a host, in the order of origins.
// Archives may hold several captures of one origin.
func (r *hostReader) take(host string) (out []*records.Fetched, err error) {
	for r.next != nil && r.next.Host == host {
		if n := len(out); n > 0 && out[n-1].Origin == r.next.Origin {
			// A list may name an origin itself, and a host that falls back to it.
			r.next.Fallback = cmp.Or(r.next.Fallback, out[n-1].Fallback)
			out[n-1] = r.next
		} else {
			out = append(out, r.next)
		}
		if err := r.advance(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// join pairs the origins of both runs in order, settles the pairs that need no earlier
// run, and keeps those whose state before is hidden.
func (d *differ) join(ctx context.Context) error {
	var readers [2]*hostReader
	for i := range readers {
		var err error
		if readers[i], err = newHostReader(d.byHost[i]); err != nil {
			return err
		}
		d.asked[i] = d.sorter()
	}
	d.pairs, d.hidden = d.sorter(), d.newHidden()
	n := int64(0)
	for ctx.Err() == nil {
		var host *records.Fetched
		for _, r := range readers {
			if r.next != nil && (host == nil || r.next.Host < host.Host) {
				host = r.next
			}
		}
		if host == nil {
			break
		}
		var sides [2][]*records.Fetched
		for i, r := range readers {
			var err error
			if sides[i], err = r.take(host.Host); err != nil {
				return err
			}
		}
		for _, p := range pairsOf(sides[0], sides[1]) {
			then := d.settle
			if p.hidden() && d.looksBack() {
				then = d.hidden.add
			}
			if err := then(p, n); err != nil {
				return err
			}
			n++
		}
	}
	for i := range d.byHost {
		d.byHost[i].Close()
	}
	return ctx.Err()
}

// sideBySide yields the elements of two sorted lists, those that are equal together. One that a
// list does not have is nil.
func sideBySide[T any](before, after []T, compare func(a, b *T) int) iter.Seq2[*T, *T] {
	return func(yield func(a, b *T) bool) {
		for len(before)+len(after) > 0 {
			order := 0
			switch {
			case len(before) == 0:
				order = 1
			case len(after) == 0:
				order = -1
			default:
				order = compare(&before[0], &after[0])
			}
			var a, b *T
			if order <= 0 {
				a, before = &before[0], before[1:]
			}
			if order >= 0 {
				b, after = &after[0], after[1:]
			}
			if !yield(a, b) {
				return
			}
		}
	}
}

// pairsOf pairs the rows of one host by origin. If a run gave up https for http, one
// origin may be left on each side. These two form a pair, because the host is
// neither new nor gone. If the list names the http origin too, it counts once, and
// https, which is left alone, could not be reached by the run that gave it up.
func pairsOf(before, after []*records.Fetched) []*pair {
	var out []*pair
	byOrigin := func(a, b **records.Fetched) int { return cmp.Compare((*a).Origin, (*b).Origin) }
	for a, b := range sideBySide(before, after, byOrigin) {
		out = append(out, &pair{sides: [2]*records.Fetched{schema.OrZero(a), schema.OrZero(b)}})
	}
	var gone, come []int
	for i, p := range out {
		if p.sides[1] == nil {
			gone = append(gone, i)
		} else if p.sides[0] == nil {
			come = append(come, i)
		}
	}
	if len(gone)+len(come) == 1 {
		left, side := out[slices.Concat(gone, come)[0]], len(gone) // of the run that lacks it
		i := slices.IndexFunc(out, func(p *pair) bool {
			f := p.sides[side]
			return f != nil && f.Fallback != "" &&
				f.IsBare()
		})
		if i >= 0 && left.last().IsBare() {
			given := *out[i].sides[side]
			given.Origin, given.Outcome, given.Reason = left.last().Origin, string(answer.Undefined),
				string(answer.NetworkFailure)
			given.Digest, given.Final, given.Since = "", "", 0
			left.sides[side] = &given
		}
	}
	if len(gone) == 1 && len(come) == 1 {
		a, b := out[gone[0]].sides[0], out[come[0]].sides[1]
		if (a.Fallback != "" || b.Fallback != "") && a.IsBare() && b.IsBare() {
			out[come[0]].sides[0] = a
			out = slices.Delete(out, gone[0], gone[0]+1)
		}
	}
	return out
}

// settle counts pair n, whose sides are final. If anything in it may differ, settle
// queues it and asks for its rows.
func (d *differ) settle(p *pair, n int64) error {
	by := d // compares the pair
	if p.from > 0 {
		by = d.earlier[p.from-1]
	}
	d.result.settled(p, by.comparable(p))
	if p.seen() {
		a, b := p.sides[0], p.sides[1]
		// The same answer gives the same rows, but for what the runs define differently.
		rows := a.Outcome != b.Outcome || a.Reason != b.Reason || a.Digest != b.Digest
		if !rows && a.Final == b.Final && p.outage == nil && !by.besideDiffers(p) {
			d.result.Same++
			by.check(p, by.unknown(p))
			return nil
		}
		for i, f := range p.sides {
			if !rows {
				break
			}
			var key, value records.Encoder
			key.Ordered([2]int64{int64(p.from), 0}[i])
			key.Ordered(int64(f.Segment))
			key.Ordered(f.Seq)
			value.Ordered(n)
			if by.rules.asks(p) {
				value.Text(f.Digest)
			} else {
				value.Text("")
			}
			if err := d.asked[i].Add(key, value); err != nil {
				return err
			}
		}
	}
	var key, value records.Encoder
	key.Ordered(n)
	p.encode(&value)
	return d.pairs.Add(key, value)
}
