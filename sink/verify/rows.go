package verify

import (
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
)

// rowCheck checks the order of a part's rows, and that they belong to the segment's
// targets.
type rowCheck struct {
	segment *segmentCheck
	part    journal.Part
	after   bool  // rows of a previous part
	row     int64 // counted from 0
	seq     int64 // seq of the previous row
	inner   int32

	disordered, orphans problems
	misplaced           problems // targets of other shards
	foreign             problems // bodies of other digests
	unknown             problems // values that their columns do not have
	strange             problems // changes since other runs
	countedTargets, sum int64    // sums of the metric targets and of all counters
	seqs                []int64  // the seqs in fetches; nil if there are too many
}

// problems counts problems of one kind and keeps the first.
type problems struct {
	n     int64
	first string
}

func (p *problems) add(format string, args ...any) {
	if p.n == 0 {
		p.first = fmt.Sprintf(format, args...)
	}
	p.n++
}

// check returns the check of a part. A shard may have several parts of a table, whose
// rows follow each other.
func (c *segmentCheck) check(p journal.Part) *rowCheck {
	r := &rowCheck{segment: c, part: p, seqs: []int64{}}
	if before := c.before; before != nil && before.part.Table == p.Table {
		r.after, r.seq, r.inner, r.seqs, r.countedTargets = before.after || before.row > 0, before.seq, before.inner, before.seqs, before.countedTargets
	}
	return r
}

func (r *rowCheck) batch(batch arrow.RecordBatch) {
	if err := valuesOf(r.part.Table, batch); err != nil {
		r.unknown.add("%v", err)
	}
	switch r.part.Table {
	case "summary":
		metrics, counts := scan.Column[*array.String](batch, "metric"), scan.Column[*array.Int64](batch, "count")
		for i := range int(batch.NumRows()) {
			n := counts.Value(i)
			if n < 0 || r.sum > math.MaxInt64-n {
				r.unknown.add("row %d has the counter %d, below zero or more than all can add up to", r.row+int64(i), n)
				continue
			}
			if r.sum += n; metrics.Value(i) == "targets" {
				r.countedTargets += n
			}
		}
		r.row += batch.NumRows()
		return
	case "bodies":
		r.bodies(batch)
		return
	case layout.Changes:
		r.changes(batch)
		return
	}
	if !batch.Schema().HasField("seq") {
		return
	}
	seqs := scan.Column[*array.Int64](batch, "seq")
	var inner *array.Int32
	if name := schema.Describe(r.part.Table).Within; name != "" {
		inner = scan.Column[*array.Int32](batch, name)
	}
	if r.part.Table == "fetches" && r.segment.shards > 0 {
		r.shard(batch)
	}
	for i := range int(batch.NumRows()) {
		seq, n := seqs.Value(i), int32(0)
		switch {
		case inner == nil:
		case inner.IsNull(i): // a header, which comes after the lines of the file
			n = math.MaxInt32
		default:
			n = inner.Value(i)
		}
		r.one(seq, n)
		r.row, r.seq, r.inner = r.row+1, seq, n
	}
}

// bodies checks that each body is that of its digest.
func (r *rowCheck) bodies(batch arrow.RecordBatch) {
	digests, bodies := scan.Column[*array.String](batch, "content_digest"), scan.Column[*array.Binary](batch, "body")
	for i := range int(batch.NumRows()) {
		if own := schema.ContentDigest(bodies.Value(i)); own != digests.Value(i) {
			r.foreign.add("row %d has a body with the digest %s under %.32q", r.row+int64(i), own, digests.Value(i))
		}
	}
	r.row += batch.NumRows()
}

// changes checks that each state before is from a run that the record of the comparison
// names.
func (r *rowCheck) changes(batch arrow.RecordBatch) {
	if batch.Schema().HasField("before_run") {
		since := scan.Column[*array.String](batch, "before_run")
		for i := range int(batch.NumRows()) {
			if run := since.Value(i); since.IsValid(i) && !slices.Contains(r.segment.since, run) {
				r.strange.add("row %d has the state before of %.128q, which the record does not name", r.row+int64(i), run)
			}
		}
	}
	r.row += batch.NumRows()
}

// shard checks that the hosts of fetches belong to the shard, so that none is in two.
func (r *rowCheck) shard(batch arrow.RecordBatch) {
	hosts, domains := scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "registered_domain")
	for i := range int(batch.NumRows()) {
		if at := journal.ShardOf(hosts.Value(i), domains.Value(i), r.segment.shards); at != r.segment.planned.ShardOfSegment(r.part.Segment) {
			r.misplaced.add("row %d has a host of shard %d", r.row+int64(i), at)
		}
	}
}

// one checks a row against the previous row and the targets.
func (r *rowCheck) one(seq int64, inner int32) {
	s := r.segment
	table := r.part.Table
	follows := r.after || r.row > 0
	same := follows && seq == r.seq
	switch {
	case follows && seq < r.seq:
		r.disordered.add("row %d has seq %d after %d", r.row, seq, r.seq)
	case same && table == "fetches":
		r.disordered.add("row %d has seq %d again", r.row, seq)
	case same && (inner < r.inner || inner == r.inner && table == "groups"):
		r.disordered.add("row %d of seq %d has %s %d after %d", r.row, seq, schema.Describe(table).Within, inner, r.inner)
	}
	if table != "fetches" {
		if !same && s.seqs != nil {
			if _, found := slices.BinarySearch(s.seqs, seq); !found {
				r.orphans.add("row %d has seq %d, which no target of the segment has", r.row, seq)
			}
		}
		return
	}
	if !follows {
		s.first = seq
	}
	s.first, s.last = min(s.first, seq), max(s.last, seq)
	s.targets++
	if r.seqs != nil && len(r.seqs) < maxTargets {
		r.seqs = append(r.seqs, seq)
	} else {
		r.seqs = nil
	}
}

func (r *rowCheck) end() {
	s := r.segment
	for kind, found := range map[string]problems{badOrder: r.disordered, badSeq: r.orphans, badShard: r.misplaced, badBody: r.foreign, badValue: r.unknown, badRecord: r.strange} {
		if found.n > 1 {
			found.first += fmt.Sprintf(" (the first of %d such rows)", found.n)
		}
		if found.n > 0 {
			s.add(r.part.Path, kind, found.first)
		}
	}
	switch r.part.Table {
	case "fetches":
		slices.Sort(r.seqs)
		s.path, s.known, s.seqs = r.part.Path, true, r.seqs
	case "summary":
		s.countedTargets, s.summary = &r.countedTargets, r.part.Path
	}
}
