package audit

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// fetched holds the columns of a row of fetches that are compared.
type fetched struct {
	host, origin    string
	time, seq       int64
	segment         int
	rank            *int64
	outcome, reason string
	digest, final   string // "" for none
	fallback        string
	since           int64 // unreachable since, in microseconds; 0 if unknown
}

// key orders rows by host, origin and time.
func (f *fetched) key() []byte {
	e := make(encoder, 0, len(f.host)+len(f.origin)+18)
	e = append(append(append(e, f.host...), 0), f.origin...) // texts in tables have no NUL
	e = append(e, 0)
	e.ordered(f.time)
	e.ordered(f.seq)
	return e
}

func (f *fetched) encode(e *encoder) {
	e.text(f.host)
	e.text(f.origin)
	e.ordered(f.time)
	e.ordered(f.seq)
	e.uint(uint64(f.segment))
	if f.rank == nil {
		e.uint(0)
	} else {
		e.uint(1)
		e.ordered(*f.rank)
	}
	for _, s := range []string{f.outcome, f.reason, f.digest, f.final, f.fallback} {
		e.text(s)
	}
	e.ordered(f.since)
}

func (d *decoder) fetched() *fetched {
	f := &fetched{host: d.text(), origin: d.text(), time: d.ordered(), seq: d.ordered(), segment: int(d.uint())}
	if d.uint() == 1 {
		f.rank = sink.Some(d.ordered())
	}
	for _, s := range []*string{&f.outcome, &f.reason, &f.digest, &f.final, &f.fallback} {
		*s = d.text()
	}
	f.since = d.ordered()
	return f
}

var fetchColumns = []string{
	"seq", "host", "rank", "origin", "fetch_time", "outcome", "reason", "final_url", "fallback_error_class", "content_digest", "unreachable_since",
}

// readFetches adds the rows of a part of fetches to a sorter: all, or those of wanted
// hosts.
func readFetches(ctx context.Context, dir string, p sink.Part, wanted func(host string) bool, into *sorter.Sorter) error {
	return scan.Rows(ctx, dir, p, scan.Selection{Columns: fetchColumns}, func(batch arrow.RecordBatch) error {
		text := func(name string) func(int) string {
			column := scan.Column[*array.String](batch, name)
			return func(i int) string {
				if column.IsNull(i) {
					return ""
				}
				return column.Value(i)
			}
		}
		host, origin, outcome, reason := text("host"), text("origin"), text("outcome"), text("reason")
		final, fallback, digest := text("final_url"), text("fallback_error_class"), text("content_digest")
		seq, rank := scan.Column[*array.Int64](batch, "seq"), scan.Column[*array.Int64](batch, "rank")
		time, since := scan.Column[*array.Timestamp](batch, "fetch_time"), scan.Column[*array.Timestamp](batch, "unreachable_since")
		var e encoder
		for i := range int(batch.NumRows()) {
			if wanted != nil && !wanted(host(i)) {
				continue
			}
			f := fetched{
				host: host(i), origin: origin(i), time: int64(time.Value(i)), seq: seq.Value(i), segment: p.Segment,
				outcome: outcome(i), reason: reason(i), digest: digest(i), final: final(i), fallback: fallback(i),
			}
			if !rank.IsNull(i) {
				f.rank = sink.Some(rank.Value(i))
			}
			if !since.IsNull(i) {
				f.since = int64(since.Value(i))
			}
			e = e[:0]
			f.encode(&e)
			if err := into.Add(f.key(), e); err != nil {
				return err
			}
		}
		return nil
	})
}
