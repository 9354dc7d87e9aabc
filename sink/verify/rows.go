package verify

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// rowCheck checks the order of a part's rows, and that they belong to the segment's
// targets.
type rowCheck struct {
	segment *segmentCheck
	part    journal.Part
	within  string // column that orders the rows of a target, "" for none
	after   bool   // rows of a previous part
	row     int64  // counted from 0
	seq     int64  // seq of the previous row
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
	r := &rowCheck{segment: c, part: p, within: schema.Describe(p.Table).Within, seqs: []int64{}}
	before := c.before
	if c.labels != nil && (before == nil || before.part.Table != p.Table) {
		c.labels.rewind()
	}
	if before != nil && before.part.Table == p.Table {
		r.after, r.seq, r.inner, r.seqs, r.countedTargets = before.after || before.row > 0, before.seq, before.inner,
			before.seqs, before.countedTargets
	}
	return r
}

// A row has the columns, of any table, by which rows are checked.
type row struct {
	Seq              int64         `parquet:"seq" rowio:"maybe"`
	GroupIndex       *int32        `parquet:"group_index" rowio:"maybe"`
	Line             *int32        `parquet:"line" rowio:"maybe"`
	FirstLine        *int32        `parquet:"first_line" rowio:"maybe"`
	Host             string        `parquet:"host" rowio:"maybe"`
	RegisteredDomain *string       `parquet:"registered_domain" rowio:"maybe"`
	AnswersSince     []schema.Seen `parquet:"answers_since,list" rowio:"maybe"`
	Metric           string        `parquet:"metric" rowio:"maybe"`
	Count            int64         `parquet:"count" rowio:"maybe"`
	ContentDigest    string        `parquet:"content_digest" rowio:"maybe"`
	Body             []byte        `parquet:"body" rowio:"maybe"`
	Document         *string       `parquet:"document" rowio:"maybe"`
	Label            string        `parquet:"label" rowio:"maybe"`
	Value            *string       `parquet:"value" rowio:"maybe"`
	Agent            *string       `parquet:"agent" rowio:"maybe"`
	Profile          *string       `parquet:"profile" rowio:"maybe"`
	Key              *string       `parquet:"key" rowio:"maybe"`
	Class            *string       `parquet:"class" rowio:"maybe"`
	Verdict          *string       `parquet:"verdict" rowio:"maybe"`
	BeforeRun        *string       `parquet:"before_run" rowio:"maybe"`
}

// columns returns those that the check of the part's rows reads; no text of the others is
// made.
func (r *rowCheck) columns() []string {
	labels := r.segment.labels != nil
	switch r.part.Table {
	case "label_counts":
		return []string{"metric", "label", "value", "agent", "profile", "key", "count"}
	case "labels":
		return []string{"seq", "label", "value"}
	case "policies":
		if labels {
			return []string{"seq", "agent", "profile", "class"}
		}
		return []string{"seq"}
	case "verdicts":
		if labels {
			return []string{"seq", "profile", "verdict"}
		}
		return []string{"seq"}
	case "summary":
		return []string{"metric", "count"}
	case "bodies":
		return []string{"content_digest", "body"}
	case layout.Changes:
		return []string{"before_run"}
	case "fetches":
		if r.segment.shards > 0 {
			return []string{"seq", seenColumn, "host", "registered_domain"}
		}
		return []string{"seq", seenColumn}
	case "preferences":
		return []string{"seq", r.within, "document"}
	default:
		return []string{"seq", r.within}
	}
}

func (r *rowCheck) batch(rows []row) {
	check := r.target
	switch r.part.Table {
	case "summary":
		check = r.counter
	case "label_counts":
		check = r.counted
	case "bodies":
		check = r.body
	case layout.Changes:
		check = r.change
	case "agents", "examples":
		return
	}
	for i := range rows {
		check(&rows[i])
		r.row++
	}
	if labels := r.segment.labels; labels != nil {
		r.labels(labels, rows)
	}
}

// labels counts rows by the labels of their targets.
func (r *rowCheck) labels(labels *segmentLabels, rows []row) {
	for i := range rows {
		switch t := &rows[i]; r.part.Table {
		case "labels":
			labels.label(t)
		case "policies":
			r.text("class", []byte(schema.OrZero(t.Class)))
			labels.policy(t)
		case "verdicts":
			if labels.verdict(t) {
				r.text("verdict", []byte(*t.Verdict))
			}
		default:
			return
		}
	}
}

// text checks a text of a column that rows lack.
func (r *rowCheck) text(column string, text []byte) {
	if known, ok := values[r.part.Table][column]; ok && len(text) > 0 && !slices.Contains(known, string(text)) {
		r.unknown.add("%v", unknownValue(column, string(text)))
	}
}

// counter adds a counter of the summary up.
func (r *rowCheck) counter(c *row) {
	if c.Count < 0 || r.sum > math.MaxInt64-c.Count {
		r.unknown.add("row %d has the counter %d, below zero or more than all can add up to", r.row, c.Count)
		return
	}
	if r.sum += c.Count; c.Metric == "targets" {
		r.countedTargets += c.Count
	}
}

// body checks that a body is that of its digest.
func (r *rowCheck) body(b *row) {
	if own := schema.ContentDigest(b.Body); own != b.ContentDigest {
		r.foreign.add("row %d has a body with the digest %s under %.32q", r.row, own, b.ContentDigest)
	}
}

// change checks that a state before is from a run that the record of the comparison names.
func (r *rowCheck) change(c *row) {
	if c.BeforeRun != nil && !slices.Contains(r.segment.since, *c.BeforeRun) {
		r.strange.add("row %d has the state before of %.128q, which the record does not name", r.row, *c.BeforeRun)
	}
}

// target checks a row of a target.
func (r *rowCheck) target(t *row) {
	inner := int32(0)
	if r.within != "" {
		// a header or another document, which come after the lines of the file
		inner = math.MaxInt32
		if in := cmp.Or(t.GroupIndex, t.Line, t.FirstLine); in != nil && t.Document == nil { // of which one is read
			inner = *in
		}
	}
	if r.part.Table == "fetches" {
		for _, a := range t.AnswersSince {
			if err := checkSeen(a.Kind, a.Redirects); err != nil {
				r.unknown.add("%v", err)
			}
		}
		r.shard(t)
	}
	r.one(t.Seq, inner)
	r.seq, r.inner = t.Seq, inner
}

// shard checks that a host of fetches belongs to the shard, so that none is in two.
func (r *rowCheck) shard(t *row) {
	if r.segment.shards == 0 {
		return
	}
	if at := journal.ShardOf(t.Host, schema.OrZero(t.RegisteredDomain),
		r.segment.shards); at != r.segment.planned.ShardOfSegment(r.part.Segment) {
		r.misplaced.add("row %d has a host of shard %d", r.row, at)
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
	for kind, found := range map[string]problems{badOrder: r.disordered, badSeq: r.orphans, badShard: r.misplaced,
		badBody: r.foreign, badValue: r.unknown, badRecord: r.strange} {
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
