package records

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/scan"
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

	answers string // to identities, encoded
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
	e.Text(f.answers)
}

func (d *Decoder) Fetched() *Fetched {
	f := &Fetched{Host: d.Text(), Origin: d.Text(), time: d.Ordered(), Seq: d.Ordered(), Segment: int(d.Uint())}
	if d.Uint() == 1 {
		f.Rank = new(d.Ordered())
	}
	for _, s := range []*string{&f.Outcome, &f.Reason, &f.Digest, &f.Final, &f.Fallback} {
		*s = d.Text()
	}
	f.Since, f.answers = d.Ordered(), d.Text()
	return f
}

var fetchColumns = []string{
	"seq", "host", "rank", "origin", "fetch_time", "outcome", "reason", "final_url", "fallback_error_class", "content_digest", "unreachable_since",
}

// ReadFetches adds the rows of a part of fetches to a sorter: all, or those of wanted
// hosts, with what these answered to identities.
func ReadFetches(ctx context.Context, in store.Store, p journal.Part, wanted func(host string) bool, answered Answered, into *sorter.Sorter) error {
	return scan.Rows(ctx, in, p, scan.Selection{Columns: fetchColumns, Optional: []string{scan.WallColumn}}, func(batch arrow.RecordBatch) error {
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
		walled := scan.Walled(batch)
		seq, rank := scan.Column[*array.Int64](batch, "seq"), scan.Column[*array.Int64](batch, "rank")
		time, since := scan.Column[*array.Timestamp](batch, "fetch_time"), scan.Column[*array.Timestamp](batch, "unreachable_since")
		var e Encoder
		for i := range int(batch.NumRows()) {
			if wanted != nil && !wanted(host(i)) {
				continue
			}
			f := Fetched{
				Host: host(i), Origin: origin(i), time: int64(time.Value(i)), Seq: seq.Value(i), Segment: p.Segment,
				Outcome: outcome(i), Reason: reason(i), Digest: digest(i), Final: final(i), Fallback: fallback(i),
				answers: answered[seq.Value(i)],
			}
			f.shown(walled(i))
			if !rank.IsNull(i) {
				f.Rank = new(rank.Value(i))
			}
			if !since.IsNull(i) {
				f.Since = int64(since.Value(i))
			}
			if err := f.addTo(into, &e); err != nil {
				return err
			}
		}
		return nil
	})
}

// AddTarget adds the row of a target that was looked up to a sorter, with its answers to
// identities.
func AddTarget(t *lookup.Target, answers []schema.Answer, into *sorter.Sorter) error {
	or := func(s *string) string {
		if s == nil {
			return ""
		}
		return *s
	}
	f := Fetched{
		Host: t.Host, Origin: t.Origin, time: t.FetchTime.UnixMicro(), Seq: t.Seq, Segment: t.Segment, Rank: t.Rank,
		Outcome: t.Outcome, Reason: t.Reason, Digest: or(t.ContentDigest), Final: or(t.FinalURL), Fallback: or(t.FallbackErrorClass),
		answers: encodeAnswers(answers),
	}
	f.shown(t.Challenge != nil)
	if t.UnreachableSince != nil {
		f.Since = t.UnreachableSince.UnixMicro()
	}
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
func (f *Fetched) addTo(into *sorter.Sorter, e *Encoder) error {
	*e = (*e)[:0]
	f.Encode(e)
	return into.Add(f.Key(), *e)
}

// IsBare reports whether a list could name the origin by its host alone.
func (f *Fetched) IsBare() bool { return strings.HasSuffix(f.Origin, "://"+f.Host) }
