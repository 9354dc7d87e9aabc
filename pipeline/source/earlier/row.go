package earlier

import (
	"cmp"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// memoryOf returns the memory of a row, nil if no profile needs one. An older run only
// has what its first profile derived from it.
func memoryOf(row *schema.Fetch) *answer.Memory {
	if len(row.AnswersSince) == 0 {
		if row.UnreachableSince == nil {
			return nil
		}
		m := &answer.Memory{First: *row.UnreachableSince}
		if row.StaleSince != nil {
			m.Seen = []answer.Seen{{Kind: answer.Kind{Class: answer.Success}, Next: *row.UnreachableSince}}
		}
		return m
	}
	m := &answer.Memory{First: row.AnswersSince[0].Since}
	for i, a := range row.AnswersSince {
		if i > 0 {
			m.Seen[i-1].Next = a.Since
		}
		m.Seen = append(m.Seen, answer.Seen{Kind: answer.Kind{Class: answer.Reason(a.Kind), Redirects: int(a.Redirects)}})
	}
	return m
}

// targetOf makes the target of a row of fetches, with its capture. A new column of
// fetches that holds a fact of the capture must be read here, or re-judging a run loses
// it.
func targetOf(row *schema.Fetch, body []byte, l limits) target.Target {
	o := originOf(row)
	c := &fetch.Capture{
		Origin: o, Start: row.FetchTime, Attempts: int(row.Attempts), Error: answer.ErrorClass(schema.OrZero(row.ErrorClass)),
		Fallback: answer.ErrorClass(schema.OrZero(row.FallbackErrorClass)), HTTPVersion: schema.OrZero(row.HTTPVersion),
		TLSVersion: schema.OrZero(row.TLSVersion),
		Headers: fetch.Headers{
			ContentType: row.ContentType, ContentEncoding: row.ContentEncoding, Server: row.Server, ETag: row.ETag,
			LastModified: row.LastModified, CacheControl: row.CacheControl, RetryAfter: row.RetryAfter,
		},
		Times: fetch.Times{
			DNS: duration(row.DNSMicros), Connect: duration(row.ConnectMicros), TLS: duration(row.TLSMicros),
			FirstByte: duration(row.FirstByteMicros), Total: duration(row.TotalMicros),
		},
		Probe: fetch.Probe{
			Front: int(schema.OrZero(row.ProbeFrontStatus)), Missing: int(schema.OrZero(row.ProbeRandomStatus)),
		},
		Challenge: schema.OrZero(row.Challenge), CDN: schema.OrZero(row.CDN),
	}
	if addr, err := netip.ParseAddr(schema.OrZero(row.RemoteAddress)); err == nil {
		c.Remote = netip.AddrPortFrom(addr, o.Port)
	}
	c.Hops, c.Front = hopsOf(row.Hops), frontOf(row)
	restoreError(c, row.Error)
	s := &target.Stored{
		Source: row.Source, WARC: schema.OrZero(row.WARCFile), Offset: row.WARCOffset,
		Length: schema.OrZero(row.WARCLength), Vantage: row.Vantage,
	}
	// A failed request has an error class under any profile. So a last hop without
	// answer and without class was not requested: it is the target of a stored
	// redirect.
	if last := len(c.Hops) - 1; last > 0 && c.Hops[last].Status == 0 && row.ErrorClass == nil {
		c.Location, c.Hops = c.Hops[last].URL, c.Hops[:last]
	}
	c.Unstored = row.Reason == string(answer.RevisitUnresolved)
	if row.ContentDigest == nil {
		s.Bytes, s.Truncated = row.BodyBytes, row.BodyTruncated
	}
	if len(c.Hops) == 0 && row.Status == nil && row.ErrorClass == nil {
		s.Assumed, c.Hops = true, []answer.Hop{{URL: o.RobotsURL(), Status: 200}}
	}
	if row.ProbeFrontStatus == nil && row.Reason == string(answer.MisconfiguredServer) {
		c.Probe = fetch.Probe{Front: 200, Missing: c.Status()} // of an older run
	}
	c.Memory = memoryOf(row)
	if fetched := cmp.Or(row.CopyTime, row.StaleSince); fetched != nil { // an older run only has the second
		c.Copy = &fetch.WholeCopy{Fetched: *fetched, Body: body, Truncated: l.cut(row, body)}
	} else {
		c.Body, c.Truncated = body, l.cut(row, body)
	}
	return target.Target{
		Seq: row.Seq, Input: row.Input, Rank: row.Rank, Candidates: []fetch.Origin{o}, Capture: c, Stored: s,
	}
}

func originOf(row *schema.Fetch) fetch.Origin {
	return fetch.Origin{Scheme: row.Scheme, Host: row.Host, Port: uint16(row.Port)}
}

// restoreError completes a capture by its class of error and the column error. A final status
// is the error of a row, but none of a capture, whose text may be a remark beside it.
func restoreError(c *fetch.Capture, text *string) {
	isStatus := c.Error == answer.ErrorServerError || c.Error == answer.ErrorUnexpectedStatus
	if text != nil && !(isStatus && *text == schema.FinalStatus(c.Status())) {
		c.Err = errors.New(*text)
	}
	if isStatus {
		c.Error = ""
	}
}

// frontOf makes what came of the request for the front page, nil if nobody looked.
func frontOf(row *schema.Fetch) *fetch.Front {
	if row.FrontPage == nil {
		return nil
	}
	front := &fetch.Front{
		Outcome: usage.PageOutcome(*row.FrontPage), Hops: hopsOf(row.FrontHops),
		Error: answer.ErrorClass(schema.OrZero(row.FrontErrorClass)),
	}
	for _, h := range row.FrontHeaders {
		if last := len(front.Header) - 1; h.Name == schema.EscapedLine && last >= 0 && front.Header[last].Value != nil {
			front.Header[last].Value = new(schema.Unescaped(*front.Header[last].Value))
			continue
		}
		front.Header = append(front.Header, usage.HeaderField(h))
	}
	return front
}

func hopsOf(hops []schema.Hop) (out []answer.Hop) {
	for _, h := range hops {
		out = append(out, answer.Hop{URL: h.URL, Status: int(schema.OrZero(h.Status))})
	}
	return out
}

// CapturesOf returns a function that returns the capture of a row of a run's fetches, with
// the body that decides about it.
func CapturesOf(m *journal.Manifest) (func(row *schema.Fetch, body []byte) *fetch.Capture, error) {
	l, err := limitsOf(m)
	if err != nil {
		return nil, err
	}
	return func(row *schema.Fetch, body []byte) *fetch.Capture { return targetOf(row, body, l).Capture }, nil
}

// limits are size limits of an earlier run: that of its first profile, the largest, up to
// which it fetched bodies, and the most bytes that it can have kept of one.
type limits struct{ first, most, kept int }

func limitsOf(m *journal.Manifest) (l limits, err error) {
	judges := slices.Collect(maps.Keys(m.ProfileFields)) // those that judge under own are not profiles of the run
	for i, name := range slices.Concat(m.Profiles, judges) {
		p, err := past.Profile(m, name)
		if err != nil {
			return l, err
		}
		if l.most = max(l.most, p.SizeLimit); i == 0 {
			l.first = p.SizeLimit
		}
	}
	l.kept = l.most
	if slices.ContainsFunc(m.Inputs, func(in journal.Input) bool { return in.Role == "run" }) {
		l.kept = robots.MaxSizeLimit // the bodies are those of a run that may have kept more
	}
	return l, nil
}

// cut reports whether the body of a row is only a part of what came. Where an older run
// does not say so, body_truncated can also mean that only its profile read a part.
func (l limits) cut(row *schema.Fetch, body []byte) bool {
	if row.KeptTruncated != nil {
		return *row.KeptTruncated
	}
	return row.BodyTruncated && (len(body) <= l.first || len(body) >= l.most)
}

func duration(micros *int64) *time.Duration {
	if micros == nil {
		return nil
	}
	d := time.Duration(*micros) * time.Microsecond
	return &d
}
