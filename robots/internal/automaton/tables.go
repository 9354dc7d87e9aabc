package automaton

import (
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
	becomesByte             // or slashes
	becomesEscapes          // one or more
)

// A symbolTable says what the symbols become in a mode.
type symbolTable struct {
	symbols []rewrite.Symbol
	long    int // index of the first escape
	views   int
	// by lists, for each view and byte, the symbols that begin with that byte there.
	by [maxReaderViews][256][]uint16
	// escapes lists, for each view, the symbols that become escapes there.
	escapes [maxReaderViews][]uint16
	// groups are all symbols by the mode that follows, whatever character they begin, and
	// by whether they become anything. Those that begin a character become escapes, but
	// for rewriters that write characters.
	groups [][]uint16
}

// allSymbols are the symbols of a URL: bytes, then escapes, those in upper case first.
var allSymbols = func() (all []rewrite.Symbol) {
	for c := byte('!'); c <= '~'; c++ {
		if c != '#' {
			all = append(all, rewrite.ByteSymbol(c))
		}
	}
	const digits = rewrite.HexDigits + "abcdef"
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
	groups := make(map[follow]int)
	var memory [16]byte
	for i := range allSymbols {
		x := allSymbols[i]
		for _, x.Guess = range r.guesses(&x, now) {
			var f follow
			var ok bool
			if f.path, ok = r.follows(now.path, &x); !ok {
				continue
			}
			var fates [maxReaderViews]fate
			for n := 0; n < t.views && ok; n++ {
				var out []byte
				out, f.views[n], ok = r.views[n].becomes(memory[:0], now.views[n], &x, now.path&inQueryBit != 0)
				f.empty[n], fates[n] = len(out) == 0, fateOf(out)
			}
			if !ok {
				continue
			}
			k := uint16(len(t.symbols))
			if x.Len() == 1 {
				t.long = int(k) + 1
			}
			t.symbols = append(t.symbols, x)
			for n, fate := range fates[:t.views] {
				if fate.kind == becomesEscapes {
					t.escapes[n] = append(t.escapes[n], k)
				}
				if fate.kind != becomesNothing {
					t.by[n][fate.byte] = append(t.by[n][fate.byte], k)
				}
				if !r.views[n].As.WritesCharacters() {
					f.views[n].ForgetCharacter()
				}
			}
			n, ok := groups[f]
			if !ok {
				n = len(t.groups)
				groups[f] = n
				t.groups = append(t.groups, nil)
			}
			t.groups[n] = append(t.groups[n], k)
		}
	}
	return t
}

// fateOf returns the fate of a symbol that becomes out. Where patterns do not distinguish a
// slash, slashes that are doubled lead where one does.
func fateOf(out []byte) fate {
	switch {
	case len(out) == 0:
		return fate{}
	case len(out) == 1, out[0] == '/':
		return fate{becomesByte, out[0]}
	}
	return fate{becomesEscapes, out[0]}
}
