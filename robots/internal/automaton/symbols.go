package automaton

import "github.com/robocensus/robocensus/robots/internal/rewrite"

// This file lets the automaton read a path symbol by symbol, if a dialect rewrites it.
// The state that the rewriters and the escapes of a path are in is a mode. In each mode,
// a table says what each symbol becomes in each view. Of the symbols that lead to one state,
// the search tries one.

// rewriteSlots is the number of slots of the state of a rewriter.
const rewriteSlots = 2

func (v *view) rewrite(st []int32) rewrite.State {
	return rewrite.Unpack(st[v.slot+3], st[v.slot+4])
}

func (v *view) setRewrite(st []int32, s rewrite.State) {
	st[v.slot+3], st[v.slot+4] = s.Pack()
}

// modeOf returns the mode of a state.
func (m *automaton) modeOf(st []int32) (now readMode) {
	now.path = st[0]
	for i := range m.views {
		if v := &m.views[i]; v.Form == Rewritten {
			now.views[i] = v.rewrite(st)
		}
	}
	return now
}

// A choice is a set of symbols of a table.
type choice [16]uint64

func (c *choice) add(k uint16) { c[k>>6] |= 1 << (k & 63) }

func (c *choice) has(k uint16) bool { return c[k>>6]&(1<<(k&63)) != 0 }

// choose returns symbols that together lead from a state to every state that follows it:
// those that become what patterns distinguish, and one of each kind of the others. To a
// view whose patterns distinguish neither escapes nor their digits, an escape is like any
// other byte that they do not distinguish.
func (m *automaton) choose(st []int32, t *symbolTable) (chosen choice) {
	for i := range t.views {
		var set byteSet
		m.distinguish(st, i, &set)
		for c := range 256 {
			if set.has(byte(c)) {
				for _, k := range t.by[i][c] {
					chosen.add(k)
				}
			}
		}
		if !m.ignoresEscapes(st, i, &set) {
			for _, k := range t.escapes[i] {
				chosen.add(k)
			}
		}
	}
	for _, group := range t.groups {
		for _, k := range group {
			if !chosen.has(k) {
				chosen.add(k)
				break
			}
		}
	}
	return chosen
}

// ignoresEscapes reports whether all escapes lead a view to the state to which another
// byte leads that its patterns do not distinguish. set are those that they do: without a %,
// they distinguish none after one either.
func (m *automaton) ignoresEscapes(st []int32, i int, set *byteSet) bool {
	v := &m.views[i]
	if set.has('%') {
		return false
	}
	for _, k := range v.stars {
		if m.stars[k].live(st) {
			copy(m.ahead, st)
			m.feed(m.ahead, int32(i), '%', st[0]&inQueryBit != 0)
			var next byteSet
			m.distinguish(m.ahead, i, &next)
			return next[0]&hexDigits[0]|next[1]&hexDigits[1] == 0
		}
	}
	return true
}

// read advances st by a symbol; not ok if none such follows.
func (m *automaton) read(st []int32, t *rewrite.Symbol) (ok bool) {
	query := st[0]&inQueryBit != 0
	after, ok := m.symbols.follows(st[0], t)
	if !ok {
		return false
	}
	var memory [16]byte
	for i := range m.views {
		v := &m.views[i]
		var s rewrite.State
		begun := false // a character
		if v.Form == Rewritten {
			s = v.rewrite(st)
			begun = s.InCharacter()
		}
		out, s, ok := m.symbols.views[i].becomes(memory[:0], s, t, query)
		if !ok {
			return false
		}
		if s.InCharacter() && !begun && !v.As.WritesCharacters() {
			var set byteSet
			if m.distinguish(st, i, &set); m.ignoresEscapes(st, i, &set) {
				s.ForgetCharacter() // whichever character it will be
			}
		}
		for _, c := range out {
			m.feed(st, int32(i), c, query)
		}
		if v.Form == Rewritten {
			v.setRewrite(st, s)
		}
	}
	st[0] = after
	m.canonical(st)
	return true
}

// ends reports whether a path may end in a state.
func (m *automaton) ends(st []int32) bool {
	if m.symbols == nil {
		return true
	}
	if isDots(st[0]) {
		return false
	}
	for i := range m.views {
		if v := &m.views[i]; v.Form == Rewritten {
			if s := v.rewrite(st); !v.As.Ends(&s) {
				return false
			}
		}
	}
	return true
}
