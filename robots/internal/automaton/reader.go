package automaton

import (
	"sync"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

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
	View
}

// A readerKind is all that a reader depends on.
type readerKind struct {
	views [maxReaderViews]viewKind
	paths Paths // if they are not all, only normalized ones; see IsNormal
}

// A reader holds the tables for paths that are read in certain forms, at most maxTables.
type reader struct {
	readerKind
	unwanted [2]byteSet // escapes, in the path and in the query
	lock     sync.Mutex
	tables   map[readMode]*symbolTable
}

// A readMode is the state of a path in all forms, but for the patterns.
type readMode struct {
	path  int32 // first number of the state
	views [maxReaderViews]rewrite.State
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
// paths; if one is not sequential; or if two forms do not guess alike what follows a symbol.
func newReader(l *Language, paths Paths) *reader {
	if len(l.views) > maxReaderViews {
		return nil
	}
	kind := readerKind{paths: paths}
	for i := range l.views {
		v := &l.views[i]
		if v.As.Requote == rewrite.RequotePlain && len(v.stars) > 0 || v.Form != AsIs && len(v.resets) > 0 ||
			!v.As.IsSequential() {
			return nil
		}
		for k := range i {
			if !v.As.Reconciles(&l.views[k].As) {
				return nil
			}
		}
		kind.views[i] = viewKind{true, v.View}
	}
	return readerOf(kind)
}

// readerOf returns the reader that all comparisons of a kind share.
func readerOf(kind readerKind) *reader {
	readers.Lock()
	defer readers.Unlock()
	r := readers.of[kind]
	if r == nil {
		r = &reader{readerKind: kind, unwanted: kind.paths.unwanted(), tables: make(map[readMode]*symbolTable)}
		if readers.of == nil {
			readers.of = make(map[readerKind]*reader)
		}
		readers.of[kind] = r
	}
	return r
}

// guesses lists the guesses that a symbol comes with in a mode.
func (r *reader) guesses(t *rewrite.Symbol, m *readMode) []rewrite.Guess {
	for i := range r.views {
		if v := &r.views[i]; v.Form == Rewritten {
			if all := v.As.Guesses(&m.views[i], t, m.path&inQueryBit != 0); all != nil {
				return all
			}
		}
	}
	return []rewrite.Guess{rewrite.AsUsual}
}

// follows returns the first number of the state after a symbol, and whether the symbol may
// stand there.
func (r *reader) follows(path int32, t *rewrite.Symbol) (after int32, ok bool) {
	query := path&inQueryBit != 0
	c, escaped := t.Char()
	if r.paths != AllPaths && !isNormalSymbol(t, &r.unwanted[index(query)]) {
		return 0, false
	}
	pending := int32(0)
	switch {
	case escaped:
	case c == '%':
		pending = afterPercent
	case rewrite.IsHex(c) && path&0xFF == afterPercent:
		pending = afterDigit
	case rewrite.IsHex(c) && path&0xFF == afterDigit:
		return 0, false
	}
	switch {
	case query, t.Is('?'):
		pending |= inQueryBit
	case r.paths == AllPaths || t.Is('/'):
	case path>>dotsShift < 3 && t.Is('.'):
		pending |= (path>>dotsShift + 1) << dotsShift
	default:
		pending |= 3 << dotsShift
	}
	return pending, !(t.Is('/') || t.Is('?') && !query) || !isDots(path)
}

// isDots reports whether the segment that is read is a dot segment so far.
func isDots(path int32) bool { return path>>dotsShift == 1 || path>>dotsShift == 2 }

// becomes appends what a symbol becomes in a view.
func (v *viewKind) becomes(dst []byte, s rewrite.State, t *rewrite.Symbol, query bool) (out []byte,
	after rewrite.State, ok bool) {
	c, escaped := t.Char()
	switch {
	case v.Form == Rewritten:
		return v.As.Next(dst, s, *t)
	case v.Form == AsIs:
		return t.AppendTo(dst), s, true
	case escaped && !decodes(v.Form, c, query), !escaped && v.Form >= NormalForm &&
		(c == '*' || c == '$' || rewrite.IsUnfit(c)):
		return rewrite.AppendEscape(dst, c), s, true
	}
	return append(dst, c), s, true
}
