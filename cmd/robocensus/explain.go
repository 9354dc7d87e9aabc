package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// explainer says of one robots.txt after another what an agent may fetch and
// why. The first profile decides, the others are shown beside it.
type explainer struct {
	out      io.Writer
	agent    robots.Agent
	readings []*explained
	body     []byte

	disallowed, undefined bool
}

type explained struct {
	profile *robots.Profile
	file    robots.File
	judge   *robots.Judge
	answer  robots.Answer
}

func newExplainer(out io.Writer, profiles []*robots.Profile, agent robots.Agent) *explainer {
	e := &explainer{out: out, agent: agent}
	for _, p := range profiles {
		e.readings = append(e.readings, &explained{profile: p, judge: robots.NewJudge(p, []robots.Agent{agent})})
	}
	return e
}

// load takes a body and the facts about how it came.
func (e *explainer) load(body []byte, facts robots.Facts) {
	e.body = body
	for _, r := range e.readings {
		r.answer = r.profile.Answer(facts)
		r.file.Parse(body, r.profile)
		r.judge.Load(&r.file)
	}
}

// capture takes what was fetched, and shows its hops.
func (e *explainer) capture(c *fetch.Capture) {
	body := c.Body
	if c.Error != "" {
		body = nil
	}
	e.load(body, robots.Facts{Hops: c.Hops, Error: c.Error, HTMLRedirect: robots.HTMLRedirect(body)})
	for _, h := range c.Hops {
		status := "no answer"
		if h.Status != 0 {
			status = fmt.Sprint(h.Status)
		}
		fmt.Fprintf(e.out, "%s  %s\n", plain(h.URL), status)
	}
	if c.Err != nil {
		fmt.Fprintf(e.out, "%s: %s\n", c.Error, plain(c.Err.Error()))
	}
	a := e.readings[0].answer
	fmt.Fprintf(e.out, "%s (%s)\n\n", a.Outcome, a.Reason)
}

func (e *explainer) exit() error {
	switch {
	case e.disallowed:
		return exitDisallowed
	case e.undefined:
		return exitUndefined
	}
	return nil
}

// verdict is what a reading says of a URL.
func (r *explained) verdict(url string) robots.Verdict {
	if v, decided := r.answer.Verdict(); decided {
		return v
	}
	t := r.profile.Target(url)
	return r.judge.Policy(0).Judge(&t)
}

// explain says what an agent may do with one URL.
func (e *explainer) explain(url string) {
	first := e.readings[0]
	v := first.verdict(url)
	e.disallowed = e.disallowed || v.Value == robots.Disallowed
	e.undefined = e.undefined || v.Value == robots.Undefined
	fmt.Fprintf(e.out, "%s  %s may %s\n", strings.ToUpper(v.Value.String()), plain(e.agent.Name), map[robots.Value]string{
		robots.Allowed: "fetch", robots.Disallowed: "not fetch", robots.Undefined: "or may not fetch",
	}[v.Value]+" "+plain(url))

	policy := first.judge.Policy(0)
	group, why := "the group for *", ""
	switch policy.Match {
	case robots.OwnGroup:
		group = "the group of " + policy.GroupAgent
	case robots.FallbackGroup:
		group, why = "the group of "+policy.GroupAgent, ", to which "+plain(e.agent.Name)+" falls back"
	}
	_, decided := first.answer.Verdict()
	switch {
	case decided:
		e.note("the answer to the request decides: " + string(first.answer.Reason))
	case v.Reason == robots.ReasonRule, v.Reason == robots.ReasonEmptyRule:
		rule := &first.file.Rules[v.Rule]
		e.line("decides", rule.Line, fmt.Sprintf("%s (line %d)%s", group, e.groupLine(rule), why))
		if v.Reason == robots.ReasonEmptyRule {
			e.note("a rule without a path forbids nothing, and no other rule matches")
		}
	case v.Reason == robots.ReasonNoRule:
		e.note("no rule matches in " + group + why + ": what is not forbidden is allowed")
	case v.Reason == robots.ReasonNoGroup:
		e.note("no group is for this agent" + map[bool]string{true: ", and it does not follow the one for *"}[e.agent.IgnoresStar && first.profile.IgnoresStar])
	case v.Reason == robots.ReasonRobotsTxt:
		e.note("robots.txt itself may always be fetched (RFC 9309, section 2.2.2)")
	case v.Reason == robots.ReasonUndefined:
		e.note("the document leaves a choice open, and the choices differ")
	}
	if !decided {
		e.runnersUp(first, policy, url, v)
	}
	var others []string
	for _, r := range e.readings[1:] {
		others = append(others, r.profile.Name+" "+r.verdict(url).Value.String())
	}
	if len(others) > 0 {
		e.note("profile " + first.profile.Name + "; others: " + strings.Join(others, ", "))
	}
	fmt.Fprintln(e.out)
}

// runnersUp shows the rule that came second, or, where none decided, those
// that might have.
func (e *explainer) runnersUp(r *explained, policy *robots.Policy, url string, v robots.Verdict) {
	t := r.profile.Target(url)
	shown := 0
	for _, i := range policy.Contenders(nil, &t) {
		if i == v.Rule {
			continue
		}
		word := "gives way"
		if v.Rule < 0 {
			word = "in question"
		}
		rule := &r.file.Rules[i]
		e.line(word, rule.Line, fmt.Sprintf("it matches too, with %d bytes", rule.Length))
		if shown++; shown == 1 && v.Rule >= 0 || shown == 4 {
			return
		}
	}
}

func (e *explainer) groupLine(rule *robots.Rule) int32 {
	if rule.Group < 0 {
		return 0
	}
	return e.readings[0].file.Groups[rule.Group].Line
}

const maxShown = 100

func (e *explainer) line(word string, number int32, remark string) {
	text := plain(sink.Text(bytes.TrimSpace(lineOf(e.body, number))))
	if runes := []rune(text); len(runes) > maxShown {
		text = string(runes[:maxShown]) + "…"
	}
	fmt.Fprintf(e.out, "  %-11s line %d: %s   (%s)\n", word, number, text, remark)
}

func (e *explainer) note(text string) { fmt.Fprintf(e.out, "  %s\n", text) }

// lineOf is line number n of a body, counted from 1; LF, CR and CRLF end one.
func lineOf(body []byte, n int32) []byte {
	for ; ; n-- {
		end := bytes.IndexAny(body, "\r\n")
		if end < 0 {
			return body
		}
		if n == 1 {
			return body[:end]
		}
		if body[end] == '\r' && end+1 < len(body) && body[end+1] == '\n' {
			end++
		}
		body = body[end+1:]
	}
}
