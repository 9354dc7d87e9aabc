package evaluate

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// What hosts answer to further identities.

// answersWork bounds the work of comparing two answers, in the unit of [robots.Relate]:
// about 20 ms.
const answersWork = 1 << 22

// secondFile reads the answers to identities, under the first profile. The agents of the
// identities share a parsed file and not a judge: each is judged alone.
type secondFile struct {
	file   robots.File
	judges map[int]*robots.Judge // by agent of the registry, -1 for one that no group names
}

// answers writes the answers to identities, and counts them.
func (e *Evaluator) answers(t *target.Target, row *schema.Fetch, stratum string, counts bool, out *sink.Segment) error {
	for i := range t.Capture.Also {
		a := e.answer(t.Capture, &t.Capture.Also[i], row)
		if counts {
			e.countAnswer(&a, stratum)
		}
		if err := out.Answers.Write(a); err != nil {
			return err
		}
		if a.ContentDigest != nil && out.Bodies.Wanted() && !e.bodies[*a.ContentDigest] {
			e.bodies[*a.ContentDigest] = true
			if err := out.Bodies.Write(schema.Body{ContentDigest: *a.ContentDigest,
				Body: t.Capture.Also[i].Capture.Body}); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer makes the row of an answer to an identity.
func (e *Evaluator) answer(own *fetch.Capture, also *fetch.Also, row *schema.Fetch) schema.Answer {
	c := also.Capture
	facts := c.Facts()
	agent := e.agentNamed(also.Identity.Agent)
	r := e.reader(agent)
	read := r.profile.Answer(facts)
	failure := facts.Failure()
	a := schema.Answer{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin,
		Identity: also.Identity.Name, IsControl: also.Identity.IsControl, UserAgent: also.Identity.UserAgent,
		Agent: schema.NonZero(also.Identity.Agent),
		Path:  schema.RobotsPath, FetchTime: new(c.Start.UTC().Truncate(time.Microsecond)),
		Status:  schema.NonZero(int32(c.Status())),
		Outcome: new(string(read.Outcome)), Reason: new(string(read.Reason)), ErrorClass: schema.NonZero(string(failure)),
		Challenge: schema.NonZero(c.Challenge), TotalMicros: micros(c.Times.Total), BodyTruncated: c.Truncated,
		Treatment: summary.TreatmentNames[treatmentOf(own, c)], Class: summary.ClassNames[r.classOf(agent)],
	}
	if agent >= 0 {
		a.Category = &e.config.Agents[agent].Category
	}
	a.Hops = hopsOf(c.Hops)
	if p := also.Price; p != nil {
		a.Price, a.PriceHeader = schema.NonZero(schema.TextString(p.Text)), schema.NonZero(p.Header)
	}
	if c.Err != nil {
		a.Error = new(schema.TextString(c.Err.Error()))
	} else if failure != "" {
		a.Error = new(schema.FinalStatus(c.Status()))
	}
	if c.Cut != nil {
		a.BodyBytes = new(int64(*c.Cut))
	}
	if body := c.Whole(); body != nil {
		a.BodyBytes = new(int64(len(body)))
		if mine := own.Whole(); mine != nil {
			a.Same = new(bytes.Equal(mine, body) && own.Truncated == c.Truncated)
		}
		if a.ContentDigest = row.ContentDigest; a.Same == nil || !*a.Same || row.StaleSince != nil {
			a.ContentDigest = new(schema.ContentDigest(body))
		}
	}
	relation, difference := e.relate(r, agent, own, c, read)
	a.Policy, a.FirstDifference = relation, schema.NonZero(difference)
	return a
}

// agentNamed returns the index of an agent of the registry, -1 for none.
func (e *Evaluator) agentNamed(name string) int {
	for i := range e.config.Agents {
		if name != "" && e.config.Agents[i].Name == name {
			return i
		}
	}
	return -1
}

// reader returns the reading that judges an agent under the first profile; for -1, that
// which answers for the profile as a whole.
func (e *Evaluator) reader(agent int) *reading {
	if agent < 0 {
		return e.face(0)
	}
	return e.under(0, agent)
}

// policyOf returns the policy of an agent in the host's own answer; for -1, that of an
// agent that no group names. The file must be loaded.
func (r *reading) policyOf(agent int) *robots.Policy {
	if agent < 0 {
		return r.judge.Policy(len(r.agents))
	}
	return r.policy(agent)
}

// classOf returns the class of an agent's policy in the host's own answer, as policies
// have it.
func (r *reading) classOf(agent int) int {
	switch {
	case r.answer.Walled:
	case r.answer.Outcome == answer.FullAllow:
		return int(robots.AllowAll)
	case r.answer.Outcome == answer.ConditionalAllow:
		r.load()
		return int(r.policyOf(agent).Class())
	}
	return summary.ClassUnknown
}

// isFile reports whether an answer is a file that can be read.
func isFile(c *fetch.Capture) bool {
	return c.Challenge == "" && c.Status()/100 == 2 && c.Whole() != nil
}

// isAbsent reports whether an answer says that there is no file.
func isAbsent(c *fetch.Capture) bool {
	return c.Challenge == "" && c.Error == "" && (c.Status() == http.StatusNotFound || c.Status() == http.StatusGone)
}

// treatmentOf returns what an identity met, against the host's own answer.
func treatmentOf(own, c *fetch.Capture) summary.Treatment {
	status := c.Status()
	switch {
	case !isFile(own) && !isAbsent(own):
		return summary.Incomparable
	case c.Challenge != "":
		return summary.Challenged
	case isFile(c) && isFile(own):
		return summary.Served
	case isAbsent(c) && isAbsent(own):
		return summary.Absent
	case isFile(c), isAbsent(c):
		return summary.OtherAnswer
	case c.Error != "" && c.Error.Answer().IsOutage():
		return summary.Unreached
	case c.Error == "" && status == http.StatusTooManyRequests:
		return summary.RateLimited
	case c.Error == "" && status == http.StatusPaymentRequired:
		return summary.Payment
	case c.Error == "" && status >= 400 && status <= 499:
		return summary.Refused
	}
	return summary.Failing
}

// relate returns the relation of the agent's policy in the answer to an identity to that
// in the host's own, and where they first differ.
func (e *Evaluator) relate(r *reading, agent int, own, c *fetch.Capture, read answer.Answer) (relation,
	difference string) {
	if !isFile(own) || !isFile(c) || !r.answer.AsksRules() || !read.AsksRules() || r.answer.UseCopy || read.UseCopy {
		return summary.ClassNames[summary.ClassUnknown], ""
	}
	if bytes.Equal(own.Body, c.Body) && own.Truncated == c.Truncated {
		return summary.RelationNames[robots.Equal], ""
	}
	f, judge := &e.second.file, e.second.judges[agent]
	if judge == nil {
		as := everybody
		if agent >= 0 {
			as = registry.Robots(&e.config.Agents[agent])
		}
		judge = robots.NewJudge(r.profile, []robots.Agent{as})
		if e.second.judges == nil {
			e.second.judges = make(map[int]*robots.Judge)
		}
		e.second.judges[agent] = judge
	}
	f.Cut = c.Truncated
	f.Parse(c.Body, r.profile)
	judge.Load(f)
	r.load()
	mine, theirs := r.policyOf(agent), judge.Policy(0)
	x, _ := robots.CompareWithin(mine, theirs, answersWork)
	if x.Relation == robots.RelationUndecided && x.Closes == nil && x.Opens == nil {
		x = robots.Probe(mine, theirs)
	}
	w := cmp.Or(x.Closes, x.Opens)
	if w == nil {
		return summary.RelationNames[x.Relation], ""
	}
	target := r.profile.LiteralTarget("http://host.example" + w.Path) // the lines are those of the agent's own groups
	side := func(f *robots.File, v robots.Verdict) string {
		if v.Rule < 0 {
			return v.Value.String()
		}
		return fmt.Sprintf("%s (line %d)", v.Value, f.Rules[v.Rule].Line)
	}
	text := fmt.Sprintf("%s: %s, then %s", summary.Clip([]byte(w.Path)), side(&r.file, mine.Judge(&target)),
		side(f, theirs.Judge(&target)))
	return summary.RelationNames[x.Relation], text
}
