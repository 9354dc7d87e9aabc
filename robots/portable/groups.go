package portable

import (
	"bytes"
	"slices"
)

// moveOthers moves lines of other fields that stand among the agents of a group, or
// between them and the rules, behind the rules.
func moveOthers(f *file, only func(int) bool) (touched []int) {
	var out, waiting []line
	inHead := false
	for i := range f.lines {
		l := f.lines[i]
		switch {
		case l.kind == agentLine:
			if !inHead {
				out, waiting = append(out, waiting...), nil
			}
			inHead = true
		case l.kind == otherLine && inHead && only(l.number):
			waiting, touched = append(waiting, l), append(touched, l.number)
			continue
		case l.kind == ruleLine:
			inHead = false
		}
		out = append(out, l)
	}
	f.lines = append(out, waiting...)
	return touched
}

// A group is lines of agents and of rules, and other lines among them.
type group struct {
	agents, rules, others []line
}

// groups returns the groups of a file and the lines before them.
func (f *file) groups() (before []line, groups []group) {
	last := otherLine
	for _, l := range f.lines {
		if l.kind == agentLine && last != agentLine {
			groups = append(groups, group{})
		}
		if l.kind == agentLine || l.kind == ruleLine {
			last = l.kind
		}
		if len(groups) == 0 {
			before = append(before, l)
			continue
		}
		g := &groups[len(groups)-1]
		switch l.kind {
		case agentLine:
			g.agents = append(g.agents, l)
		case ruleLine:
			g.rules = append(g.rules, l)
		case otherLine:
			g.others = append(g.others, l)
		}
	}
	return before, groups
}

// mergeGroups writes one group for each crawler, that for * last. Crawlers with the same
// rules share one.
func mergeGroups(f *file, only func(int) bool) (touched []int) {
	before, groups := f.groups()
	type merged struct {
		agent line
		from  []int // groups
	}
	var all []merged
	at := make(map[string]int)
	star := -1
	for i, g := range groups {
		for _, a := range g.agents {
			k, ok := at[a.token]
			if !ok {
				k = len(all)
				at[a.token] = k
				all = append(all, merged{agent: a})
			} else if !slices.Contains(all[k].from, i) {
				touched = append(touched, a.number)
			}
			if !slices.Contains(all[k].from, i) {
				all[k].from = append(all[k].from, i)
			}
			if a.token == "*" {
				star = i
			}
		}
	}
	if star >= 0 && star < len(groups)-1 {
		for _, a := range groups[star].agents {
			if a.token == "*" {
				touched = append(touched, a.number)
			}
		}
	}
	if touched = slices.DeleteFunc(touched, func(n int) bool { return !only(n) }); len(touched) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b merged) int { return index(a.agent.token == "*") - index(b.agent.token == "*") })
	out := before
	others := make([]bool, len(groups)) // written
	for k := 0; k < len(all); {
		n := k
		for ; n < len(all) && slices.Equal(all[n].from, all[k].from) && (n == k || all[n].agent.token != "*"); n++ {
			out = append(out, all[n].agent)
		}
		for _, i := range all[k].from {
			out = append(out, groups[i].rules...)
		}
		for _, i := range all[k].from {
			if !others[i] {
				out, others[i] = append(out, groups[i].others...), true
			}
		}
		out = append(out, line{end: "\n", kind: blankLine})
		k = n
	}
	f.lines = out
	return touched
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// longestFirst orders the rules of each group, so that the first that matches is the
// longest.
func longestFirst(f *file, only func(int) bool) (touched []int) {
	for from := 0; from < len(f.lines); from++ {
		to := from
		var places []int
		for ; to < len(f.lines) && f.lines[to].kind != agentLine; to++ {
			if f.lines[to].kind == ruleLine {
				places = append(places, to)
			}
		}
		var rules []line
		for _, i := range places {
			rules = append(rules, f.lines[i])
		}
		slices.SortStableFunc(rules, func(a, b line) int {
			if len(a.value) != len(b.value) {
				return len(b.value) - len(a.value)
			}
			if bytes.Equal(a.value, b.value) {
				return index(b.allow) - index(a.allow)
			}
			return 0
		})
		var moved []int
		for k, i := range places {
			if rules[k].number != f.lines[i].number {
				moved = append(moved, f.lines[i].number)
			}
		}
		if slices.ContainsFunc(moved, only) {
			touched = append(touched, moved...)
			for k, i := range places {
				f.lines[i] = rules[k]
			}
		}
		from = to
	}
	return touched
}
