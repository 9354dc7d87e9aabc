package robots

import (
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/dialect"
)

// loadDialect finds the policies of a file under a dialect.
func (j *Judge) loadDialect(f *File) {
	r := f.compiled
	if f.refusedAt > 0 {
		r = refusedFile()
	}
	j.byGroup = append(j.byGroup[:0], make([]*ruleset, len(r.Groups))...)
	if f.refusedAt > 0 {
		for i := range j.policies {
			j.refuse(r, &j.policies[i])
		}
		j.share()
		return
	}
	j.named = j.named[:0]
	for i := range r.Agents {
		a := &r.Agents[i]
		j.named = append(j.named, dialect.Agent{Line: a.Line, Group: a.Group, Value: a.Value, ForAll: isForAll(a)})
	}
	names := dialect.NamesOf(&j.profile.Groups.Groups, j.named)
	for i := range j.policies {
		j.chooseDialect(r, names, i)
	}
	j.share()
}

// refusedFile is a file that forbids everything to everybody.
func refusedFile() *File {
	slash := []byte("/")
	return &File{
		refusedAt: 1,
		Groups:    []Group{{Line: 1, Rules: Span{0, 1}}},
		Rules:     []Rule{{Pattern: slash, Normalized: slash, Line: 1, Length: 1, Kind: Disallow, Effective: true}},
	}
}

// refuse gives a policy what a file means that the parser refuses.
func (j *Judge) refuse(r *File, p *Policy) {
	if j.profile.Refused != answer.FullDisallow {
		j.addSet(p, nil)
	}
	if j.profile.Refused != answer.FullAllow {
		if j.byGroup[0] == nil {
			j.byGroup[0] = j.compile(r, 0)
		}
		j.addSet(p, j.byGroup[0])
	}
}

func (j *Judge) chooseDialect(r *File, n *dialect.Names, i int) {
	a, p := &j.agents[i], &j.policies[i]
	last := j.lastToken(n, a)
	for k, token := range a.allTokens() {
		groups := n.GroupsFor(strings.ToLower(token))
		if groups == nil || k < last {
			continue
		}
		how := OwnGroup
		if k >= len(a.Tokens) {
			how = FallbackGroup
		}
		if len(groups) == 0 { // named, and without rules
			p.GroupAgent, p.Match, p.GroupLine = token, how, n.LineOf(strings.ToLower(token))
			j.addSet(p, j.compile(r))
			return
		}
		j.follow(r, p, groups, token, how, nil)
		return
	}
	if star := n.ForAll(); len(star) > 0 && !(a.IgnoresStar && j.profile.IgnoresStar) {
		j.follow(r, p, star, "*", StarGroup, &j.starSet)
		return
	}
	j.addSet(p, nil)
}

// lastToken returns the number of the token whose group counts, if that is the last of an
// agent's own; 0 otherwise.
func (j *Judge) lastToken(n *dialect.Names, a *Agent) (last int) {
	if !j.profile.LastGroup || len(a.Tokens) < 2 {
		return 0
	}
	at := int32(-1)
	for k, token := range a.Tokens {
		if groups := n.GroupsFor(strings.ToLower(token)); len(groups) > 0 && groups[0] > at {
			at, last = groups[0], k
		}
	}
	return last
}
