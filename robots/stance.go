package robots

import (
	"slices"

	"github.com/robocensus/robocensus/robots/usage"
)

// Stance is what a file says to an agent about a use, over all paths.
type Stance uint8

const (
	NoStance Stance = iota // nothing is stated
	StanceAllow
	StanceDisallow
	StancePartial // it depends on the path
)

func (s Stance) String() string { return [...]string{"", "allow", "disallow", "partial"}[s] }

// Stances are what a file says about each use.
type Stances [usage.NumUses]Stance

// stanceKey tells policies apart that say the same about uses but for tokens: by their
// groups and rules.
type stanceKey struct {
	groups *int32
	rules  int
}

// Stances returns what the file says about each use over all paths that the agent may
// fetch; nothing, if it may fetch none. Like Class it asks about a witness for each
// pattern, and searches the paths of URLs for what only several patterns with stars show
// together. Where that would take too long, a use about which anything is stated is
// partial.
func (p *Policy) Stances(v usage.Vocabulary, tokens ...TokenPolicy) (out Stances) {
	stating := slices.ContainsFunc(tokens, func(t TokenPolicy) bool { return t.states() })
	saying := len(p.groups) > 0 && len(p.judge.file.Usages) > 0
	if !saying && !stating {
		return out // as for nearly all files
	}
	if stating {
		return p.findStances(v, tokens)
	}
	key := stanceKey{&p.groups[0], p.SameAs}
	out, known := p.judge.stances[key]
	if !known {
		if p.judge.stances == nil {
			p.judge.stances = make(map[stanceKey]Stances)
		}
		out = p.findStances(v, nil)
		p.judge.stances[key] = out
	}
	return out
}

func (p *Policy) findStances(v usage.Vocabulary, tokens []TokenPolicy) (out Stances) {
	if p.Class() == DisallowAll {
		return out
	}
	var seen [usage.NumUses][3]bool // by Preference
	note := func(u Uses) {
		for use, s := range u.Stated {
			seen[use][s.Preference] = true
		}
	}
	var asks []func(visit func(path []byte) bool) bool // about the witnesses of rules
	cost := 0
	witnesses := func(j *Judge, rs *ruleset, kinds ...Kind) {
		cost += rs.cost()
		for _, k := range kinds {
			asks = append(asks, func(visit func(path []byte) bool) bool { return j.witnesses(rs, k, visit) })
		}
	}
	if f := p.judge.file; len(p.groups) > 0 && len(f.Usages) > 0 {
		u := p.judge.usagesOf(v)
		for _, all := range u.statements {
			cost += len(all)
		}
		for i := range u.paths.file.Rules {
			if _, own := slices.BinarySearch(p.groups, f.Usages[u.paths.file.Rules[i].Line].Group); own {
				witnesses(p.judge, u.paths, Disallow)
				break
			}
		}
	}
	for i := range tokens {
		t := tokens[i].Policy
		if !tokens[i].states() || t.Class() != Partial {
			continue
		}
		for _, rs := range t.sets {
			if rs != nil {
				witnesses(t.judge, rs, Disallow, Allow)
			}
		}
	}
	root := prepare([]byte("/"))
	if asks == nil { // the same on every path
		note(p.usesOn(&root, v, tokens))
	} else {
		for _, rs := range p.sets {
			if rs != nil {
				witnesses(p.judge, rs, Disallow, Allow)
			}
		}
		budget := classBudget
		visit := func(path []byte) bool {
			if budget -= cost + len(path); budget < 0 {
				return false
			}
			t := p.judge.witnessTarget(path)
			if !t.isRobotsTxt && p.Judge(&t).Value != Disallowed {
				note(p.usesOn(&t, v, tokens))
			}
			return true
		}
		all := visit([]byte{'/'}) && visit([]byte{'/', foreign})
		for _, ask := range asks {
			all = all && ask(visit)
		}
		if !all {
			p.tooMany(v, tokens, &seen)
		} else {
			p.searchStances(v, tokens, &seen)
		}
	}
	for use, s := range seen {
		out[use] = stanceOf(s)
	}
	return out
}

// stanceOf returns the stance that follows from the preferences of all paths.
func stanceOf(seen [3]bool) Stance {
	switch {
	case seen[usage.Allows] && (seen[usage.Refuses] || seen[usage.Unknown]), seen[usage.Refuses] && seen[usage.Unknown]:
		return StancePartial
	case seen[usage.Allows]:
		return StanceAllow
	case seen[usage.Refuses]:
		return StanceDisallow
	}
	return NoStance
}

// witnessTarget prepares a witness, which is in normal form.
func (j *Judge) witnessTarget(path []byte) Target {
	if j.dialect {
		return j.profile.target(path)
	}
	return j.profile.prepare(path)
}

// tooMany makes every use partial about which anything is stated.
func (p *Policy) tooMany(v usage.Vocabulary, tokens []TokenPolicy, seen *[usage.NumUses][3]bool) {
	partial := func(use usage.Use) { seen[use][usage.Refuses], seen[use][usage.Unknown] = true, true }
	if len(p.judge.file.Usages) > 0 {
		u := p.judge.usagesOf(v)
		for _, g := range p.groups {
			for _, i := range u.byGroup[g] {
				for _, s := range u.statements[i] {
					if s.Use != usage.NoUse && s.Preference != usage.Unknown {
						partial(s.Use)
					}
				}
			}
		}
	}
	for i := range tokens {
		if tokens[i].states() && tokens[i].Policy.Class() == Partial {
			for _, use := range tokens[i].Uses {
				partial(use)
			}
		}
	}
}
