package robots

// Patterns are path patterns outside a robots.txt, of documents that borrow its grammar
// for them. They are immutable and safe for concurrent use.
type Patterns struct {
	profile *Profile
	set     *ruleset
}

// Patterns compiles patterns by the profile's rules for those of a robots.txt. One that
// begins with neither a slash nor a star matches nothing.
func (p *Profile) Patterns(all []string) *Patterns {
	return &Patterns{p, p.compilePaths(func(yield func(i int32, path []byte)) {
		for i, pattern := range all {
			yield(int32(i), []byte(pattern))
		}
	})}
}

// Each calls f for the patterns that match a target, in no particular order, with their
// numbers and lengths for precedence.
func (s *Patterns) Each(t *Target, f func(i int, length int32)) {
	s.set.each(t, func(m match, _ bool) {
		r := &s.set.file.Rules[m.rule]
		f(int(r.Line), s.profile.lengthOf(r))
	})
}
