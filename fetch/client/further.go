package client

import (
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// askFurther runs the plans: those that ask under further identities, or the others. It
// returns early if the context ends or this machine fails; got then says so.
func (lease *Lease) askFurther(got *heard, asOthers bool) {
	plans := lease.client.config.Further
	if len(plans) == 0 || !got.answered() {
		return
	}
	if lease.kept == nil {
		lease.kept = lease.text(0, nil)
	}
	isUnread := lease.outcome(got) == answer.Undefined
	ask := func(q *fetch.Question) *fetch.Further {
		if got.isStopped() || len(lease.more) == fetch.MaxFurther {
			return nil
		}
		if q.Unasked != "" {
			f := lease.noted(q)
			f.Outcome = q.Unasked
			lease.more = append(lease.more, &more{f, noText, noText, noText})
			return f
		}
		lease.number = len(lease.more) + 1
		f, a := lease.further(got, q)
		lease.number = 0
		if f == nil {
			return nil
		}
		told := &more{f, noText, noText, noText}
		if a != nil {
			if err := lease.keep(q, told, a); err != nil {
				got.fail(lease, err)
				return nil
			}
		}
		lease.more = append(lease.more, told)
		return f
	}
	host := &fetch.Answered{Capture: got.Capture, Unread: isUnread, Parse: func(p *robots.Profile,
		each func(*robots.File)) error {
		if got.text == nil || got.isStopped() {
			return nil
		}
		err := lease.client.rules.parse(lease, got, p, func(r *rulesReader) { each(&r.file) })
		if err != nil {
			got.fail(lease, err)
		}
		return err
	}}
	for _, p := range plans {
		if p.AsOthers != asOthers || isUnread && !asOthers {
			continue
		}
		if p.Ask(host, ask); got.isStopped() {
			return
		}
	}
}

// next returns the pause before the next request to the host, and whether it may be asked.
func (got *heard) next() (pause time.Duration, again bool) {
	if got.respite == 0 {
		return got.pause(IdentityPause)
	}
	return got.respite, got.respite > 0
}

// rest keeps what next returns.
func (got *heard) rest(pause time.Duration, again bool) {
	if got.respite = pause; !again {
		got.respite = -1
	}
}

// isStopped reports whether a fetch did not end.
func (got *heard) isStopped() bool { return got.Error == answer.ErrorCanceled }

// fail stops a fetch for an error of this machine, or of the context.
func (got *heard) fail(lease *Lease, err error) {
	if lease.ctx.Err() == nil {
		got.Local = err
	}
	got.stop(err)
}

// read reads a body in the place of a question. Few at a time are read, for a reader may
// have a window of some size.
func (lease *Lease) read(q *fetch.Question, body *text, keep io.Writer) error {
	select {
	case bodies <- struct{}{}:
	case <-lease.ctx.Done():
		return lease.ctx.Err()
	}
	defer func() { <-bodies }()
	return q.Read(body.reader(), keep)
}

// bodies limits the bodies that are read at the same time.
var bodies = make(chan struct{}, runtime.GOMAXPROCS(0))

// noted returns what came of a question before it is asked.
func (lease *Lease) noted(q *fetch.Question) *fetch.Further {
	f := &fetch.Further{Kind: q.Kind, Name: q.Name, URL: clipURL(q.URL()), Outcome: usage.PageRead}
	if q.Identity > 0 {
		f.Identity = &lease.client.config.Identities[q.Identity-1]
	}
	return f
}

// further asks a question once the host may be asked again, or notes that it wants to be left
// alone. a is nil if the URL was not asked for. f is nil if the fetch is stopped, and got then
// says so.
func (lease *Lease) further(got *heard, q *fetch.Question) (f *fetch.Further, a *heard) {
	pause, again := got.next()
	if !again {
		f = lease.noted(q)
		f.Outcome = usage.PageSpared
		return f, nil
	}
	f, a = lease.request(got, q, pause)
	if a != nil {
		if pause = IdentityPause; fetch.DomainOf(a.at.Host) == fetch.DomainOf(got.Origin.Host) {
			pause, again = a.pause(IdentityPause)
		}
		got.rest(pause, again)
	}
	return f, a
}

// request asks a question after a pause. What it returns is as of further.
func (lease *Lease) request(got *heard, q *fetch.Question, pause time.Duration) (f *fetch.Further, a *heard) {
	f = lease.noted(q)
	var failed error // ours
	rest := &step{q.Origin, q.Target}
	for rest != nil {
		next, r := rest, route{after: a}
		rest = nil
		r.may = func(o fetch.Origin, target string) bool {
			f.Outcome = usage.PageRead
			isFirst := o == q.Origin && target == q.Target
			speaker := lease.speaker(got, o)
			switch {
			case !q.Reaches(got.Origin, o), !isFirst && q.Follow != nil && !q.Follow(o, target):
				f.Outcome = usage.PageElsewhere
			case q.Permitted:
			case speaker != nil:
				f.Outcome, failed = lease.permission(speaker, q.Agent, o, target)
			case !isFirst && lease.led == MaxLed:
				f.Outcome = usage.PageUnread
			default:
				rest = &step{o, target}
				return false
			}
			return f.Outcome == usage.PageRead && failed == nil
		}
		if r.may(next.origin, next.target) {
			if a = lease.follow(got, q, a, r, next, pause); a == nil {
				return nil, nil
			}
			pause = IdentityPause
		}
		if rest != nil {
			if a != nil {
				lease.led++
			}
			if !lease.meet(got, rest.origin, pause) {
				return nil, nil
			}
			pause = IdentityPause
		}
	}
	if failed != nil {
		got.fail(lease, failed)
		return nil, nil
	}
	if a == nil {
		return f, nil
	}
	f.Start, f.Hops, f.Header, f.Truncated, f.Challenge = a.Start, a.Hops, a.header, a.Truncated, a.Challenge
	switch status := a.Status(); {
	case f.Outcome != usage.PageRead: // we may not follow the redirect
	case a.missing:
		f.Outcome = usage.PageUncaptured
	case a.spared:
		f.Outcome = usage.PageSpared
	case a.Error != "":
		f.Outcome, f.Error = usage.PageFailed, a.Error
	case a.Challenge != "":
		f.Outcome = usage.PageChallenge
	case status < 200 || status > 299:
		f.Outcome = usage.PageStatus
	}
	return f, a
}

// step is a URL of a chain.
type step struct {
	origin fetch.Origin
	target string
}

// follow makes the requests of a route after a pause, from a step of it on: the first, or one
// after a. It returns nil if the fetch is stopped.
func (lease *Lease) follow(got *heard, q *fetch.Question, a *heard, r route, from *step, pause time.Duration) *heard {
	b := &budget{deadline: time.Now().Add(pause + lease.client.config.Timeout)}
	if !lease.pause(b, pause) {
		got.stop(lease.ctx.Err())
		return nil
	}
	r.at, r.target = from.origin, from.target
	lease.question, lease.identity = q, q.Identity
	more := lease.attempt(b, 1, q.Origin, r)
	lease.question, lease.identity = nil, 0
	if got.stoppedBy(lease, more) {
		return nil
	}
	if a != nil {
		more.Start = a.Start
	}
	return more
}

// MaxLed bounds the origins that redirects may lead to of which nobody has asked the
// robots.txt yet: a host may have a name for each of them.
const MaxLed = 8

// MostRequests returns the most requests that a host may cost, which is tried by a number of
// schemes. Those that an outage of this machine voids are not among them.
func (c *Config) MostRequests(schemes int) int {
	chains := schemes*(1+2*c.Retries) + len(c.Identities)
	if c.FrontPage {
		chains++
	}
	for _, p := range c.Further {
		chains += p.Most
	}
	if c.FrontPage || len(c.Further) > 0 {
		chains += MaxLed
	}
	most := chains * (1 + c.MaxRedirects)
	if c.ProbeMisconfigured {
		most += 2
	}
	return most
}

// speaker returns the answer that has the robots.txt of an origin (RFC 9309, section 2.3: each
// has its own), nil if nobody has asked for it. It is the host's if its own request was
// redirected there.
func (lease *Lease) speaker(got *heard, o fetch.Origin) *heard {
	for _, a := range append([]*heard{got}, lease.strangers...) {
		if a.Origin == o || slices.ContainsFunc(a.Hops, func(h answer.Hop) bool { return h.URL == o.RobotsURL() }) {
			return a
		}
	}
	return nil
}

// meet asks another origin for its robots.txt. It reports whether the fetch goes on.
func (lease *Lease) meet(got *heard, o fetch.Origin, pause time.Duration) bool {
	b := &budget{deadline: time.Now().Add(pause + lease.client.config.Timeout)}
	a := &heard{Capture: &fetch.Capture{Origin: o, Error: answer.ErrorCanceled}}
	if lease.pause(b, pause) {
		lease.meets = true
		a = lease.attempt(b, 1, o, robotsRoute)
		lease.meets = false
	}
	lease.strangers = append(lease.strangers, a)
	return !got.stoppedBy(lease, a)
}

// maxBody returns the limit of the body that is asked for.
func (lease *Lease) maxBody() int {
	if q := lease.question; q != nil {
		return q.MaxBody
	}
	return lease.client.config.MaxBody
}
