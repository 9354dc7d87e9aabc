package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
)

// openRun adds the volumes of --from-run: one for each segment of an earlier run.
// Segments and targets keep their numbers. The captures stay the same; only their
// evaluation is new.
func (s *Source) openRun(ctx context.Context) error {
	folder := s.config.FromRun // DIR/_runs/ID
	clean := filepath.Clean(folder)
	dir, id := filepath.Dir(filepath.Dir(clean)), filepath.Base(clean)
	if store.IsURL(folder) {
		clean = strings.TrimRight(folder, "/")
		id = path.Base(clean)
		dir = strings.TrimSuffix(clean[:len(clean)-len(id)-1], "/_runs")
	}
	m, err := sink.ReadManifest(ctx, dir, id)
	if err != nil {
		return &userfile.Error{Path: folder, Err: fmt.Errorf("is not a run: %w; give DIR/_runs/ID", err)}
	}
	for _, table := range []string{"fetches", "bodies"} {
		if !slices.Contains(m.Tables, table) {
			return &userfile.Error{Path: folder, Err: fmt.Errorf("has no table %s; only a run made with --keep-bodies can be judged again", table)}
		}
	}
	if m.State != "complete" {
		return &userfile.Error{Path: folder, Err: errors.New("is not complete: " + m.HowToComplete())}
	}
	e := earlierRun{dir: dir}
	if e.limits, err = limitsOf(m); err != nil {
		return &userfile.Error{Path: folder, Err: err}
	}
	s.fromShards, s.asOf, s.earlier = m.ShardsOfHosts(), &m.Date, m.Choices()
	if n := s.config.Shard.Count; n > 1 && s.fromShards > 0 && (m.Shards != s.fromShards || n != s.fromShards) {
		// Otherwise a shard would have targets of several, out of order.
		if m.Shards != s.fromShards {
			return &userfile.Error{Path: folder, Err: errors.New("judges a run of shards again; judge it without shards")}
		}
		return &userfile.Error{Path: folder, Err: fmt.Errorf("has %d shards; judge it again with --shards %[1]d, or without shards", s.fromShards)}
	}
	if s.fromShards == 0 {
		e.spans = new(spans)
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
	dir    string
	limits limits
	spans  *spans // nil if segments do not follow each other in the input
}

// segmentParts are the parts of a segment that hold captures. A shard is one segment
// of the run, made of segments of its own: a row group of fetches each.
type segmentParts struct{ fetches, bodies []sink.Part }

// input returns the Input that identifies the segment in the plan.
func (s *segmentParts) input() sink.Input {
	in := sink.Input{Role: "run", Path: s.fetches[0].Path, SHA256: s.fetches[0].SHA256}
	for _, p := range s.fetches {
		in.Rows += p.Rows
	}
	return in
}

// readSegment emits the targets of a segment with their bodies. Rows with the same
// body share it.
func (e earlierRun) readSegment(ctx context.Context, parts *segmentParts, emit func(Target) error) error {
	bodies := &bodyReader{run: e, parts: parts.bodies}
	defer bodies.close()
	var seqs span
	err := e.eachGroup(ctx, parts.fetches, func(rows []sink.Fetch) error {
		bodies.expect(rows)
		for i := range rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := seqs.grow(rows[i].Seq); err != nil {
				return err
			}
			body, err := bodies.body(ctx, &rows[i])
			if err != nil {
				return err
			}
			if err := emit(targetOf(&rows[i], body, e.limits)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.spans.add(parts.fetches[0].Segment, seqs)
}

// eachGroup calls f with the rows of each row group.
func (e earlierRun) eachGroup(ctx context.Context, parts []sink.Part, f func([]sink.Fetch) error) error {
	for _, p := range parts {
		if err := e.eachGroupOf(ctx, p, f); err != nil {
			return err
		}
	}
	return nil
}

func (e earlierRun) eachGroupOf(ctx context.Context, p sink.Part, f func([]sink.Fetch) error) error {
	file, err := scan.OpenPart(ctx, e.dir, p)
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
	opened, err := sink.OpenRows[sink.Fetch](file, p.Bytes)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", p.Path, err)
	}
	return opened.RowGroups(), nil
}

func rowsOf(g parquet.RowGroup, p sink.Part) (rows []sink.Fetch, err error) {
	defer scan.Recovered(&err)
	if g.NumRows() > sink.RowGroup || g.NumRows() > p.Rows { // of a part that somebody else wrote
		return nil, fmt.Errorf("read %s: a row group of %d rows, where the part has %d", p.Path, g.NumRows(), p.Rows)
	}
	in := parquet.NewGenericRowGroupReader[sink.Fetch](g)
	defer in.Close()
	rows = make([]sink.Fetch, g.NumRows())
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
	next   *parquet.GenericReader[sink.Body]
	needed map[string]int // remaining rows of the group, by digest
	held   map[string][]byte
}

// expect prepares for the rows of a group.
func (b *bodyReader) expect(rows []sink.Fetch) {
	b.needed, b.held = make(map[string]int), make(map[string][]byte)
	for i := range rows {
		if d := rows[i].ContentDigest; d != nil {
			b.needed[*d]++
		}
	}
}

// body returns the body of the next row, nil if it has none.
func (b *bodyReader) body(ctx context.Context, row *sink.Fetch) ([]byte, error) {
	if row.ContentDigest == nil {
		return nil, nil
	}
	digest := *row.ContentDigest
	for b.held[digest] == nil {
		one, err := b.read(ctx)
		if err == io.EOF {
			err = fmt.Errorf("the body of %s is not in the table bodies", row.Host)
		}
		if err != nil {
			return nil, err
		}
		if err := b.check(&one); err != nil {
			return nil, err
		}
		b.held[one.ContentDigest] = append([]byte{}, one.Body...)
	}
	body := b.held[digest]
	if b.needed[digest]--; b.needed[digest] == 0 {
		delete(b.held, digest)
	}
	return body, nil
}

// read reads the next body.
func (b *bodyReader) read(ctx context.Context) (_ sink.Body, err error) {
	defer scan.Recovered(&err)
	for {
		if b.next == nil {
			if len(b.parts) == 0 {
				return sink.Body{}, io.EOF
			}
			f, err := scan.OpenPart(ctx, b.run.dir, b.parts[0])
			if err != nil {
				return sink.Body{}, err
			}
			opened, err := sink.OpenRows[sink.Body](f, b.parts[0].Bytes)
			if err != nil {
				f.Close()
				return sink.Body{}, fmt.Errorf("read %s: %w", b.parts[0].Path, err)
			}
			b.file, b.next, b.parts = f, parquet.NewGenericReader[sink.Body](opened), b.parts[1:]
		}
		one := make([]sink.Body, 1)
		n, err := b.next.Read(one)
		if n > 0 {
			return one[0], nil
		}
		if err != nil && err != io.EOF {
			return sink.Body{}, err
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

// limits are two size limits of an earlier run: that of its first profile, and the
// largest, up to which it fetched bodies.
type limits struct{ first, most int }

func limitsOf(m *sink.Manifest) (l limits, err error) {
	for i, name := range m.Profiles {
		p, err := past.Profile(m, name)
		if err != nil {
			return l, err
		}
		if l.most = max(l.most, p.SizeLimit); i == 0 {
			l.first = p.SizeLimit
		}
	}
	return l, nil
}

// cut reports whether the earlier run captured only a part of a body. In a row,
// body_truncated can also mean that only the profile read a part.
func (l limits) cut(row *sink.Fetch, body []byte) bool {
	return row.BodyTruncated && (len(body) <= l.first || len(body) >= l.most)
}

// targetOf makes the target of a row of fetches, with its capture. No column says
// that a server is misconfigured: only the reason that the run's first profile gave
// can show it. A new column of fetches that holds a fact of the capture must be
// read here, or re-judging a run loses it.
func targetOf(row *sink.Fetch, body []byte, l limits) Target {
	o := fetch.Origin{Scheme: row.Scheme, Host: row.Host, Port: uint16(row.Port)}
	c := &fetch.Capture{
		Origin: o, Start: row.FetchTime, Attempts: int(row.Attempts), Error: robots.ErrorClass(value(row.ErrorClass)),
		Fallback: robots.ErrorClass(value(row.FallbackErrorClass)), HTTPVersion: value(row.HTTPVersion), TLSVersion: value(row.TLSVersion),
		Headers: fetch.Headers{
			ContentType: row.ContentType, ContentEncoding: row.ContentEncoding, Server: row.Server, ETag: row.ETag,
			LastModified: row.LastModified, CacheControl: row.CacheControl, RetryAfter: row.RetryAfter,
		},
		Times: fetch.Times{
			DNS: duration(row.DNSMicros), Connect: duration(row.ConnectMicros), TLS: duration(row.TLSMicros),
			FirstByte: duration(row.FirstByteMicros), Total: duration(row.TotalMicros),
		},
		Misconfigured: row.Reason == string(robots.AnswerMisconfiguredServer),
	}
	switch {
	case c.Error == robots.ErrorServerError, c.Error == robots.ErrorUnexpectedStatus:
		c.Error = "" // in a capture, these are statuses
	case row.Error != nil:
		c.Err = errors.New(*row.Error)
	}
	if addr, err := netip.ParseAddr(value(row.RemoteAddress)); err == nil {
		c.Remote = netip.AddrPortFrom(addr, o.Port)
	}
	for _, h := range row.Hops {
		c.Hops = append(c.Hops, robots.Hop{URL: h.URL, Status: int(value(h.Status))})
	}
	s := &Stored{Source: row.Source, WARC: value(row.WARCFile), Offset: value(row.WARCOffset), Length: value(row.WARCLength)}
	// A failed request has an error class under any profile. So a last hop without
	// answer and without class was not requested: it is the target of a stored
	// redirect.
	if last := len(c.Hops) - 1; last > 0 && c.Hops[last].Status == 0 && row.ErrorClass == nil {
		c.Location, c.Hops = c.Hops[last].URL, c.Hops[:last]
	}
	c.Unstored = row.Reason == string(robots.AnswerRevisitUnresolved)
	if row.ContentDigest == nil {
		s.Bytes, s.Truncated = row.BodyBytes, row.BodyTruncated
	}
	if len(c.Hops) == 0 && row.Status == nil && row.ErrorClass == nil {
		s.Assumed, c.Hops = true, []robots.Hop{{URL: o.RobotsURL(), Status: 200}}
	}
	// A row does not hold the memory, only what the first profile derived from it.
	if since := row.UnreachableSince; since != nil {
		c.Memory = &robots.Memory{First: *since}
		if row.StaleSince != nil {
			c.Memory.Seen = []robots.Seen{{Kind: robots.AnswerKind{Class: robots.AnswerSuccess}, Next: *since}}
		}
	}
	if row.StaleSince != nil {
		c.Copy = &fetch.WholeCopy{Fetched: *row.StaleSince, Body: body, Truncated: l.cut(row, body)}
	} else {
		c.Body, c.Truncated = body, l.cut(row, body)
	}
	return Target{Seq: row.Seq, Input: row.Input, Rank: row.Rank, Candidates: []fetch.Origin{o}, Capture: c, Stored: s}
}

// value returns what p points at, zero for nil.
func value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

func duration(micros *int64) *time.Duration {
	if micros == nil {
		return nil
	}
	d := time.Duration(*micros) * time.Microsecond
	return &d
}
