package evaluate

import (
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

// fetchRow makes the row of fetches. Status, hops and error are those of the new
// attempt; size, digest and counts are those of the body that the first profile
// judges, which may be an earlier copy.
func (e *Evaluator) fetchRow(t *target.Target, facts *answer.Facts) schema.Fetch {
	c, first, failure := t.Capture, &e.readings[0], facts.Failure()
	domain, tld := fetch.RegisteredDomain(c.Origin.Host)
	row := schema.Fetch{
		Seq: t.Seq, Input: schema.TextString(t.Input), Host: c.Origin.Host, Rank: t.Rank,
		Origin: c.Origin.String(), Scheme: c.Origin.Scheme, Port: int32(c.Origin.Port),
		RegisteredDomain: schema.NonZero(domain), TLD: schema.NonZero(tld), RobotsURL: c.Origin.RobotsURL(),
		Source: sourceOf(t), FetchTime: c.Start.UTC().Truncate(time.Microsecond), Vantage: schema.NonZero(e.config.Vantage),
		Challenge: schema.NonZero(c.Challenge), CDN: schema.NonZero(c.CDN),
		Outcome: string(first.answer.Outcome), Reason: string(first.answer.Reason),
		Status: schema.NonZero(int32(c.Status())), ErrorClass: schema.NonZero(string(failure)),
		FallbackErrorClass: schema.NonZero(string(c.Fallback)),
		Attempts:           int32(c.Attempts), HTTPVersion: schema.NonZero(c.HTTPVersion),
		TLSVersion:  schema.NonZero(c.TLSVersion),
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
		row.Hops, row.FinalURL = append(row.Hops, schema.Hop{URL: schema.TextString(c.Location)}), nil
	}
	if s := t.Stored; s != nil {
		addStored(&row, s)
		if row.Vantage == nil {
			row.Vantage = s.Vantage
		}
	}
	switch {
	case c.Err != nil:
		row.Error = new(schema.TextString(c.Err.Error()))
	case failure != "":
		row.Error = new(schema.FinalStatus(c.Status()))
	}
	if s := t.Stored; s != nil && s.Mismatch != "" && row.Error == nil {
		row.Error = &s.Mismatch
	}
	if c.Remote.IsValid() {
		row.RemoteAddress = new(c.Remote.Addr().String())
	}
	if since := first.answer.UnreachableSince; !since.IsZero() {
		row.UnreachableSince = new(since.UTC().Truncate(time.Microsecond))
	}
	addFacts(&row, c, facts)
	switch {
	case first.answer.UseCopy:
		row.StaleSince = new(c.Copy.Fetched.UTC().Truncate(time.Microsecond))
		row.BodyBytes, row.BodyTruncated = new(int64(len(first.body))), first.file.Truncated
	case c.Cut != nil:
		row.BodyBytes, row.BodyTruncated = new(int64(*c.Cut)), c.Truncated
	case c.Body != nil && (first.body != nil || c.Page() == nil):
		row.BodyBytes, row.BodyTruncated = new(int64(len(c.Body))), c.Truncated || first.file.Truncated
	}
	if first.body != nil {
		digest := first.content.digest
		if digest == "" && same(first.body, c.Body) {
			digest = c.Digest
		}
		if digest == "" {
			digest = schema.ContentDigest(first.body)
		}
		row.ContentDigest = &digest
		f := &first.file
		row.HasBOM, row.IsUTF8, row.IsHTML, row.OnlyComments = f.HasBOM, &f.IsUTF8, f.IsHTML, f.OnlyComments()
		if !first.answer.Walled {
			row.Lines, row.InvalidLines = int32(f.Lines), int32(f.InvalidLines)
			row.Groups, row.Rules, row.Sitemaps = int32(len(f.Groups)), int32(len(f.Rules)), int32(len(f.Sitemaps))
		}
	}
	kept, cut := c.Whole() != nil || first.body != nil, c.Truncated
	if page := c.Page(); page != nil && first.body == nil && row.CopyTime == nil {
		kept, row.CopyDigest = true, new(schema.ContentDigest(page)) // another profile may read it
	}
	if row.CopyTime != nil {
		kept, cut = true, c.Copy.Truncated
		row.CopyDigest = row.ContentDigest
		if row.CopyDigest == nil {
			row.CopyDigest = new(schema.ContentDigest(c.Copy.Body))
		}
	}
	if kept && (cut || row.BodyTruncated) {
		row.KeptTruncated = &cut
	}
	return row
}

// addFacts adds the facts of the memory and of the probe, from which other profiles than
// the first derive what they need.
func addFacts(row *schema.Fetch, c *fetch.Capture, facts *answer.Facts) {
	row.ProbeFrontStatus, row.ProbeRandomStatus = schema.NonZero(int32(c.Probe.Front)),
		schema.NonZero(int32(c.Probe.Missing))
	if facts.Memory == nil || facts.Memory.Settled() {
		return
	}
	since := facts.Memory.First
	for _, s := range facts.Memory.Seen {
		row.AnswersSince = append(row.AnswersSince, schema.Seen{Since: since, Kind: string(s.Kind.Class),
			Redirects: int32(s.Kind.Redirects)})
		since = s.Next
	}
	if c.Copy != nil {
		row.CopyTime = new(c.Copy.Fetched.UTC().Truncate(time.Microsecond))
	}
}

func hopsOf(hops []answer.Hop) (out []schema.Hop) {
	for _, h := range hops {
		out = append(out, schema.Hop{URL: schema.TextString(h.URL), Status: schema.NonZero(int32(h.Status))})
	}
	return out
}

func header(value *string) *string {
	if value == nil {
		return nil
	}
	return new(schema.TextString(*value))
}

func micros(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	return new(d.Microseconds())
}

// sourceOf returns where the target's capture comes from.
func sourceOf(t *target.Target) string {
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
func addStored(row *schema.Fetch, s *target.Stored) {
	row.WARCFile, row.WARCOffset = schema.NonZero(schema.TextString(s.WARC)), s.Offset
	row.WARCLength = schema.NonZero(s.Length)
	if s.Bytes != nil && row.BodyBytes == nil {
		row.BodyBytes, row.BodyTruncated = s.Bytes, s.Truncated
	}
	if s.Assumed {
		row.Hops, row.FinalURL, row.Status = nil, nil, nil
	}
}
