package pipeline

import (
	"context"
	"crypto/sha1"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// evaluator parses and judges captures and makes rows of them. It serves one
// goroutine and reuses its memory from target to target.
type evaluator struct {
	config   Config
	samples  *evaluate.Samples
	readings []reading        // by profile
	counts   *summary.Counts  // of the segment under way
	examples summary.Examples // the same
	contents *contents        // of all evaluators
	bodies   map[string]bool
	note     note // of the segment under way
	memo     memo // of the target under way

	// Row buffers, refilled for every target.
	groups   []sink.Group
	rules    []sink.Rule
	sitemaps []sink.Sitemap
	lines    []sink.Line
	signals  []sink.Signal
	policies []sink.Policy
	verdicts []sink.Verdict
	indexes  []int32            // group indexes that rows point at
	said     map[[2]string]bool // of the target under way, see once
}

// reading is how one profile sees the capture under way.
type reading struct {
	profile *robots.Profile
	judge   *robots.Judge
	loaded  *content // that the judge knows
	answer  robots.Answer
	body    []byte // that it judges, nil for none
	content *content
	once    content // of a body that is not kept
}

func newEvaluator(c Config, s *evaluate.Samples, known *contents) *evaluator {
	a := &evaluator{config: c, samples: s, contents: known, readings: make([]reading, len(c.Profiles)), counts: c.newCounts(), bodies: make(map[string]bool), said: make(map[[2]string]bool)}
	agents := make([]robots.Agent, len(c.Agents)+1)
	for i, agent := range c.Agents {
		agents[i] = agent.Robots()
	}
	agents[len(c.Agents)] = everybody
	for i, p := range c.Profiles {
		a.readings[i].profile = p
		a.readings[i].judge = robots.NewJudge(p, agents)
	}
	return a
}

func (c *Config) newCounts() *summary.Counts {
	agents := make([]summary.Agent, len(c.Agents))
	for i, a := range c.Agents {
		agents[i] = summary.Agent{Name: a.Name, Category: a.Category}
	}
	return summary.New(agents, c.ProfileNames())
}

// commit writes a segment's rows and commits its parts, unless ctx ends before
// all rows are written: hostile files may take minutes.
func (a *evaluator) commit(ctx context.Context, run *sink.Run, s *segment, totals *summary.Counts) error {
	defer s.spill.close()
	out, err := run.Segment(s.index)
	if err != nil {
		return err
	}
	defer out.Abort()
	a.counts.Reset()
	a.examples.Reset()
	a.note, out.Targets = note{}, int64(len(s.jobs))
	clear(a.bodies)
	for i, j := range s.jobs {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, body := range j.bodies() {
			if j.spilled[i] == nil {
				continue
			}
			if *body, err = s.spill.take(j.spilled[i]); err != nil {
				return err
			}
		}
		if err := a.target(j, out); err != nil {
			return err
		}
		s.jobs[i] = nil // the body is not needed any more
	}
	if out.Agents.Wanted() { // of segment 0 alone
		if err := out.Agents.Write(evaluate.AgentRows(a.config.Agents)...); err != nil {
			return err
		}
	}
	if err := out.Summary.Write(a.counts.Rows()...); err != nil {
		return err
	}
	if err := out.Examples.Write(a.examples.List()...); err != nil {
		return err
	}
	if out.Note, err = json.Marshal(a.note); err != nil {
		return fmt.Errorf("note of segment %d: %w", s.index, err)
	}
	if err := out.Commit(); err != nil {
		return err
	}
	totals.Merge(a.counts)
	return nil
}

// target makes the rows of one target.
func (a *evaluator) target(j *job, out *sink.Segment) error {
	c := j.capture
	judging := out.Policies.Wanted() || out.Verdicts.Wanted() || out.Summary.Wanted()
	received := c.Whole()
	facts := c.Facts()
	for i := range a.readings {
		r := &a.readings[i]
		r.answer = r.profile.Answer(facts)
		body, cut := received, c.Truncated
		if r.answer.UseCopy {
			body, cut = c.Copy.Body, c.Copy.Truncated
		}
		r.body = body
		a.read(i, body, questions{
			cut: cut, classes: i == 0 && out.Groups.Wanted(), judging: judging && r.answer.AsksRules(),
			parting: judging && i > 0 && sameBody(&a.readings[0], r),
		})
	}
	first := &a.readings[0]
	row := a.fetchRow(j, facts.Failure())
	if err := out.Fetches.Write(row); err != nil {
		return err
	}
	stratum := summary.StratumOf(row.Rank)
	if out.Summary.Wanted() || out.Examples.Wanted() {
		a.count(&row, stratum)
	}
	if first.body != nil {
		if err := a.content(&row, out); err != nil {
			return err
		}
		if digest := *row.ContentDigest; out.Bodies.Wanted() && !a.bodies[digest] {
			a.bodies[digest] = true
			if err := out.Bodies.Write(sink.Body{ContentDigest: digest, Body: first.body}); err != nil {
				return err
			}
		}
	}
	listed := a.samples.Absolute[c.Origin]
	for _, s := range listed {
		s.Used.Store(true)
	}
	if len(listed) > 0 {
		a.note.Samples = append(a.note.Samples, listed[0].Index)
	}
	if !judging {
		return nil
	}
	return a.judgements(&row, listed, j.target.Paths, stratum, out)
}

// fetchRow tells status, hops and error of the fresh attempt, and size, digest
// and counts of the body that the first profile judges, which may be an
// earlier one.
func (a *evaluator) fetchRow(j *job, failure robots.ErrorClass) sink.Fetch {
	c, first := j.capture, &a.readings[0]
	domain, tld := fetch.RegisteredDomain(c.Origin.Host)
	row := sink.Fetch{
		Seq: j.target.Seq, Input: sink.TextString(j.target.Input), Host: c.Origin.Host, Rank: j.target.Rank,
		Origin: c.Origin.String(), Scheme: c.Origin.Scheme, Port: int32(c.Origin.Port),
		RegisteredDomain: sink.NonZero(domain), TLD: sink.NonZero(tld), RobotsURL: c.Origin.RobotsURL(),
		Source: "network", FetchTime: c.Start.UTC().Truncate(time.Microsecond),
		Outcome: string(first.answer.Outcome), Reason: string(first.answer.Reason),
		Status: sink.NonZero(int32(c.Status())), ErrorClass: sink.NonZero(string(failure)), FallbackErrorClass: sink.NonZero(string(c.Fallback)),
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
	if c.Location != "" {
		row.Hops, row.FinalURL = append(row.Hops, sink.Hop{URL: sink.TextString(c.Location)}), nil
	}
	if s := j.stored; s != nil {
		s.tell(&row)
	}
	switch {
	case c.Err != nil:
		row.Error = sink.Some(sink.TextString(c.Err.Error()))
	case failure != "":
		row.Error = sink.Some(fmt.Sprintf("the final status is %d", c.Status()))
	}
	if s := j.stored; s != nil && s.mismatch != "" && row.Error == nil {
		row.Error = &s.mismatch
	}
	if c.Remote.IsValid() {
		row.RemoteAddress = sink.Some(c.Remote.Addr().String())
	}
	if c.Remembered {
		row.Source = "cache"
	}
	if since := first.answer.UnreachableSince; !since.IsZero() {
		row.UnreachableSince = sink.Some(since.UTC().Truncate(time.Microsecond))
	}
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
		if digest == "" {
			digest = digestOf(first.body)
		}
		row.ContentDigest = &digest
		f := &first.content.file
		row.HasBOM, row.IsUTF8, row.IsHTML = f.HasBOM, f.IsUTF8, f.IsHTML
		row.Lines, row.InvalidLines = int32(f.Lines), int32(f.InvalidLines)
		row.Groups, row.Rules, row.Sitemaps = int32(len(f.Groups)), int32(len(f.Rules)), int32(len(f.Sitemaps))
	}
	return row
}

// digestOf is a body's SHA-1 as Common Crawl's index writes it.
func digestOf(body []byte) string {
	sum := sha1.Sum(body)
	return base32.StdEncoding.EncodeToString(sum[:])
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
