package records

import (
	"context"
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Fetched holds the columns of a row of fetches that are compared.
type Fetched struct {
	Host, Origin    string
	time, Seq       int64
	Segment         int
	Rank            *int64
	Outcome, Reason string
	Digest, Final   string // "" for none
	Fallback        string
	Since           int64 // unreachable since, in microseconds; 0 if unknown

	beside [NumBeside]string // rows of other tables, encoded
}

// Key orders rows by host, origin and time.
func (f *Fetched) Key() []byte {
	e := make(Encoder, 0, len(f.Host)+len(f.Origin)+18)
	e = append(append(append(e, f.Host...), 0), f.Origin...) // texts in tables have no NUL
	e = append(e, 0)
	e.Ordered(f.time)
	e.Ordered(f.Seq)
	return e
}

func (f *Fetched) Encode(e *Encoder) {
	e.Text(f.Host)
	e.Text(f.Origin)
	e.Ordered(f.time)
	e.Ordered(f.Seq)
	e.Uint(uint64(f.Segment))
	if f.Rank == nil {
		e.Uint(0)
	} else {
		e.Uint(1)
		e.Ordered(*f.Rank)
	}
	for _, s := range []string{f.Outcome, f.Reason, f.Digest, f.Final, f.Fallback} {
		e.Text(s)
	}
	e.Ordered(f.Since)
	for _, s := range f.beside {
		e.Text(s)
	}
}

func (d *Decoder) Fetched() *Fetched {
	f := &Fetched{Host: d.Text(), Origin: d.Text(), time: d.Ordered(), Seq: d.Ordered(), Segment: int(d.Uint())}
	if d.Uint() == 1 {
		f.Rank = new(d.Ordered())
	}
	for _, s := range []*string{&f.Outcome, &f.Reason, &f.Digest, &f.Final, &f.Fallback} {
		*s = d.Text()
	}
	f.Since = d.Ordered()
	for i := range f.beside {
		f.beside[i] = d.Text()
	}
	return f
}

// compared selects the columns of fetches that are compared.
var compared = rowio.Selection{Columns: []string{
	"seq", "host", "rank", "origin", "fetch_time", "outcome", "reason", "final_url", "fallback_error_class",
	"content_digest", "unreachable_since", "challenge",
}}

// ReadFetches adds the rows of a part of fetches to a sorter: all, or those of wanted
// hosts, with their rows of other tables.
func ReadFetches(ctx context.Context, in store.Store, p journal.Part, wanted func(host string) bool,
	besides *Besides, into *store.Sorter) error {
	var e Encoder
	return rowio.Of(ctx, in, []journal.Part{p}, compared, func(batch []schema.Fetch) error {
		for i := range batch {
			row := &batch[i]
			if wanted != nil && !wanted(row.Host) {
				continue
			}
			f := fetchedOf(row)
			f.Segment, f.beside = p.Segment, besides.of(row.Seq)
			if err := f.addTo(into, &e); err != nil {
				return err
			}
		}
		return nil
	})
}

func fetchedOf(row *schema.Fetch) *Fetched {
	f := &Fetched{
		Host: row.Host, Origin: row.Origin, time: row.FetchTime.UnixMicro(), Seq: row.Seq, Rank: row.Rank,
		Outcome: row.Outcome, Reason: row.Reason,
		Digest: schema.OrZero(row.ContentDigest), Final: schema.OrZero(row.FinalURL),
		Fallback: schema.OrZero(row.FallbackErrorClass),
	}
	f.shown(row.Challenge != nil)
	if row.UnreachableSince != nil {
		f.Since = row.UnreachableSince.UnixMicro()
	}
	return f
}

// AddTarget adds the row of a target that was looked up to a sorter, with its rows of other
// tables.
func AddTarget(t *lookup.Target, beside [NumBeside]string, into *store.Sorter) error {
	f := fetchedOf(&t.Fetch)
	f.Segment, f.beside = t.Segment, beside
	return f.addTo(into, new(Encoder))
}

// shown makes the row say what the answer shows of the host: of a wall, nothing.
func (f *Fetched) shown(walled bool) {
	f.Reason = string(answer.Shown(answer.Reason(f.Reason), walled))
	if walled {
		f.Outcome, f.Digest = string(answer.Undefined), ""
	}
}

// addTo adds the row to a sorter. e is a buffer.
func (f *Fetched) addTo(into *store.Sorter, e *Encoder) error {
	*e = (*e)[:0]
	f.Encode(e)
	return into.Add(f.Key(), *e)
}

// IsBare reports whether a list could name the origin by its host alone.
func (f *Fetched) IsBare() bool { return strings.HasSuffix(f.Origin, "://"+f.Host) }
