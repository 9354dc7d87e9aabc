// Package template finds out whose words a robots.txt has: the texts that products write
// into files, by their marks. Which marks those are is data.
package template

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/robocensus/robocensus/robots"
)

// A Template identifies a text that a product wrote. It has one
// signature: a region, a line, a comment, the digest of a group, or rules that a group
// holds.
type Template struct {
	ID      string
	Kind    string
	Version string
	// Begin and End are the lines around a region, Line is one that names the whole file.
	// All are compared without the white space around a line, as prefixes of it, and with
	// regard to case.
	Begin, End, Line string
	// Comment names the whole file too: a text that a comment contains, wherever the product
	// breaks its lines, or within a box that it draws.
	Comment string
	// Has is a line that must stand in the region or the file too, as Line does: it tells
	// versions apart.
	Has string
	// Digest is that of a group (see [robots.File.GroupDigest]).
	Digest string
	// Disallows are paths that a group for Agent disallows, each as written.
	Agent     string
	Disallows []string
}

// Kinds are the kinds of templates.
var Kinds = []string{"cdn", "cms", "plugin", "list", "legal"}

// Validate returns an error if a template has an unknown kind, no signature, or
// several.
func (t *Template) Validate() error {
	signatures := 0
	for _, has := range []bool{t.Begin != "" && t.End != "", t.Line != "", t.Comment != "", t.Digest != "",
		t.Agent != "" && len(t.Disallows) > 0} {
		if has {
			signatures++
		}
	}
	switch {
	case t.ID == "":
		return fmt.Errorf("a template needs an id")
	case !slices.Contains(Kinds, t.Kind):
		return fmt.Errorf("template %s: no kind %q; use one of %s", t.ID, t.Kind, strings.Join(Kinds, ", "))
	case signatures != 1 || (t.Begin != "") != (t.End != "") || (t.Agent != "") != (len(t.Disallows) > 0):
		return fmt.Errorf("template %s: give begin and end, or line, or comment, or digest, or agent and disallows", t.ID)
	case t.Has != "" && t.Begin == "" && t.Line == "" && t.Comment == "":
		return fmt.Errorf("template %s: has goes with begin and end, with line, or with comment", t.ID)
	}
	return nil
}

// Set finds templates in files. It is made once and may be used concurrently.
type Set struct {
	list     []Template
	marks    []mark     // of all lines
	first    [256][]int // marks that begin a line, by the byte with which they begin
	comments []int      // marks that a comment contains
	needed   []byte     // first bytes of the marks that every match needs
	digests  map[string]int
	rules    []int // templates that name rules
}

// A mark is a line that a template names.
type mark struct {
	text     []byte
	template int
	what     markKind
}

type markKind uint8

const (
	beginMark markKind = iota
	endMark
	lineMark
	commentMark
	hasMark
)

// New prepares templates, of which the first that matches a region, a file or a
// group names it.
func New(list []Template) *Set {
	t := &Set{list: list, digests: make(map[string]int)}
	for i := range list {
		x := &list[i]
		for what, text := range [...]string{beginMark: x.Begin, endMark: x.End, lineMark: x.Line, commentMark: x.Comment,
			hasMark: x.Has} {
			if text == "" {
				continue
			}
			kind, begins := markKind(what), text[0]
			if kind == commentMark {
				begins, t.comments = '#', append(t.comments, len(t.marks))
			} else {
				t.first[begins] = append(t.first[begins], len(t.marks))
			}
			if kind.isNeeded() && bytes.IndexByte(t.needed, begins) < 0 {
				t.needed = append(t.needed, begins)
			}
			t.marks = append(t.marks, mark{[]byte(text), i, kind})
		}
		if _, ok := t.digests[x.Digest]; x.Digest != "" && !ok {
			t.digests[x.Digest] = i
		}
		if len(x.Disallows) > 0 {
			t.rules = append(t.rules, i)
		}
	}
	return t
}

// isNeeded reports whether every match of a region or a file needs such a mark.
func (k markKind) isNeeded() bool { return k == beginMark || k == lineMark || k == commentMark }

// A Match is a region, a file or a group that a template wrote.
type Match struct {
	*Template
	First, Last int32 // lines
	Groups      int32 // that begin in them
	Rules       int32 // in them
	Claims      bool  // its groups are the template's
}

// maxMatches bounds the matches of a file, and the lines of marks in it: a hostile file may
// hold a hundred thousand.
const maxMatches = 1 << 10

// Find returns the templates of a file as parsed, by their first lines, and for each group
// the index of the match whose words it is, -1 for the file's own. A line names the file
// and claims no group: below the header of a product an operator may have typed anything.
func (t *Set) Find(f *robots.File) (matches []Match, groups []int32) {
	found := t.lines(f)
	last := int32(f.Lines)
	regions := t.regions(found, last)
	matches = slices.Clone(regions)
	claims := newClaims(regions)
	groups = make([]int32, 0, len(f.Groups))
	for i := range f.Groups {
		from, to := groupLines(f, i)
		claimed := claims.of(from, to)
		if claimed < 0 && len(matches) < maxMatches {
			if k := t.ofGroup(f, i); k >= 0 {
				claimed = len(matches)
				matches = append(matches, Match{Template: &t.list[k], First: from, Last: to, Claims: true})
			}
		}
		groups = append(groups, int32(claimed))
	}
	order := make([]int32, len(matches))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(matches[a].First - matches[b].First) })
	sorted, place := make([]Match, len(matches)), make([]int32, len(matches))
	for k, i := range order {
		sorted[k], place[i] = matches[i], int32(k)
		sorted[k].count(f)
	}
	for i, m := range groups {
		if m >= 0 {
			groups[i] = place[m]
		}
	}
	return sorted, groups
}

// claims tell in which region a group lies. Groups are asked about in their order, and
// regions stand in that of their last lines.
type claims struct {
	regions []Match
	next    int     // the first region that does not end before the last group asked about
	first   []int32 // per region: the first line of it and of those behind it
}

func newClaims(regions []Match) *claims {
	c := &claims{regions: regions, first: make([]int32, len(regions))}
	least := int32(math.MaxInt32)
	for i := len(regions) - 1; i >= 0; i-- {
		if regions[i].Claims {
			least = min(least, regions[i].First)
		}
		c.first[i] = least
	}
	return c
}

// of returns the index of the region with the lines from and to, -1 for none.
func (c *claims) of(from, to int32) int {
	for c.next < len(c.regions) && (!c.regions[c.next].Claims || c.regions[c.next].Last < from) {
		c.next++
	}
	for i := c.next; i < len(c.regions) && c.first[i] <= from; i++ {
		if m := &c.regions[i]; m.Claims && m.First <= from && to <= m.Last {
			return i
		}
	}
	return -1
}

// regions returns the regions and the file itself, as far as marks name them.
func (t *Set) regions(found []markedLine, last int32) (matches []Match) {
	has := func(k int, from, to int32) bool {
		return t.list[k].Has == "" || slices.ContainsFunc(found, func(l markedLine) bool {
			return l.mark.what == hasMark && l.mark.template == k && from <= l.line && l.line <= to
		})
	}
	begun := make(map[int]int32)
	var of []int // per match: its template
	for _, l := range found {
		k := l.mark.template
		m := Match{Template: &t.list[k], First: 1, Last: last}
		switch l.mark.what {
		case beginMark:
			begun[k] = l.line
			continue
		case hasMark:
			continue
		case endMark:
			if m.First, m.Last, m.Claims = begun[k], l.line, true; m.First == 0 {
				continue
			}
			delete(begun, k)
		}
		if !has(k, m.First, m.Last) {
			continue
		}
		i := slices.IndexFunc(matches, func(x Match) bool { return x.ID == m.ID && x.First == m.First && x.Last == m.Last })
		switch {
		case i < 0:
			matches, of = append(matches, m), append(of, k)
		case k < of[i]: // the first of the list counts, wherever its line stands
			matches[i], of[i] = m, k
		}
	}
	return matches
}

// ofGroup returns the template of a group by its digest or its rules, -1 for none.
func (t *Set) ofGroup(f *robots.File, i int) int {
	if len(t.digests) > 0 {
		if k, ok := t.digests[f.GroupDigest(i)]; ok {
			return k
		}
	}
	g := &f.Groups[i]
	for _, k := range t.rules {
		x := &t.list[k]
		names := func(a robots.AgentLine) bool { return strings.EqualFold(string(a.Wide), x.Agent) }
		if g.Rules.Len() < len(x.Disallows) || !slices.ContainsFunc(f.Agents[g.Agents.From:g.Agents.To], names) {
			continue
		}
		rules := f.Rules[g.Rules.From:g.Rules.To]
		if !slices.ContainsFunc(x.Disallows, func(path string) bool {
			return !slices.ContainsFunc(rules, func(r robots.Rule) bool {
				return r.Kind == robots.Disallow &&
					string(r.Pattern) == path
			})
		}) {
			return k
		}
	}
	return -1
}

// count counts the groups that begin in a match and the rules in it.
func (m *Match) count(f *robots.File) {
	m.Groups = between(f.Groups, m.First, m.Last, func(g robots.Group) int32 { return g.Line })
	m.Rules = between(f.Rules, m.First, m.Last, func(r robots.Rule) int32 { return r.Line })
}

// between returns the number of elements, ascending by line, from one line to another.
func between[T any](list []T, first, last int32, line func(T) int32) int32 {
	before := func(n int32) int { return sort.Search(len(list), func(i int) bool { return line(list[i]) >= n }) }
	return int32(before(last+1) - before(first))
}

// groupLines returns the first and the last line of a group.
func groupLines(f *robots.File, i int) (first, last int32) {
	g := &f.Groups[i]
	first, last = g.Line, g.Line
	if g.Agents.Len() > 0 {
		last = f.Agents[g.Agents.To-1].Line
	}
	if g.Rules.Len() > 0 {
		last = max(last, f.Rules[g.Rules.To-1].Line)
	}
	return first, last
}
