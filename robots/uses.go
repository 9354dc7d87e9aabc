package robots

import (
	"slices"

	"github.com/robocensus/robocensus/robots/usage"
)

// A Stated is what a file says about one use, and the first line that says so.
type Stated struct {
	Preference usage.Preference
	Mechanism  usage.Mechanism
	Line       int32 // 0 for none
}

// combine adds a preference. Preferences combine restrictively: any that refuses counts,
// else any that allows (vocab-07, 5.1). That is the opposite of a tie of rules.
func (s *Stated) combine(p usage.Preference, m usage.Mechanism, line int32) {
	if p > s.Preference {
		*s = Stated{p, m, line}
	}
}

// Uses are what a file says to an agent about each use, on one path.
type Uses struct {
	Stated [usage.NumUses]Stated
	// Level is the strictest ceiling of the content signals, NoLevel for none.
	Level usage.Level
	// Licenses are the lines of the licences that hold for the agent. They state no
	// use: that takes their documents.
	Licenses []int32
}

// A TokenPolicy is the policy of a policy token that binds an agent: its group states
// that the paths which it forbids may not be put to these uses. It never permits one.
type TokenPolicy struct {
	Policy *Policy
	Uses   []usage.Use
	Star   bool // a group for * stands in for one of its own
}

// states reports whether the token has a group that counts.
func (t *TokenPolicy) states() bool {
	return t.Policy.Match == OwnGroup || t.Star && t.Policy.Match == StarGroup
}

// usages are the lines about use of the file that a judge has loaded, read once.
type usages struct {
	statements [][]usage.Statement // per line
	paths      *ruleset            // the paths of lines, as rules; the line of each is its index in File.Usages
	byGroup    map[int32][]int32
}

// usagesOf reads the lines about use of the file last loaded.
func (j *Judge) usagesOf(v usage.Vocabulary) *usages {
	if j.usages != nil {
		return j.usages
	}
	f := j.file
	u := &usages{statements: make([][]usage.Statement, len(f.Usages)), byGroup: make(map[int32][]int32)}
	for i := range f.Usages {
		line := &f.Usages[i]
		u.statements[i] = v.Statements(line)
		u.byGroup[line.Group] = append(u.byGroup[line.Group], int32(i))
	}
	u.paths = j.profile.pathRules(f.Usages)
	j.usages = u
	return u
}

// pathRules compiles the paths of lines by the profile's rules for patterns.
func (p *Profile) pathRules(all []usage.Line) *ruleset {
	return p.compilePaths(func(yield func(i int32, path []byte)) {
		for i := range all {
			if path, rest := all[i].Path(); path != nil && len(rest) > 0 {
				yield(int32(i), path)
			}
		}
	})
}

// compilePaths compiles paths that stand in no group; the line of each rule is its number.
func (p *Profile) compilePaths(each func(yield func(i int32, path []byte))) *ruleset {
	f := &File{Groups: make([]Group, 1), letter: p.Reserved == ReservedEqual}
	s := f.parser(p)
	each(func(i int32, path []byte) {
		s.line = i
		if p.isDialect() {
			f.Rules = append(f.Rules, Rule{Pattern: path, Normalized: path, Line: s.line})
		} else {
			s.addRule(Disallow, path)
		}
	})
	f.Groups[0].Rules.To = int32(len(f.Rules))
	if p.isDialect() {
		d := dialectParser{File: f, p: p, group: -1}
		d.compile()
		f = f.compiled
	}
	rs := new(ruleset)
	rs.reset(f, []int32{0})
	rs.add(p, &f.Groups[0])
	return rs
}

// lengthOf returns the length of the path of a rule of pathRules.
func (p *Profile) lengthOf(r *Rule) int32 {
	if p.isDialect() { // whose rules have ranks
		return int32(len(r.Pattern))
	}
	return r.Length
}

// Uses returns what the file says about each use of the target, by its lines and by the
// policies of the tokens that bind the agent. It reports false if the agent may not fetch
// the target: then no preference applies. Until the next Load, the vocabulary must be the
// same.
func (p *Policy) Uses(t *Target, v usage.Vocabulary, tokens ...TokenPolicy) (Uses, bool) {
	if p.Judge(t).Value == Disallowed {
		return Uses{}, false
	}
	return p.usesOn(t, v, tokens), true
}

// usesOn returns the uses of a target that the agent may fetch.
func (p *Policy) usesOn(t *Target, v usage.Vocabulary, tokens []TokenPolicy) (out Uses) {
	if len(p.judge.file.Usages) > 0 {
		p.addLines(&out, t, p.judge.usagesOf(v))
	}
	for i := range tokens {
		if !tokens[i].states() {
			continue
		}
		got := tokens[i].Policy.Judge(t)
		if got.Value != Disallowed || got.Rule < 0 {
			continue
		}
		for _, use := range tokens[i].Uses {
			out.Stated[use].combine(usage.Refuses, usage.PolicyToken, tokens[i].Policy.judge.file.Rules[got.Rule].Line)
		}
	}
	return out
}

// addLines adds what the lines of the agent's groups say. Of the lines of Content-Usage
// that match, the longest path decides, and the whole line does.
func (p *Policy) addLines(out *Uses, t *Target, u *usages) {
	f := p.judge.file
	longest, lines := int32(0), []int32(nil)
	u.paths.each(t, func(m match, _ bool) {
		r := &u.paths.file.Rules[m.rule]
		if _, own := slices.BinarySearch(p.groups, f.Usages[r.Line].Group); !own {
			return
		}
		n := p.judge.profile.lengthOf(r)
		if n > longest {
			longest, lines = n, lines[:0]
		}
		if n == longest {
			lines = append(lines, r.Line)
		}
	})
	licensed := false
	for _, g := range p.groups {
		for _, i := range u.byGroup[g] {
			line := &f.Usages[i]
			switch line.Mechanism {
			case usage.ContentUsage:
				if path, _ := line.Path(); path == nil && longest == 0 {
					lines = append(lines, i)
				}
			case usage.ContentSignal:
				for _, s := range u.statements[i] {
					out.add(&s, line)
				}
			case usage.License:
				licensed = true
				out.Licenses = append(out.Licenses, line.Line)
			}
		}
	}
	if !licensed {
		for _, i := range u.byGroup[-1] {
			if line := &f.Usages[i]; line.Mechanism == usage.License {
				out.Licenses = append(out.Licenses, line.Line)
			}
		}
	}
	// Content-Usage comes first where several mechanisms say the same.
	signals := out.Stated
	out.Stated = [usage.NumUses]Stated{}
	slices.Sort(lines)
	for _, i := range slices.Compact(lines) {
		for _, s := range u.statements[i] {
			out.add(&s, &f.Usages[i])
		}
	}
	for use, s := range signals {
		out.Stated[use].combine(s.Preference, s.Mechanism, s.Line)
	}
}

// add adds a statement of a line.
func (u *Uses) add(s *usage.Statement, line *usage.Line) {
	if s.Use != usage.NoUse {
		u.Stated[s.Use].combine(s.Preference, line.Mechanism, line.Line)
	}
	if s.Level != usage.NoLevel && (u.Level == usage.NoLevel || s.Level < u.Level) {
		u.Level = s.Level
	}
}
