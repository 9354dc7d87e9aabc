package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/verify"
)

// openRun adds the volumes of --from-run: one for each segment of an earlier run.
// Segments and targets keep their numbers. The captures stay the same; only their
// evaluation is new.
func (s *Source) openRun(ctx context.Context) error {
	folder := s.config.FromRun
	dir, id := runAt(folder)
	in, err := store.Open(ctx, dir)
	var m *sink.Manifest
	if err == nil {
		s.from = in
		m, err = sink.ReadManifest(in, id)
	}
	if err != nil {
		return notARun(folder, err)
	}
	for _, table := range []string{"fetches", "bodies"} {
		if !slices.Contains(m.Tables, table) {
			return &userfile.Error{Path: folder, Err: fmt.Errorf("has no table %s; only a run made with --keep-bodies can be re-evaluated", table)}
		}
	}
	if m.State != "complete" {
		return &userfile.Error{Path: folder, Err: errors.New("is not complete: " + m.HowToComplete())}
	}
	if err := sink.Lacking(sink.Needed(m.Without)); err != nil {
		return &userfile.Error{Path: folder, Err: err}
	}
	e := earlierRun{in: in}
	if e.limits, err = limitsOf(m); err != nil {
		return &userfile.Error{Path: folder, Err: err}
	}
	s.fromShards, s.asOf, s.earlier = m.ShardsOfHosts(), &m.Date, m.Choices()
	if n := s.config.Shard.Count; n > 1 && s.fromShards > 0 && (m.Shards != s.fromShards || n != s.fromShards) {
		// Otherwise a shard would have targets of several, out of order.
		if m.Shards != s.fromShards {
			return &userfile.Error{Path: folder, Err: errors.New("judges a run of shards again; judge it without shards")}
		}
		return &userfile.Error{Path: folder, Err: fmt.Errorf("has %d shards; re-evaluate it with --shards %[1]d, or without shards", s.fromShards)}
	}
	if s.fromShards == 0 {
		e.spans = new(spans)
	} else {
		e.shards = &shards{of: &m.Plan, count: s.fromShards, hasDomains: !slices.Contains(m.Without, "fetches.registered_domain")}
	}
	segments := make(map[int]*segmentParts)
	for _, p := range m.Parts {
		if segments[p.Segment] == nil {
			segments[p.Segment] = &segmentParts{}
		}
		switch of := segments[p.Segment]; p.Table {
		case "fetches":
			of.fetches = append(of.fetches, p)
		case "bodies":
			of.bodies = append(of.bodies, p)
		case "answers":
			if m.HasAnswers() {
				of.answers = append(of.answers, p)
			}
		case "verdicts":
			if m.NamesURLs() {
				of.verdicts = append(of.verdicts, p)
			}
		}
	}
	for _, index := range slices.Sorted(maps.Keys(segments)) {
		if len(segments[index].fetches) == 0 { // of a manifest that somebody else wrote
			return &userfile.Error{Path: folder, Err: fmt.Errorf("segment %d has no part of fetches", index)}
		}
		if s.config.Shard.isPart() && s.fromShards > 0 && index != s.config.Shard.Index {
			s.elsewhere.Add(1)
			s.inputs = append(s.inputs, segments[index].input())
			continue
		}
		parts := segments[index]
		first := parts.fetches[0]
		v := s.add(parts.input(), func(ctx context.Context, emit func(Target) error) error {
			err := e.readSegment(ctx, parts, func(t Target) error {
				if _, ok := s.wantedOfAll(t.Capture.Origin); !ok {
					return nil
				}
				return emit(t)
			})
			if err == nil || errors.Is(err, errEnough) || ctx.Err() != nil {
				return err
			}
			return inputError(first.Path, err)
		})
		v.First, v.Most, v.mixed = index, 1, true
		if m.Shards > 1 { // it may have a hundred thousand targets
			v.First, v.Most = index*sink.SegmentsPerVolume, sink.SegmentsPerVolume
		}
	}
	return nil
}

// notARun makes the error of a run that cannot be read.
func notARun(folder string, err error) error {
	folder = remote.Name(folder)
	if store.FaultOf(err) != store.OfData {
		return fmt.Errorf("read %s: %w", folder, err)
	}
	if strings.Contains(folder, "://") && !remote.IsBucket(folder) {
		return &userfile.Error{Path: folder, Err: errors.New("is a URL; download the run, and give DIR/_runs/ID")}
	}
	return &userfile.Error{Path: folder, Err: fmt.Errorf("is not a run: %w; give DIR/_runs/ID", err)}
}

// runAt returns the folder of the tables and the ID of the run DIR/_runs/ID.
func runAt(folder string) (dir, id string) {
	if store.IsURL(folder) {
		clean := strings.TrimRight(folder, "/")
		id = path.Base(clean)
		return strings.TrimSuffix(clean[:len(clean)-len(id)-1], "/_runs"), id
	}
	clean := filepath.Clean(folder)
	return filepath.Dir(filepath.Dir(clean)), filepath.Base(clean)
}

// inputError returns the error of an input, unless err already is one, or is not the
// fault of the data.
func inputError(path string, err error) error {
	var input *userfile.Error
	if errors.As(err, &input) || store.FaultOf(err) != store.OfData {
		return err
	}
	return &userfile.Error{Path: path, Err: err}
}

// earlierRun is the run whose captures are read.
type earlierRun struct {
	in     store.Store
	limits limits
	spans  *spans  // nil if segments do not follow each other in the input
	shards *shards // of hosts, nil for none
}

// segmentParts are the parts of a segment that hold captures. A shard is one segment
// of the run, made of segments of its own: a row group of fetches each.
type segmentParts struct{ fetches, bodies, answers, verdicts []sink.Part }

// input returns the Input that identifies the segment in the plan.
func (s *segmentParts) input() sink.Input {
	in := sink.Input{Role: "run", Path: s.fetches[0].Path, SHA256: s.fetches[0].SHA256}
	for _, p := range s.fetches {
		in.Rows += p.Rows
	}
	return in
}

// readSegment emits the targets of a segment with their bodies and their own URLs.
// Rows with the same body share it.
func (e earlierRun) readSegment(ctx context.Context, parts *segmentParts, emit func(Target) error) error {
	bodies := &bodyReader{run: e, parts: parts.bodies}
	defer bodies.close()
	answers := &answerReader{run: e, parts: parts.answers}
	defer answers.close()
	urls := e.ownURLs(ctx, parts.verdicts)
	defer urls.stop()
	var seqs span
	err := e.eachGroup(ctx, parts.fetches, func(rows []schema.Fetch) error {
		if err := e.shards.add(parts.fetches[0].Segment, rows); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		also, err := answers.upTo(ctx, rows[len(rows)-1].Seq)
		if err != nil {
			return err
		}
		bodies.expect(rows, also)
		for i := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := verify.CheckFetch(&rows[i]); err != nil {
				return err
			}
			if err := seqs.grow(rows[i].Seq); err != nil {
				return err
			}
			body, err := bodies.body(ctx, rows[i].KeptDigest(), rows[i].Host)
			if err != nil {
				return err
			}
			t := targetOf(&rows[i], body, e.limits)
			for k := range also[t.Seq] {
				answer := &also[t.Seq][k]
				body, err := bodies.body(ctx, answer.ContentDigest, answer.Host)
				if err != nil {
					return err
				}
				t.Capture.Also = append(t.Capture.Also, alsoOf(answer, t.Capture.Origin, body))
			}
			delete(also, t.Seq)
			if t.Paths, t.ownBytes, err = urls.of(t.Seq, t.Capture.Origin); err != nil {
				return err
			}
			if err := emit(t); err != nil {
				return err
			}
		}
		for seq := range also {
			return fmt.Errorf("seq %d has answers to identities, and no row of fetches", seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.spans.add(parts.fetches[0].Segment, seqs)
}

// eachGroup calls f with the rows of each row group.
func (e earlierRun) eachGroup(ctx context.Context, parts []sink.Part, f func([]schema.Fetch) error) error {
	for _, p := range parts {
		if err := e.eachGroupOf(ctx, p, f); err != nil {
			return err
		}
	}
	return nil
}

func (e earlierRun) eachGroupOf(ctx context.Context, p sink.Part, f func([]schema.Fetch) error) error {
	file, err := scan.OpenPart(ctx, e.in, p)
	if err != nil {
		return err
	}
	defer file.Close()
	groups, err := groupsOf(file, p)
	if err != nil {
		return err
	}
	for _, g := range groups {
		rows, err := rowsOf(g, p)
		if err == nil {
			err = f(rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func groupsOf(file *os.File, p sink.Part) (groups []parquet.RowGroup, err error) {
	defer scan.Recovered(&err)
	opened, err := openNeeded[schema.Fetch](file, p)
	if err != nil {
		return nil, err
	}
	return opened.RowGroups(), nil
}

// mostRows bounds the rows of fetches that are read at once. A segment has 2,048 targets,
// and so has each row group of a shard.
const mostRows = 1 << 14

// mostValues bounds the mean number of values in a list of fetches, in a row group as large
// as any: hops, and answers in memory.
const mostValues = 32

func rowsOf(g parquet.RowGroup, p sink.Part) (rows []schema.Fetch, err error) {
	defer scan.Recovered(&err)
	if g.NumRows() > mostRows || g.NumRows() > p.Rows { // of a part that somebody else wrote
		return nil, fmt.Errorf("read %s: a row group of %d rows, where the part has %d", p.Path, g.NumRows(), p.Rows)
	}
	for _, c := range g.ColumnChunks() { // of lists, a row may have any number
		if c.NumValues() > mostValues*mostRows {
			return nil, fmt.Errorf("read %s: a column of a row group has %d values, more than %d for each of %d rows", p.Path, c.NumValues(), mostValues, mostRows)
		}
	}
	in := parquet.NewGenericRowGroupReader[schema.Fetch](g)
	defer in.Close()
	rows = make([]schema.Fetch, g.NumRows())
	n, err := in.Read(rows)
	if err != nil && err != io.EOF || int64(n) != g.NumRows() {
		return nil, fmt.Errorf("read %s: %d of %d rows: %w", p.Path, n, g.NumRows(), cmp.Or(err, io.ErrUnexpectedEOF))
	}
	return rows, nil
}

// bodyReader reads the bodies of a segment along with the rows of fetches. For each
// row group of fetches there is each body once, in the order in which rows first name
// them; a body is held until the last row of the group that needs it.
type bodyReader struct {
	run    earlierRun
	parts  []sink.Part // to read
	file   io.Closer
	next   *parquet.GenericReader[schema.Body]
	needed map[string]int // remaining rows of the group, by digest
	held   map[string][]byte
	packed map[string]bool // held compressed, by digest
	room   int             // bytes that may still be held as they are
}

// expect prepares for the rows of a group.
func (b *bodyReader) expect(rows []schema.Fetch, also map[int64][]schema.Answer) {
	b.needed, b.held, b.packed, b.room = make(map[string]int), make(map[string][]byte), make(map[string]bool), heldPlain
	for i := range rows {
		if d := rows[i].KeptDigest(); d != nil {
			b.needed[*d]++
		}
	}
	for _, answers := range also {
		for i := range answers {
			if d := answers[i].ContentDigest; d != nil {
				b.needed[*d]++
			}
		}
	}
}

// body returns the body that the next row names, nil for none.
func (b *bodyReader) body(ctx context.Context, named *string, host string) ([]byte, error) {
	if named == nil {
		return nil, nil
	}
	digest := *named
	for b.held[digest] == nil {
		one, err := b.read(ctx)
		if err == io.EOF {
			err = fmt.Errorf("the body of %s is not in the table bodies", host)
		}
		if err != nil {
			return nil, err
		}
		if err := b.check(&one); err != nil {
			return nil, err
		}
		if err := b.hold(one.ContentDigest, one.Body); err != nil {
			return nil, err
		}
	}
	return b.take(digest)
}

// read reads the next body.
func (b *bodyReader) read(ctx context.Context) (_ schema.Body, err error) {
	defer scan.Recovered(&err)
	for {
		if b.next == nil {
			if len(b.parts) == 0 {
				return schema.Body{}, io.EOF
			}
			f, err := scan.OpenPart(ctx, b.run.in, b.parts[0])
			if err != nil {
				return schema.Body{}, err
			}
			opened, err := openNeeded[schema.Body](f, b.parts[0])
			if err != nil {
				f.Close()
				return schema.Body{}, err
			}
			b.file, b.next, b.parts = f, parquet.NewGenericReader[schema.Body](opened), b.parts[1:]
		}
		one := make([]schema.Body, 1)
		n, err := b.next.Read(one)
		if n > 0 {
			return one[0], nil
		}
		if err != nil && err != io.EOF {
			return schema.Body{}, err
		}
		b.close()
	}
}

// close closes the part that is open.
func (b *bodyReader) close() {
	if b.next != nil {
		b.next.Close()
		b.file.Close()
		b.next = nil
	}
}
