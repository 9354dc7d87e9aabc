package portable

import (
	"bytes"
	"slices"
	"strings"
)

// moveOthers moves lines of other fields that stand among the agents of a group, or
// between them and the rules, behind the rules.
func moveOthers(f *file, only func(int) bool) (touched []int) {
	var out, waiting []line // out is nil until a line is moved
	inHead := false
	for i := range f.lines {
		l := &f.lines[i]
		switch {
		case l.kind == agentLine:
			if !inHead {
				out, waiting = append(out, waiting...), nil
			}
			inHead = true
		case l.kind == otherLine && inHead && only(l.number):
			if out == nil {
				out = append(make([]line, 0, len(f.lines)), f.lines[:i]...)
			}
			waiting, touched = append(waiting, *l), append(touched, l.number)
			continue
		case l.kind == ruleLine:
			inHead = false
		}
		if out != nil {
			out = append(out, *l)
		}
	}
	if out != nil {
		f.lines = append(out, waiting...)
	}
	return touched
}

// A group is lines of agents and of rules, and other lines among them.
type group struct {
	lines         []line // all of them
	agents        []line
	rules, others []line // once split
}

// groups returns the groups of a file and the lines before them.
func (f *file) groups() (before []line, groups []group) {
	last, from := otherLine, 0
	end := func(to int) {
		if lines := f.lines[from:to:to]; len(groups) == 0 {
			before = lines
		} else {
			groups[len(groups)-1].lines = lines
		}
		from = to
	}
	for i := range f.lines {
		l := &f.lines[i]
		if l.kind == agentLine && last != agentLine {
			end(i)
			groups = append(groups, group{})
		}
		if l.kind == agentLine || l.kind == ruleLine {
			last = l.kind
		}
		if l.kind == agentLine {
			g := &groups[len(groups)-1]
			g.agents = append(g.agents, *l)
		}
	}
	end(len(f.lines))
	return before, groups
}

// split finds the rules and the other lines of a group.
func (g *group) split() {
	for _, l := range g.lines {
		switch l.kind {
		case ruleLine:
			g.rules = append(g.rules, l)
		case otherLine:
			g.others = append(g.others, l)
		}
	}
}

// addRule writes a rule that allows everything for a list of crawlers that has none: that
// at the end, for others share the rules of the next.
func addRule(f *file, only func(int) bool) []int {
	for i := len(f.lines) - 1; i >= 0 && f.lines[i].kind != ruleLine; i-- {
		if n := f.lines[i].number; f.lines[i].kind == agentLine && only(n) {
			rule := line{text: []byte("Disallow:"), end: "\n", kind: ruleLine}
			f.lines = slices.Insert(f.lines, i+1, rule)
			return []int{n}
		}
	}
	return nil
}

// mostGrowth is how many times as many lines a file may have after a step.
const mostGrowth = 8

// mergeGroups writes one group for each crawler that has several, and that for * last.
// Crawlers with the same rules share one. Other groups stay as they are.
func mergeGroups(f *file, only func(int) bool) (touched []int) {
	before, groups := f.groups()
	type merged struct {
		agent line
		from  []int // groups
	}
	var all []merged
	at := make(map[string]int)
	changed := make([]bool, len(groups))
	star, moved := -1, false
	for i, g := range groups {
		for _, a := range g.agents {
			k, ok := at[a.token]
			own := ok && a.token != ""
			again := own && all[k].from[len(all[k].from)-1] != i
			if !own || again && !only(a.number) {
				if !ok {
					at[a.token] = len(all)
				}
				all = append(all, merged{agent: a, from: []int{i}})
			} else {
				if again {
					touched, moved = append(touched, a.number), moved || a.token == "*"
					changed[all[k].from[0]], changed[i] = true, true
					all[k].from = append(all[k].from, i)
				}
				if len(a.value) == len(a.token) { // without text behind it
					all[k].agent = a
				}
			}
			if a.token == "*" {
				star = i
			}
		}
	}
	if star >= 0 && star < len(groups)-1 {
		for _, a := range groups[star].agents {
			if a.token == "*" && only(a.number) {
				touched, moved = append(touched, a.number), true
				changed[star] = changed[star] || len(groups[star].agents) > 1
			}
		}
	}
	if len(touched) == 0 {
		return nil
	}
	if moved {
		slices.SortStableFunc(all, func(a, b merged) int { return index(a.agent.token == "*") - index(b.agent.token == "*") })
	}
	for i := range groups {
		if changed[i] {
			groups[i].split()
		}
	}
	out, most := before, mostGrowth*len(f.lines)
	written := make([]bool, len(groups)) // once: what is for all crawlers is not repeated
	for k := 0; k < len(all); {
		i := all[k].from[0]
		if written[i] && !changed[i] {
			k++
			continue
		}
		// What follows a list without rules would be its own.
		f.lines = out
		addRule(f, func(int) bool { return true })
		out = f.lines
		if !changed[i] {
			out, written[i] = append(out, groups[i].lines...), true
			k++
			continue
		}
		n := k
		for ; n < len(all) && slices.Equal(all[n].from, all[k].from) && (n == k || all[n].agent.token != "*"); n++ {
			out = append(out, all[n].agent)
		}
		for _, i := range all[k].from {
			if out = append(out, groups[i].rules...); len(out) > most {
				return nil // crawlers that share groups have each its own too
			}
		}
		for _, i := range all[k].from {
			if out = append(out, groups[i].others...); !written[i] {
				groups[i].others = slices.DeleteFunc(groups[i].others, isSitemap)
			}
			written[i] = true
		}
		if len(out) > most {
			return nil
		}
		out = append(out, line{end: "\n", kind: blankLine})
		k = n
	}
	f.lines = out
	return touched
}

func isSitemap(l line) bool {
	text := bytes.TrimSpace(l.text)
	return len(text) >= 7 && strings.EqualFold(string(text[:7]), "sitemap")
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
	var order []int // of the places of a group's rules
	f.eachRules(func(places []int) {
		allowed := make(map[string]bool)
		for _, i := range places {
			if l := &f.lines[i]; l.allow {
				allowed[string(l.value)] = true
			}
		}
		order = append(order[:0], places...)
		slices.SortStableFunc(order, func(i, k int) int {
			a, b := &f.lines[i], &f.lines[k]
			if len(a.value) != len(b.value) {
				return len(b.value) - len(a.value)
			}
			return index(!a.allow && allowed[string(a.value)]) - index(!b.allow && allowed[string(b.value)])
		})
		var moved []int
		for k, i := range places {
			if f.lines[order[k]].number != f.lines[i].number {
				moved = append(moved, f.lines[i].number)
			}
		}
		if slices.ContainsFunc(moved, only) {
			touched = append(touched, moved...)
			var rules []line
			for _, i := range order {
				rules = append(rules, f.lines[i])
			}
			for k, i := range places {
				f.lines[i] = rules[k]
			}
		}
	})
	return touched
}

// blanksInGroups finds blank lines inside groups, all in one pass from the end.
func (f *file) blanksInGroups() []bool {
	found := make([]bool, len(f.lines))
	before := make([]lineKind, len(f.lines)) // the kind of the agent or rule before a line
	last := otherLine
	for i := range f.lines {
		before[i] = last
		if k := f.lines[i].kind; k == agentLine || k == ruleLine {
			last = k
		}
	}
	next := blankLine // the kind of the next line that is not blank, blankLine for none
	for i := len(f.lines) - 1; i >= 0; i-- {
		if k := f.lines[i].kind; k != blankLine {
			next = k
			continue
		}
		found[i] = next != blankLine && (before[i] == agentLine || before[i] == ruleLine && next != agentLine)
	}
	return found
}

// eachRules calls do with the places of the rules between two lines of agents.
func (f *file) eachRules(do func(places []int)) {
	var places []int
	for i := range f.lines {
		switch f.lines[i].kind {
		case agentLine:
			do(places)
			places = places[:0]
		case ruleLine:
			places = append(places, i)
		}
	}
	do(places)
}

// dropUnslashed leaves out rules whose path google never matches. A group that has no
// others keeps a rule that says as much.
func dropUnslashed(f *file, only func(int) bool) (touched []int) {
	gone := make([]bool, len(f.lines))
	f.eachRules(func(places []int) {
		kept := places[:0:0]
		for _, i := range places {
			l := &f.lines[i]
			if gone[i] = len(l.value) > 0 && l.value[0] != '/' && l.value[0] != '*' && only(l.number); gone[i] {
				touched = append(touched, l.number)
			} else {
				kept = append(kept, i)
			}
		}
		if len(kept) == 0 && len(places) > 0 && !f.lines[places[0]].orphan {
			l := &f.lines[places[0]]
			l.allow, gone[places[0]] = false, false
			l.write(nil)
		}
	})
	var lines []line
	for i := range f.lines {
		if !gone[i] {
			lines = append(lines, f.lines[i])
		}
	}
	f.lines = lines
	return touched
}

// emptyBesideOthers finds rules without a path in groups where others have one.
func (f *file) emptyBesideOthers() []bool {
	found := make([]bool, len(f.lines))
	f.eachRules(func(places []int) {
		has := func(i int) bool { return len(f.lines[i].value) > 0 }
		if !slices.ContainsFunc(places, has) {
			return
		}
		for _, i := range places {
			found[i] = !has(i)
		}
	})
	return found
}

// covered finds rules whose path begins with the shorter one of another rule of the same
// kind in the group.
func (f *file) covered() []bool {
	found := make([]bool, len(f.lines))
	var order []int
	f.eachRules(func(places []int) {
		for _, kind := range [...]bool{false, true} {
			order = order[:0]
			for _, i := range places {
				if l := &f.lines[i]; l.allow == kind && len(l.value) > 0 {
					order = append(order, i)
				}
			}
			slices.SortFunc(order, func(a, b int) int { return bytes.Compare(f.lines[a].value, f.lines[b].value) })
			shortest := []byte(nil) // that what follows may begin with
			for _, i := range order {
				if v := f.lines[i].value; shortest == nil || !bytes.HasPrefix(v, shortest) {
					shortest = v
				} else {
					found[i] = len(v) > len(shortest)
				}
			}
		}
	})
	return found
}
