package evaluate

import (
	"time"

	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// What further identities met on a page (--pages), beside what robots.txt says.

// askedPages writes what identities met on a page, and counts it.
func (e *Evaluator) askedPages(t *target.Target, row *schema.Fetch, stratum string, counts bool,
	out *sink.Segment) error {
	rows := t.Pages
	if rows == nil {
		for _, x := range documents.FindPages(t.Capture.Further) {
			rows = append(rows, pageAnswer(&x))
		}
	}
	for i := range rows {
		a := &rows[i]
		a.Seq, a.Host, a.Rank, a.Origin = row.Seq, row.Host, row.Rank, row.Origin
		e.setPaper(a)
	}
	if counts {
		e.countPages(rows, stratum)
	}
	return out.Answers.Write(rows...)
}

// pageAnswer makes the row of a page, but for whose it is and what is said on paper.
func pageAnswer(x *documents.PageFound) schema.Answer {
	f, who := x.Answer, x.Answer.Identity
	a := schema.Answer{
		Identity: who.Name, IsControl: who.IsControl, UserAgent: who.UserAgent, Agent: schema.NonZero(who.Agent),
		Path: schema.TextString(robots.URLPath(f.URL)), Status: schema.NonZero(int32(f.Status())), Hops: hopsOf(f.Hops),
		Remark: schema.NonZero(x.Reason), ErrorClass: schema.NonZero(string(f.Error)),
		Challenge: schema.NonZero(f.Challenge), BodyTruncated: f.Truncated, Same: x.Same,
		Policy: summary.ClassNames[summary.ClassUnknown], Treatment: string(x.Treatment),
		Price: schema.NonZero(schema.TextString(x.Price.Text)), PriceHeader: schema.NonZero(x.Price.Header),
	}
	if len(f.Hops) > 0 {
		a.FetchTime = new(f.Start.UTC().Truncate(time.Microsecond))
	}
	if x.Outline != nil {
		a.BodyBytes, a.TextDigest = new(int64(x.Outline.Bytes)), &x.Outline.Digest
	}
	if a.Price != nil && a.PriceHeader == nil {
		a.PriceHeader = new("body")
	}
	return a
}

// setPaper sets what the host's own answer says to the agent of a row.
func (e *Evaluator) setPaper(a *schema.Answer) {
	agent := e.agentNamed(schema.OrZero(a.Agent))
	if a.Category = nil; agent >= 0 {
		a.Category = &e.config.Agents[agent].Category
	}
	r := e.reader(agent)
	a.Class = summary.ClassNames[r.classOf(agent)]
	paper, verdict := summary.PaperUnknown, robots.Undefined
	switch {
	case r.answer.Walled:
	case r.answer.Outcome == answer.FullAllow:
		paper, verdict = summary.PaperNothing, robots.Permitted
	case r.answer.Outcome == answer.FullDisallow:
		verdict = robots.Disallowed
	case r.answer.Outcome == answer.ConditionalAllow:
		r.load()
		policy := r.policyOf(agent)
		target := r.profile.Target(a.Origin + a.Path)
		verdict = policy.Judge(&target).Value
		if paper = summary.PaperOf(policy.Class()); policy.Match == robots.NoGroup {
			paper = summary.PaperNothing
		}
	}
	a.Paper, a.Verdict = &paper, new(verdict.String())
}

// countPages counts a host by what an identity met on a page, and what is said to its agent on
// paper.
func (e *Evaluator) countPages(rows []schema.Answer, stratum string) {
	served, once := false, false
	for i := range rows {
		a := &rows[i]
		served = served || a.IsControl && a.Treatment == string(consent.PageServed)
		once = once || schema.OrZero(a.Remark) == consent.WhyOnce
	}
	for i := range rows {
		a := &rows[i]
		key := summary.PracticeKey(a.Identity, a.IsControl, schema.OrZero(a.Paper), a.Treatment, served, once)
		if agent := e.agentNamed(schema.OrZero(a.Agent)); agent >= 0 {
			e.counts.AddAgent("page_met", stratum, 0, agent, key)
		} else {
			e.counts.AddProfile("page_met", stratum, 0, key)
		}
	}
}
