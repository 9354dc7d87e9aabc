package robots

import (
	"slices"
	"sync"

	"github.com/robocensus/robocensus/robots/internal/escape"
)

// This file lets the automaton read a path symbol by symbol, if a dialect rewrites it.
// The state that the rewriters and the escapes of a path are in is a mode. In each mode,
// a table says what each symbol becomes in each view. Of the symbols that lead to one state,
// the search tries one.

// rewriteSlots is the number of slots of the state of a rewriter.
const rewriteSlots = 2

func (v *view) rewrite(st []int32) (s rewriteState) {
	x, y := uint32(st[v.slot+3]), uint32(st[v.slot+4])
	return rewriteState{
		part: part(x & 0xF), dots: uint8(x >> 4 & 3), one: x>>6&1 != 0,
		utf8: sequence{need: uint8(x >> 8 & 3), broken: x>>10&1 != 0, low: byte(y), high: byte(y >> 8)},
	}
}

func (v *view) setRewrite(st []int32, s rewriteState) {
	st[v.slot+3] = int32(s.part) | int32(s.dots)<<4 | int32(index(s.one))<<6 | int32(s.utf8.need)<<8 | int32(index(s.utf8.broken))<<10
	st[v.slot+4] = int32(s.utf8.low) | int32(s.utf8.high)<<8
}

// The low byte of the first number of a state says whether a % was read that begins no
// escape, so that the next two bytes are not both digits.
const (
	afterPercent = 1
	afterDigit   = 2
)

// The dots of a segment that has nothing else are in the bits above inQueryBit, if only
// normalized paths are read.
const dotsShift = 9

// maxReaderViews is the number of views of a path that a reader can have.
const maxReaderViews = 4

// A viewKind is all that a table needs to know of a view.
type viewKind struct {
	used bool
	form form
	as   rewriter
}

// A readerKind is all that a reader depends on.
type readerKind struct {
	views [maxReaderViews]viewKind
	plain bool // only normalized paths; see isNormal
}

// A reader holds the tables for paths that are read in certain forms, at most maxTables.
type reader struct {
	readerKind
	lock   sync.Mutex
	tables map[readMode]*symbolTable
}

// A readMode is the state of a path in all forms, but for the patterns.
type readMode struct {
	path  int32 // first number of the state
	views [maxReaderViews]rewriteState
}

// readers are those that all comparisons share. Together they hold at most maxTables. Files
// of a census have some 200 on all dialects, hostile pairs of policies thousands.
var readers struct {
	sync.Mutex
	of     map[readerKind]*reader
	tables int
}

// maxTables of about 40 kB each.
const maxTables = 512

// newReader returns the reader for the views of a language; nil if they are too many, or if
// patterns cannot read what one writes: with wildcards a NUL, or byte by byte the order of
// paths.
func newReader(l *language, plain bool) *reader {
	if len(l.views) > maxReaderViews {
		return nil
	}
	kind := readerKind{plain: plain}
	for i := range l.views {
		v := &l.views[i]
		if v.as.requote == RequotePlain && len(v.stars) > 0 || v.form != asIs && len(v.resets) > 0 {
			return nil
		}
		kind.views[i] = viewKind{true, v.form, v.as}
	}
	return readerOf(kind)
}

// readerOf returns the reader that all comparisons of a kind share.
func readerOf(kind readerKind) *reader {
	readers.Lock()
	defer readers.Unlock()
	r := readers.of[kind]
	if r == nil {
		r = &reader{readerKind: kind, tables: make(map[readMode]*symbolTable)}
		if readers.of == nil {
			readers.of = make(map[readerKind]*reader)
		}
		readers.of[kind] = r
	}
	return r
}

// A fate is what a symbol becomes in one view.
type fate struct {
	kind fateKind
	byte byte // the first
}

type fateKind uint8

const (
	becomesNothing fateKind = iota
	becomesByte
	becomesEscapes // one or more
	becomesMore
)

// A symbolTable says what the symbols become in a mode.
type symbolTable struct {
	symbols []symbol
	views   int
	fates   []fate // of each symbol, for each view
	// by lists, for each view and byte, the symbols that begin with that byte there.
	by [maxReaderViews][256][]uint16
	// escapes lists, for each view, the symbols that become escapes there; more those
	// that become more in any.
	escapes [maxReaderViews][]uint16
	more    []uint16
	// groups are the others by the mode that follows and by whether they become
	// anything; in alike, characters that are begun count as one.
	groups, alike [][]uint16
}

// allSymbols are the symbols of a URL: bytes, then escapes, those in upper case first.
var allSymbols = func() (all []symbol) {
	for c := byte('!'); c <= '~'; c++ {
		if c != '#' {
			all = append(all, byteSymbol(c))
		}
	}
	const digits = escape.Digits + "abcdef"
	for _, lower := range [...]bool{false, true} {
		for _, a := range []byte(digits) {
			for _, b := range []byte(digits) {
				if (a >= 'a' || b >= 'a') == lower {
					all = append(all, escapeSymbol(a, b))
				}
			}
		}
	}
	return all
}()

// guesses lists the guesses that a symbol comes with in a mode.
func (r *reader) guesses(t *symbol, m *readMode) []guess {
	query := m.path&inQueryBit != 0
	for i := range r.views {
		v := &r.views[i]
		if v.form != rewritten {
			continue
		}
		s := &m.views[i]
		switch {
		case t.is('/') && s.part == atStart && v.as.invalidIsRoot, t.is('?') && !query && v.as.losesQuery():
			return []guess{asUsual, otherwise}
		case t.is(';') && !query && v.as.requote == RequotePath:
			return []guess{asUsual, otherwise, nothing}
		case !query && v.as.requote == RequotePath:
			if c, _ := t.char(); c >= 0x80 && lengthOf(c) > 0 {
				return []guess{asUsual, otherwise}
			}
		}
	}
	return []guess{asUsual}
}

// follows returns the first number of the state after a symbol, and whether the symbol may
// stand there.
func (r *reader) follows(path int32, t *symbol) (after int32, ok bool) {
	query := path&inQueryBit != 0
	c, escaped := t.char()
	if r.plain && !isNormalSymbol(t, query) {
		return 0, false
	}
	pending := int32(0)
	switch {
	case escaped:
	case c == '%':
		pending = afterPercent
	case escape.IsHex(c) && path&0xFF == afterPercent:
		pending = afterDigit
	case escape.IsHex(c) && path&0xFF == afterDigit:
		return 0, false
	}
	switch {
	case query, t.is('?'):
		pending |= inQueryBit
	case !r.plain || t.is('/'):
	case path>>dotsShift < 3 && t.is('.'):
		pending |= (path>>dotsShift + 1) << dotsShift
	default:
		pending |= 3 << dotsShift
	}
	return pending, !(t.is('/') || t.is('?') && !query) || !isDots(path)
}

// isDots reports whether the segment that is read is a dot segment so far.
func isDots(path int32) bool { return path>>dotsShift == 1 || path>>dotsShift == 2 }

// becomes appends what a symbol becomes in a view.
func (v *viewKind) becomes(dst []byte, s rewriteState, t *symbol, query bool) (out []byte, after rewriteState, ok bool) {
	c, escaped := t.char()
	switch {
	case v.form == rewritten:
		return v.as.next(dst, s, *t)
	case v.form == asIs:
		return t.appendTo(dst), s, true
	case escaped && !decodes(v.form, c, query), !escaped && v.form >= normalForm && (c == '*' || c == '$' || escape.IsUnfit(c)):
		return escape.Append(dst, c), s, true
	}
	return append(dst, c), s, true
}

// modeOf returns the mode of a state.
func (m *automaton) modeOf(st []int32) (now readMode) {
	now.path = st[0]
	for i := range m.views {
		if v := &m.views[i]; v.form == rewritten {
			now.views[i] = v.rewrite(st)
		}
	}
	return now
}

// table returns the table of a mode.
func (r *reader) table(now *readMode) *symbolTable {
	r.lock.Lock()
	defer r.lock.Unlock()
	t := r.tables[*now]
	if t == nil {
		t = r.newTable(now)
		if isFull() || len(r.tables) == maxTables {
			clear(r.tables)
		}
		r.tables[*now] = t
	}
	return t
}

// isFull counts a table. If that is one too many, no reader is shared any more, and a
// reader that is still at work has to forget its own.
func isFull() bool {
	readers.Lock()
	defer readers.Unlock()
	if readers.tables++; readers.tables <= maxTables {
		return false
	}
	readers.of, readers.tables = nil, 1
	return true
}

func (r *reader) newTable(now *readMode) *symbolTable {
	t := new(symbolTable)
	for t.views < maxReaderViews && r.views[t.views].used {
		t.views++
	}
	type follow struct {
		readMode
		empty [maxReaderViews]bool
	}
	groups, alike := make(map[follow]int), make(map[follow]int)
	note := func(of map[follow]int, list *[][]uint16, f follow, k uint16) {
		n, ok := of[f]
		if !ok {
			n = len(*list)
			of[f] = n
			*list = append(*list, nil)
		}
		(*list)[n] = append((*list)[n], k)
	}
	var memory [16]byte
	for i := range allSymbols {
		x := allSymbols[i]
		for _, x.guess = range r.guesses(&x, now) {
			var f follow
			var ok bool
			if f.path, ok = r.follows(now.path, &x); !ok {
				continue
			}
			from := len(t.fates)
			for n := range t.views {
				var out []byte
				if out, f.views[n], ok = r.views[n].becomes(memory[:0], now.views[n], &x, now.path&inQueryBit != 0); !ok {
					break
				}
				f.empty[n] = len(out) == 0
				t.fates = append(t.fates, fateOf(out))
			}
			if !ok {
				t.fates = t.fates[:from]
				continue
			}
			k := uint16(len(t.symbols))
			t.symbols = append(t.symbols, x)
			more := false
			for n, fate := range t.fates[from:] {
				switch fate.kind {
				case becomesMore:
					more = true
				case becomesEscapes:
					t.escapes[n] = append(t.escapes[n], k)
				}
				if fate.kind != becomesNothing {
					t.by[n][fate.byte] = append(t.by[n][fate.byte], k)
				}
			}
			if more {
				t.more = append(t.more, k)
				continue
			}
			note(groups, &t.groups, f, k)
			for n := range f.views {
				f.views[n].utf8 = sequence{}
			}
			note(alike, &t.alike, f, k)
		}
	}
	return t
}

func fateOf(out []byte) fate {
	switch {
	case len(out) == 0:
		return fate{}
	case len(out) == 1:
		return fate{becomesByte, out[0]}
	case slices.ContainsFunc(out, func(c byte) bool { return c != '%' && !escape.IsHex(c) }):
		return fate{becomesMore, out[0]}
	}
	return fate{becomesEscapes, out[0]}
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
	for _, k := range t.more {
		chosen.add(k)
	}
	groups := t.alike
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
			groups = t.groups
			for _, k := range t.escapes[i] {
				chosen.add(k)
			}
		}
	}
	for _, group := range groups {
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
// byte leads that its patterns do not distinguish. set are those that they do.
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
			return !next.has('%') && next[0]&hexDigits[0]|next[1]&hexDigits[1] == 0
		}
	}
	return true
}

// read advances st by a symbol; not ok if none such follows.
func (m *automaton) read(st []int32, t *symbol) (ok bool) {
	query := st[0]&inQueryBit != 0
	after, ok := m.symbols.follows(st[0], t)
	if !ok {
		return false
	}
	var memory [16]byte
	for i := range m.views {
		v := &m.views[i]
		var s rewriteState
		begun := false // a character
		if v.form == rewritten {
			s = v.rewrite(st)
			begun = s.utf8.need > 0
		}
		out, s, ok := m.symbols.views[i].becomes(memory[:0], s, t, query)
		if !ok {
			return false
		}
		if s.utf8.need > 0 && !begun {
			var set byteSet
			if m.distinguish(st, i, &set); m.ignoresEscapes(st, i, &set) {
				s.utf8 = sequence{} // whichever character it will be
			}
		}
		for _, c := range out {
			m.feed(st, int32(i), c, query)
		}
		if v.form == rewritten {
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
		if v := &m.views[i]; v.form == rewritten {
			if s := v.rewrite(st); !s.ends() {
				return false
			}
		}
	}
	return true
}
