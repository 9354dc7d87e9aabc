package automaton

import (
	"slices"

	"github.com/robocensus/robocensus/robots/internal/escape"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

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
	symbols []rewrite.Symbol
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
var allSymbols = func() (all []rewrite.Symbol) {
	for c := byte('!'); c <= '~'; c++ {
		if c != '#' {
			all = append(all, rewrite.ByteSymbol(c))
		}
	}
	const digits = escape.Digits + "abcdef"
	for _, lower := range [...]bool{false, true} {
		for _, a := range []byte(digits) {
			for _, b := range []byte(digits) {
				if (a >= 'a' || b >= 'a') == lower {
					all = append(all, rewrite.EscapeSymbol(a, b))
				}
			}
		}
	}
	return all
}()

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
		for _, x.Guess = range r.guesses(&x, now) {
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
				f.views[n].ForgetCharacter()
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
