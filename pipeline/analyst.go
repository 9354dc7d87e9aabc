package pipeline

import (
	"crypto/sha1"
	"encoding/base32"
	"strconv"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// analyst parses and judges captures and makes rows of them. It serves one
// goroutine and reuses its memory from target to target.
type analyst struct {
	config   Config
	samples  *samples
	readings []reading // by profile
	counts   *Counts   // of the segment under way
	bodies   map[string]bool

	// Row buffers, refilled for every target.
	groups   []sink.Group
	rules    []sink.Rule
	sitemaps []sink.Sitemap
	lines    []sink.Line
	signals  []sink.Signal
	policies []sink.Policy
	verdicts []sink.Verdict
	indexes  []int32 // group indexes that rows point at
}

// reading is how one profile sees the capture under way.
type reading struct {
	profile *robots.Profile
	file    robots.File
	judge   *robots.Judge
	answer  robots.Answer

	patterns []string // of the file's rules, as text
}

func newAnalyst(c Config, s *samples) *analyst {
	a := &analyst{config: c, samples: s, readings: make([]reading, len(c.Profiles)), counts: newCounts(c), bodies: make(map[string]bool)}
	agents := make([]robots.Agent, len(c.Agents))
	for i, agent := range c.Agents {
		agents[i] = agent.Robots()
	}
	for i, p := range c.Profiles {
		a.readings[i].profile = p
		a.readings[i].judge = robots.NewJudge(p, agents)
		a.readings[i].file.KeepComments = c.KeepComments
	}
	return a
}

// commit writes a segment's rows and commits its parts.
func (a *analyst) commit(run *sink.Run, s *segment, spill *spill, totals *Counts) error {
	out, err := run.Segment(s.index)
	if err != nil {
		return err
	}
	defer out.Abort()
	a.counts.reset()
	clear(a.bodies)
	for i, j := range s.jobs {
		if j.spilled != nil {
			if j.capture.Body, err = spill.take(j.spilled); err != nil {
				return err
			}
		}
		if err := a.target(j, out); err != nil {
			return err
		}
		s.jobs[i] = nil // the body is not needed any more
	}
	if err := out.Summary.Write(a.counts.rows()...); err != nil {
		return err
	}
	if err := out.Commit(); err != nil {
		return err
	}
	totals.merge(a.counts)
	return nil
}

// target makes the rows of one target.
func (a *analyst) target(j *job, out *sink.Segment) error {
	c := j.capture
	// A body that was cut short is no file: half a rule is another rule.
	var body []byte
	whole := c.Error == "" && c.Body != nil
	if whole {
		body = c.Body
	}
	judging := out.Policies.Wanted() || out.Verdicts.Wanted() || out.Summary.Wanted()
	facts := robots.Facts{Hops: c.Hops, Error: c.Error, HTMLRedirect: whole && robots.HTMLRedirect(body)}
	for i := range a.readings {
		r := &a.readings[i]
		r.answer = r.profile.Answer(facts)
		r.file.Parse(body, r.profile)
		if judging || out.Groups.Wanted() {
			r.judge.Load(&r.file)
		}
		r.patterns = r.patterns[:0]
		for i := range r.file.Rules {
			r.patterns = append(r.patterns, sink.Text(r.file.Rules[i].Pattern))
		}
	}
	first := &a.readings[0]
	row := a.fetchRow(j, whole)
	if err := out.Fetches.Write(row); err != nil {
		return err
	}
	stratum := stratumOf(row.Rank)
	if out.Summary.Wanted() {
		a.count(&row, &first.file, stratum)
	}
	if whole {
		if err := a.content(&row, out); err != nil {
			return err
		}
		if digest := *row.ContentDigest; out.Bodies.Wanted() && !a.bodies[digest] {
			a.bodies[digest] = true
			if err := out.Bodies.Write(sink.Body{ContentDigest: digest, Body: body}); err != nil {
				return err
			}
		}
	}
	listed := a.samples.absolute[c.Origin]
	for _, s := range listed {
		s.used.Store(true)
	}
	if !judging {
		return nil
	}
	return a.judgements(&row, listed, j.target.Paths, stratum, out)
}

func (a *analyst) fetchRow(j *job, whole bool) sink.Fetch {
	c, first := j.capture, &a.readings[0]
	domain, tld := fetch.RegisteredDomain(c.Origin.Host)
	row := sink.Fetch{
		Seq: j.target.Seq, Input: sink.TextString(j.target.Input), Host: c.Origin.Host, Rank: j.target.Rank,
		Origin: c.Origin.String(), Scheme: c.Origin.Scheme, Port: int32(c.Origin.Port),
		RegisteredDomain: sink.NonZero(domain), TLD: sink.NonZero(tld), RobotsURL: c.Origin.RobotsURL(),
		Source: "network", FetchTime: c.Start.UTC().Truncate(time.Microsecond),
		Outcome: string(first.answer.Outcome), Reason: string(first.answer.Reason),
		Status: sink.NonZero(int32(c.Status())), ErrorClass: sink.NonZero(string(c.Error)), FallbackErrorClass: sink.NonZero(string(c.Fallback)),
		Attempts: int32(c.Attempts), HTTPVersion: sink.NonZero(c.HTTPVersion), TLSVersion: sink.NonZero(c.TLSVersion),
		ContentType: header(c.Headers.ContentType), ContentEncoding: header(c.Headers.ContentEncoding),
		Server: header(c.Headers.Server), ETag: header(c.Headers.ETag), LastModified: header(c.Headers.LastModified),
		CacheControl: header(c.Headers.CacheControl), RetryAfter: header(c.Headers.RetryAfter),
		DNSMicros: micros(c.Times.DNS), ConnectMicros: micros(c.Times.Connect), TLSMicros: micros(c.Times.TLS),
		FirstByteMicros: micros(c.Times.FirstByte), TotalMicros: micros(c.Times.Total),
	}
	for _, h := range c.Hops {
		row.Hops = append(row.Hops, sink.Hop{URL: sink.TextString(h.URL), Status: sink.NonZero(int32(h.Status))})
	}
	if n := len(row.Hops); n > 0 && row.Hops[n-1].Status != nil {
		row.FinalURL = &row.Hops[n-1].URL
	}
	if c.Err != nil {
		row.Error = sink.Some(sink.TextString(c.Err.Error()))
	}
	if c.Remote.IsValid() {
		row.RemoteAddress = sink.Some(c.Remote.Addr().String())
	}
	if c.Body != nil {
		row.BodyBytes, row.BodyTruncated = sink.Some(int64(len(c.Body))), c.Truncated || first.file.Truncated
	}
	if whole {
		sum := sha1.Sum(c.Body)
		row.ContentDigest = sink.Some(base32.StdEncoding.EncodeToString(sum[:]))
		f := &first.file
		row.HasBOM, row.IsUTF8, row.IsHTML = f.HasBOM, f.IsUTF8, f.IsHTML
		row.Lines, row.InvalidLines = int32(f.Lines), int32(f.InvalidLines)
		row.Groups, row.Rules, row.Sitemaps = int32(len(f.Groups)), int32(len(f.Rules)), int32(len(f.Sitemaps))
	}
	return row
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

// count adds what a target's fetch and content say to the summary.
func (a *analyst) count(row *sink.Fetch, f *robots.File, stratum string) {
	n := a.counts
	n.add("targets", stratum, "")
	for i := range a.readings {
		n.addProfile("outcome", stratum, i, string(a.readings[i].answer.Outcome))
		n.addProfile("reason", stratum, i, string(a.readings[i].answer.Reason))
	}
	status := "none"
	if row.Status != nil {
		status = strconv.Itoa(int(*row.Status))
	}
	n.add("status", stratum, status)
	if row.ErrorClass != nil {
		n.add("error_class", stratum, *row.ErrorClass)
	}
	if row.ContentDigest == nil {
		return
	}
	n.add("body_bytes", stratum, bin(int(*row.BodyBytes)))
	n.add("lines", stratum, bin(int(row.Lines)))
	n.add("rules", stratum, bin(int(row.Rules)))
	n.add("groups", stratum, bin(int(row.Groups)))
	n.add("sitemaps", stratum, bin(int(row.Sitemaps)))
	for flag, set := range map[string]bool{"bom": row.HasBOM, "not_utf8": !row.IsUTF8, "html": row.IsHTML, "truncated": row.BodyTruncated} {
		if set {
			n.add("body", stratum, flag)
		}
	}
	for _, m := range f.Remarks {
		n.add("line_class", stratum, m.Class.String())
	}
}
