package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// runVolumes are the volumes of --from-run: the segments of an earlier run,
// whose numbers and seqs are kept. Its facts stay what they were; what is made
// anew is their reading. folder is DIR/_runs/ID.
func (n *census) runVolumes(folder string) ([]volume, error) {
	clean := filepath.Clean(folder)
	dir, id := filepath.Dir(filepath.Dir(clean)), filepath.Base(clean)
	m, err := sink.ReadManifest(dir, id)
	if err != nil {
		return nil, &userfile.Error{Path: folder, Err: fmt.Errorf("is not a run: %w; give DIR/_runs/ID", err)}
	}
	for _, table := range []string{"fetches", "bodies"} {
		if !slices.Contains(m.Tables, table) {
			return nil, &userfile.Error{Path: folder, Err: fmt.Errorf("has no table %s; only a run made with --keep-bodies can be judged again", table)}
		}
	}
	if m.State != "complete" {
		return nil, &userfile.Error{Path: folder, Err: errors.New("is not complete; complete it with --resume first")}
	}
	limits := limitsOf(m.Profiles)
	type parts struct{ fetches, bodies sink.Part }
	segments := make(map[int]*parts)
	for _, p := range m.Parts {
		if segments[p.Segment] == nil {
			segments[p.Segment] = &parts{}
		}
		switch p.Table {
		case "fetches":
			segments[p.Segment].fetches = p
		case "bodies":
			segments[p.Segment].bodies = p
		}
	}
	var out []volume
	for index, s := range segments {
		out = append(out, volume{
			input: sink.Input{Role: "run", Path: s.fetches.Path, SHA256: s.fetches.SHA256, Rows: s.fetches.Rows},
			first: index, most: 1,
			read: func(ctx context.Context, emit func(*job) error) error {
				err := n.readSegment(ctx, dir, s.fetches, s.bodies, limits, emit)
				var input *userfile.Error
				if err != nil && !errors.Is(err, errEnough) && !errors.As(err, &input) && ctx.Err() == nil {
					err = &userfile.Error{Path: s.fetches.Path, Err: err}
				}
				return err
			},
		})
	}
	slices.SortFunc(out, func(a, b volume) int { return a.first - b.first })
	return out, nil
}

// readSegment gives the rows of a part of fetches their bodies back. These
// stand in the order in which they were first met, each once: a body is kept
// for as long as a row to come needs it.
func (n *census) readSegment(ctx context.Context, dir string, fetches, bodies sink.Part, l limits, emit func(*job) error) error {
	needed := make(map[string]int)
	rows, err := readFetchRows(ctx, dir, fetches)
	if err != nil {
		return err
	}
	for i := range rows {
		if d := rows[i].ContentDigest; d != nil {
			needed[*d]++
		}
	}
	file, err := sink.OpenPart(ctx, dir, bodies)
	if err != nil {
		return err
	}
	defer file.Close()
	next := parquet.NewGenericReader[sink.Body](file)
	defer next.Close()
	held := make(map[string][]byte)
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		row := &rows[i]
		var body []byte
		if d := row.ContentDigest; d != nil {
			for held[*d] == nil {
				one := make([]sink.Body, 1)
				if k, err := next.Read(one); k == 0 {
					if err == nil || err == io.EOF {
						err = fmt.Errorf("the body of %s is not in the table bodies", row.Host)
					}
					return err
				}
				held[one[0].ContentDigest] = append([]byte{}, one[0].Body...)
			}
			body = held[*d]
			if needed[*d]--; needed[*d] == 0 {
				delete(held, *d)
			}
		}
		j := jobOf(row, body, l)
		if n.filter != nil && !n.filter.has(j.capture.Origin) {
			n.skipped.add(Skipped{OtherHosts: 1})
			continue
		}
		if err := emit(j); err != nil {
			return err
		}
	}
	return nil
}

func readFetchRows(ctx context.Context, dir string, p sink.Part) ([]sink.Fetch, error) {
	f, err := sink.OpenPart(ctx, dir, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parquet.Read[sink.Fetch](f, p.Bytes)
}

// limits are how many bytes of a body the profiles of an earlier run read: its
// first one, and the one that reads most, for which bodies were fetched.
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

// cut tells whether more followed a body when it was captured. A row says of a
// body also that its profile read a part only.
func (l limits) cut(row *sink.Fetch, body []byte) bool {
	return row.BodyTruncated && (len(body) <= l.first || len(body) >= l.most)
}

// jobOf is the capture that a row of fetches tells of. That a server is
// misconfigured is known only where the first profile of the run made
// something of it: no column tells it apart.
func jobOf(row *sink.Fetch, body []byte, l limits) *job {
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
		c.Error = "" // what a row calls a status
	case row.Error != nil:
		c.Err = errors.New(*row.Error)
	}
	if addr, err := netip.ParseAddr(value(row.RemoteAddress)); err == nil {
		c.Remote = netip.AddrPortFrom(addr, o.Port)
	}
	for _, h := range row.Hops {
		c.Hops = append(c.Hops, robots.Hop{URL: h.URL, Status: int(value(h.Status))})
	}
	s := &stored{source: row.Source, warc: value(row.WARCFile), offset: value(row.WARCOffset), length: value(row.WARCLength)}
	// A request that failed has a class; a hop without an answer and without one
	// was never asked for: it is where a stored redirect leads. This does not
	// hang on what the profiles of then made of it.
	if last := len(c.Hops) - 1; last > 0 && c.Hops[last].Status == 0 && row.ErrorClass == nil {
		c.Location, c.Hops = c.Hops[last].URL, c.Hops[:last]
	}
	c.Unstored = row.Reason == string(robots.UnresolvedRevisit)
	if row.ContentDigest == nil {
		s.bytes, s.truncated = row.BodyBytes, row.BodyTruncated
	}
	if len(c.Hops) == 0 && row.Status == nil && row.ErrorClass == nil {
		s.assumed, c.Hops = true, []robots.Hop{{URL: o.RobotsURL(), Status: 200}}
	}
	// Of the memory a row has what its first profile made of it.
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
	return &job{
		target:  Target{Seq: row.Seq, Input: row.Input, Rank: row.Rank, Candidates: []fetch.Origin{o}},
		capture: c, stored: s,
	}
}

// value is what p points at, zero for nil.
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
