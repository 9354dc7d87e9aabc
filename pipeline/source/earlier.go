package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// openRun adds the volumes of --from-run: one for each segment of an earlier run.
// Segments and targets keep their numbers. The captures stay the same; only their
// evaluation is new.
func (s *Source) openRun() error {
	folder := s.config.FromRun // DIR/_runs/ID
	clean := filepath.Clean(folder)
	dir, id := filepath.Dir(filepath.Dir(clean)), filepath.Base(clean)
	m, err := sink.ReadManifest(dir, id)
	if err != nil {
		return &userfile.Error{Path: folder, Err: fmt.Errorf("is not a run: %w; give DIR/_runs/ID", err)}
	}
	for _, table := range []string{"fetches", "bodies"} {
		if !slices.Contains(m.Tables, table) {
			return &userfile.Error{Path: folder, Err: fmt.Errorf("has no table %s; only a run made with --keep-bodies can be judged again", table)}
		}
	}
	if m.State != "complete" {
		return &userfile.Error{Path: folder, Err: errors.New("is not complete; complete it with --resume first")}
	}
	e := earlierRun{dir: dir, limits: limitsOf(m.Profiles)}
	segments := make(map[int]*segmentParts)
	for _, p := range m.Parts {
		if segments[p.Segment] == nil {
			segments[p.Segment] = &segmentParts{}
		}
		switch p.Table {
		case "fetches":
			segments[p.Segment].fetches = p
		case "bodies":
			segments[p.Segment].bodies = p
		}
	}
	for _, index := range slices.Sorted(maps.Keys(segments)) {
		parts := segments[index]
		in := sink.Input{Role: "run", Path: parts.fetches.Path, SHA256: parts.fetches.SHA256, Rows: parts.fetches.Rows}
		v := s.add(in, func(ctx context.Context, emit func(Target) error) error {
			err := e.readSegment(ctx, parts, func(t Target) error {
				if s.filter != nil && !s.filter.has(t.Capture.Origin) {
					s.skipHost(t.Capture.Origin)
					return nil
				}
				return emit(t)
			})
			var input *userfile.Error
			if err != nil && !errors.Is(err, errEnough) && !errors.As(err, &input) && ctx.Err() == nil {
				err = &userfile.Error{Path: parts.fetches.Path, Err: err}
			}
			return err
		})
		v.First, v.Most, v.mixed = index, 1, true
	}
	return nil
}

// earlierRun is the run whose captures are read.
type earlierRun struct {
	dir    string
	limits limits
}

// segmentParts are the parts of a segment that hold captures.
type segmentParts struct{ fetches, bodies sink.Part }

// readSegment emits the targets of a segment with their bodies. Rows with the same
// body share it.
func (e earlierRun) readSegment(ctx context.Context, parts *segmentParts, emit func(Target) error) error {
	rows, err := readFetchRows(ctx, e.dir, parts.fetches)
	if err != nil {
		return err
	}
	file, err := scan.OpenPart(ctx, e.dir, parts.bodies)
	if err != nil {
		return err
	}
	defer file.Close()
	bodies := newBodyReader(file, rows)
	defer bodies.next.Close()
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		body, err := bodies.body(&rows[i])
		if err != nil {
			return err
		}
		if err := emit(targetOf(&rows[i], body, e.limits)); err != nil {
			return err
		}
	}
	return nil
}

// bodyReader reads a part of bodies along with its rows. The part has each body
// once, in the order in which rows first name them; a body is held until the last
// row that needs it.
type bodyReader struct {
	next   *parquet.GenericReader[sink.Body]
	needed map[string]int // remaining rows, by digest
	held   map[string][]byte
}

func newBodyReader(file io.ReaderAt, rows []sink.Fetch) *bodyReader {
	b := &bodyReader{next: parquet.NewGenericReader[sink.Body](file), needed: make(map[string]int), held: make(map[string][]byte)}
	for i := range rows {
		if d := rows[i].ContentDigest; d != nil {
			b.needed[*d]++
		}
	}
	return b
}

// body returns the body of the next row, nil if it has none.
func (b *bodyReader) body(row *sink.Fetch) ([]byte, error) {
	if row.ContentDigest == nil {
		return nil, nil
	}
	digest := *row.ContentDigest
	for b.held[digest] == nil {
		one := make([]sink.Body, 1)
		if k, err := b.next.Read(one); k == 0 {
			if err == nil || err == io.EOF {
				err = fmt.Errorf("the body of %s is not in the table bodies", row.Host)
			}
			return nil, err
		}
		b.held[one[0].ContentDigest] = append([]byte{}, one[0].Body...)
	}
	body := b.held[digest]
	if b.needed[digest]--; b.needed[digest] == 0 {
		delete(b.held, digest)
	}
	return body, nil
}

func readFetchRows(ctx context.Context, dir string, p sink.Part) ([]sink.Fetch, error) {
	f, err := scan.OpenPart(ctx, dir, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parquet.Read[sink.Fetch](f, p.Bytes)
}

// limits are two size limits of an earlier run: that of its first profile, and the
// largest, up to which it fetched bodies.
type limits struct{ first, most int }

func limitsOf(profiles []string) (l limits) {
	for i, name := range profiles {
		p, ok := robots.ProfileNamed(name)
		if !ok {
			continue
		}
		if l.most = max(l.most, p.SizeLimit); i == 0 {
			l.first = p.SizeLimit
		}
	}
	return l
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
		Misconfigured: row.Reason == string(robots.MisconfiguredServer),
	}
	switch {
	case c.Error == robots.FinalServerError, c.Error == robots.UnexpectedStatus:
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
	c.Unstored = row.Reason == string(robots.UnresolvedRevisit)
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
			c.Memory.Seen = []robots.Seen{{Kind: robots.AnswerKind{Class: robots.Success}, Next: *since}}
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
