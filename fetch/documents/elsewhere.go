package documents

import (
	"io"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// maxRobots is the size of a robots.txt on another site that is read.
const maxRobots = 500 << 10

// isElsewhere reports whether an origin is of another registered domain.
func (v *visit) isElsewhere(o fetch.Origin) bool {
	return fetch.DomainOf(v.host.Origin.Host) != fetch.DomainOf(o.Host)
}

// askElsewhere asks for a document on another site, if the robots.txt there lets our
// crawler fetch it: the client's own check is of the host's.
func (v *visit) askElsewhere(d *Document, o fetch.Origin, target string) {
	if v.over || v.elsewhere == maxElsewhere || v.asked[o.String()+target] {
		return
	}
	v.elsewhere++
	rules := v.rules[o]
	if rules == nil {
		rules = &foreign{}
		rules.answer = v.question(&fetch.Question{
			Kind: fetch.KindControl, Name: "robots.txt", Origin: o, Target: "/robots.txt", MaxBody: maxRobots, Permitted: true,
			Follow: func(to fetch.Origin, _ string) bool { return fetch.DomainOf(o.Host) == fetch.DomainOf(to.Host) },
			Read: func(body io.Reader, _ io.Writer) (err error) {
				rules.body, err = io.ReadAll(body)
				return err
			},
		})
		v.rules[o] = rules
	}
	if rules.answer == nil || !v.mayFetch(rules, o, target) {
		return
	}
	v.question(&fetch.Question{
		Kind: fetch.KindDocument, Name: d.Name, Origin: o, Target: target, MaxBody: d.keeps(), Permitted: true,
		Follow: func(to fetch.Origin, path string) bool { return to == o && v.mayFetch(rules, o, path) },
	})
}

// foreign is the robots.txt of another site.
type foreign struct {
	answer *fetch.Further
	body   []byte
}

// mayFetch reports whether a robots.txt lets our crawler fetch a URL of its origin.
func (v *visit) mayFetch(file *foreign, o fetch.Origin, target string) bool {
	rules := file.answer
	if rules.Outcome == usage.PageDisallowed || rules.Outcome == usage.PageUnread {
		return false
	}
	read := readingProfile.Answer(answer.Facts{Hops: rules.Hops, Error: rules.Error, Walled: rules.Challenge != "",
		Time: rules.Start})
	switch {
	case read.Outcome == answer.FullAllow:
		return true
	case read.Outcome != answer.ConditionalAllow || rules.Outcome != usage.PageRead:
		return false
	}
	var f robots.File
	f.Cut = rules.Truncated
	f.Parse(file.body, readingProfile)
	judge := robots.NewJudge(readingProfile, []robots.Agent{{Name: "own", Tokens: v.tokens}})
	judge.Load(&f)
	t := readingProfile.Target(o.String() + target)
	return judge.Policy(0).Judge(&t).Value == robots.Permitted
}
