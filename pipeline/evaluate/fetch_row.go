package evaluate

import (
	"fmt"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
)

// fetchRow makes the row of fetches. Status, hops and error are those of the new
// attempt; size, digest and counts are those of the body that the first profile
// judges, which may be an earlier copy.
func (e *Evaluator) fetchRow(t *source.Target, facts *answer.Facts) sink.Fetch {
	c, first, failure := t.Capture, &e.readings[0], facts.Failure()
	domain, tld := fetch.RegisteredDomain(c.Origin.Host)
	row := sink.Fetch{
		Seq: t.Seq, Input: sink.TextString(t.Input), Host: c.Origin.Host, Rank: t.Rank,
		Origin: c.Origin.String(), Scheme: c.Origin.Scheme, Port: int32(c.Origin.Port),
		RegisteredDomain: sink.NonZero(domain), TLD: sink.NonZero(tld), RobotsURL: c.Origin.RobotsURL(),
		Source: sourceOf(t), FetchTime: c.Start.UTC().Truncate(time.Microsecond), Vantage: sink.NonZero(e.config.Vantage), Challenge: sink.NonZero(c.Challenge),
		Outcome: string(first.answer.Outcome), Reason: string(first.answer.Reason),
		Status: sink.NonZero(int32(c.Status())), ErrorClass: sink.NonZero(string(failure)), FallbackErrorClass: sink.NonZero(string(c.Fallback)),
		Attempts: int32(c.Attempts), HTTPVersion: sink.NonZero(c.HTTPVersion), TLSVersion: sink.NonZero(c.TLSVersion),
		ContentType: header(c.Headers.ContentType), ContentEncoding: header(c.Headers.ContentEncoding),
		Server: header(c.Headers.Server), ETag: header(c.Headers.ETag), LastModified: header(c.Headers.LastModified),
		CacheControl: header(c.Headers.CacheControl), RetryAfter: header(c.Headers.RetryAfter),
		DNSMicros: micros(c.Times.DNS), ConnectMicros: micros(c.Times.Connect), TLSMicros: micros(c.Times.TLS),
		FirstByteMicros: micros(c.Times.FirstByte), TotalMicros: micros(c.Times.Total),
	}
	row.Hops = hopsOf(c.Hops)
	addFront(&row, c.Front)
	if n := len(row.Hops); n > 0 && row.Hops[n-1].Status != nil {
		row.FinalURL = &row.Hops[n-1].URL
	}
	if c.Location != "" {
		row.Hops, row.FinalURL = append(row.Hops, sink.Hop{URL: sink.TextString(c.Location)}), nil
	}
	if s := t.Stored; s != nil {
		addStored(&row, s)
		if row.Vantage == nil {
			row.Vantage = s.Vantage
		}
	}
	switch {
	case c.Err != nil:
		row.Error = sink.Some(sink.TextString(c.Err.Error()))
	case failure != "":
		row.Error = sink.Some(fmt.Sprintf("the final status is %d", c.Status()))
	}
	if s := t.Stored; s != nil && s.Mismatch != "" && row.Error == nil {
		row.Error = &s.Mismatch
	}
	if c.Remote.IsValid() {
		row.RemoteAddress = sink.Some(c.Remote.Addr().String())
	}
	if since := first.answer.UnreachableSince; !since.IsZero() {
		row.UnreachableSince = sink.Some(since.UTC().Truncate(time.Microsecond))
	}
	addFacts(&row, c, facts)
	switch {
	case first.answer.UseCopy:
		row.StaleSince = sink.Some(c.Copy.Fetched.UTC().Truncate(time.Microsecond))
		row.BodyBytes, row.BodyTruncated = sink.Some(int64(len(first.body))), first.content.file.Truncated
	case c.Cut != nil:
		row.BodyBytes, row.BodyTruncated = sink.Some(int64(*c.Cut)), c.Truncated
	case c.Body != nil:
		row.BodyBytes, row.BodyTruncated = sink.Some(int64(len(c.Body))), c.Truncated || first.content.file.Truncated
	}
	if first.body != nil {
		digest := first.content.digest
		if digest == "" && same(first.body, c.Body) {
			digest = c.Digest
		}
		if digest == "" {
			digest = sink.ContentDigest(first.body)
		}
		row.ContentDigest = &digest
		f := &first.content.file
		row.HasBOM, row.IsUTF8, row.IsHTML, row.OnlyComments = f.HasBOM, f.IsUTF8, f.IsHTML, f.OnlyComments()
		if c.Challenge == "" {
			row.Lines, row.InvalidLines = int32(f.Lines), int32(f.InvalidLines)
			row.Groups, row.Rules, row.Sitemaps = int32(len(f.Groups)), int32(len(f.Rules)), int32(len(f.Sitemaps))
		}
	}
	kept, cut := c.Whole() != nil, c.Truncated
	if row.CopyTime != nil {
		kept, cut = true, c.Copy.Truncated
		row.CopyDigest = row.ContentDigest
		if row.CopyDigest == nil {
			row.CopyDigest = sink.Some(sink.ContentDigest(c.Copy.Body))
		}
	}
	if kept && (cut || row.BodyTruncated) {
		row.KeptTruncated = &cut
	}
	return row
}

// addFacts adds the facts of the memory and of the probe, from which other profiles than
// the first derive what they need.
func addFacts(row *sink.Fetch, c *fetch.Capture, facts *answer.Facts) {
	row.ProbeFrontStatus, row.ProbeRandomStatus = sink.NonZero(int32(c.Probe.Front)), sink.NonZero(int32(c.Probe.Missing))
	if facts.Memory == nil || facts.Memory.Settled() {
		return
	}
	since := facts.Memory.First
	for _, s := range facts.Memory.Seen {
		row.AnswersSince = append(row.AnswersSince, sink.Seen{Since: since, Kind: string(s.Kind.Class), Redirects: int32(s.Kind.Redirects)})
		since = s.Next
	}
	if c.Copy != nil {
		row.CopyTime = sink.Some(c.Copy.Fetched.UTC().Truncate(time.Microsecond))
	}
}

func hopsOf(hops []answer.Hop) (out []sink.Hop) {
	for _, h := range hops {
		out = append(out, sink.Hop{URL: sink.TextString(h.URL), Status: sink.NonZero(int32(h.Status))})
	}
	return out
}

func header(value *string) *string {
	if value == nil {
		return nil
	}
	return sink.Some(sink.TextString(*value))
}

func micros(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return sink.Some(d.Microseconds())
}

// sourceOf returns where the target's capture comes from.
func sourceOf(t *source.Target) string {
	switch {
	case t.Capture.Remembered:
		return "cache"
	case t.Stored != nil:
		return t.Stored.Source
	}
	return "network"
}

// addStored adds the provenance of a stored capture to its row, and clears cells that
// the capture does not know.
func addStored(row *sink.Fetch, s *source.Stored) {
	if s.WARC != "" {
		row.WARCFile, row.WARCOffset, row.WARCLength = sink.Some(sink.TextString(s.WARC)), sink.Some(s.Offset), sink.NonZero(s.Length)
	}
	if s.Bytes != nil && row.BodyBytes == nil {
		row.BodyBytes, row.BodyTruncated = s.Bytes, s.Truncated
	}
	if s.Assumed {
		row.Hops, row.FinalURL, row.Status = nil, nil, nil
	}
}
