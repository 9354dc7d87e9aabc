package portable

import (
	"cmp"
	"slices"
)

// lines returns the lines of which each alone is enough for a step; if none is, lines that
// are enough together, of which none can be left out.
func (e *Explainer) lines(s *step, f *file) []int {
	lines := s.touches(f)
	if len(lines) == 1 {
		return lines
	}
	if enough := e.alone(f, s, lines, nil); len(enough) > 0 {
		return enough
	}
	return e.least(f, s, nil, lines)
}

// alone appends the lines of which each alone is enough for a step. Lines that are not
// enough together hold none of them.
func (e *Explainer) alone(f *file, s *step, lines, enough []int) []int {
	half := len(lines) / 2
	for _, part := range [][]int{lines[:half], lines[half:]} {
		switch {
		case len(part) == 0 || !e.enough(f, s, part):
		case len(part) == 1:
			enough = append(enough, part[0])
		default:
			enough = e.alone(f, s, part, enough)
		}
	}
	return enough
}

// least returns the first of some lines that are enough with others, and none of which can
// be left out. It halves them, for few of many lines are among them (QuickXplain, Junker 2004).
func (e *Explainer) least(f *file, s *step, with, lines []int) []int {
	if len(lines) <= 1 || e.spent() {
		return lines
	}
	first, second := lines[:len(lines)/2], lines[len(lines)/2:]
	if e.enough(f, s, slices.Concat(with, first)) {
		return e.least(f, s, with, first)
	}
	needed := e.least(f, s, slices.Concat(with, first), second)
	if e.enough(f, s, slices.Concat(with, needed)) {
		return needed
	}
	return slices.Concat(e.least(f, s, slices.Concat(with, needed), first), needed)
}

// enough reports whether the readings of a file agree after a step on some lines.
func (e *Explainer) enough(f *file, s *step, lines []int) bool {
	next := s.apply(f, func(n int) bool { return slices.Contains(lines, n) })
	agree := next != nil && e.agree(next, s)
	f.spare = cmp.Or(next, f.spare)
	return agree
}
