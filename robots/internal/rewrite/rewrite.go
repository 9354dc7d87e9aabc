// Package rewrite does to URLs and patterns what the parsers of dialects do to them before
// they compare them.
package rewrite

import (
	"strings"

	"github.com/robocensus/robocensus/robots/internal/escape"
)

// A Rewriter is what a dialect does to the path of a URL before it compares it, as a
// transducer: it reads symbol by symbol, and writes at once. So it rewrites one URL, and
// tells an automaton what all URLs become.
//
// What a symbol becomes may depend on the rest of the path. It then comes with a guess of
// that, and a rest that proves the guess wrong is refused. Exactly one sequence of guesses
// is right for a path.
type Rewriter struct {
	Requote  Requote
	Compared Compared

	EmptyQueryLost, DoubleSlash, InvalidIsRoot bool // see the fields of a profile
}

// Requote says how escapes are compared.
type Requote string

const (
	RequotePath       Requote = "path"
	RequoteQuery      Requote = "query"
	RequoteUnreserved Requote = "unreserved"
	RequoteUnfit      Requote = "unfit"
	RequoteValid      Requote = "valid"
	RequotePlain      Requote = "plain"
)

// Compared says what of a URL is compared, if not path and query as they are.
type Compared string

const (
	ComparedPath   Compared = "path"
	ComparedWHATWG Compared = "whatwg"
)

// Next appends what a symbol becomes. It is not ok if an earlier guess proves wrong, or if
// the path has a dot segment and those are resolved: without them it is another path that
// becomes the same.
func (r *Rewriter) Next(dst []byte, s State, t Symbol) (out []byte, after State, ok bool) {
	switch s.part {
	case atStart:
		s.part, s.one = inPath, r.DoubleSlash
		if r.InvalidIsRoot && t.Guess == otherwise {
			s = State{part: refusing}
			return append(dst, '/'), s, true
		}
		if t.Is('/') {
			return append(dst, '/'), s, true
		}
	case refusing, refusingQuery:
		if isInvalid(&t, s.part == refusingQuery) {
			s.part = refused
		} else if t.Is('?') {
			s.part = refusingQuery
		}
		return dst, s, true
	case refused:
		return dst, s, true
	case ended:
		return dst, s, false
	}
	if r.InvalidIsRoot && isInvalid(&t, s.query()) {
		return dst, s, false
	}
	if r.Compared == ComparedWHATWG && !r.resolve(&s, &t) {
		return dst, s, false
	}
	switch {
	case s.query():
		if s.part == ignoring {
			return dst, s, true
		}
		s.part = inQuery
	case t.Is('?'):
		return r.begin(dst, s, t.Guess)
	case r.Requote == RequotePath:
		return r.nextOfParams(dst, s, t)
	case s.one:
		if s.one = false; t.Is('/') {
			dst = append(dst, "//"...)
		}
	}
	dst, ok = r.write(dst, &s, &t)
	return dst, s, ok
}

// begin begins the query.
func (r *Rewriter) begin(dst []byte, s State, g Guess) ([]byte, State, bool) {
	if s.part == beforeSlash || s.part == atParams || !s.utf8.end() {
		return dst, s, false
	}
	s.one = false
	switch {
	case r.Compared == ComparedPath:
		s.part = ignoring
		return dst, s, true
	case !r.losesQuery():
		s.part = inQuery
	case g == otherwise:
		s.part = ended
		return dst, s, true
	default:
		s.part = atQuery
	}
	return append(dst, '?'), s, true
}

// Guesses lists the guesses that a symbol comes with in a state, if there is more than one.
func (r *Rewriter) Guesses(s *State, t *Symbol, query bool) []Guess {
	switch {
	case t.Is('/') && s.part == atStart && r.InvalidIsRoot, t.Is('?') && !query && r.losesQuery():
		return []Guess{AsUsual, otherwise}
	case query || r.Requote != RequotePath || s.part == atParams || s.part == inParams:
		return nil
	case t.Is(';'):
		return []Guess{AsUsual, otherwise, nothing}
	}
	if c, _ := t.Char(); c >= 0x80 && lengthOf(c) > 0 {
		return []Guess{AsUsual, otherwise}
	}
	return nil
}

// losesQuery reports whether an empty query leaves no mark.
func (r *Rewriter) losesQuery() bool { return r.EmptyQueryLost || r.Requote == RequotePath }

// nextOfParams is Next for a path with parameters, which are what stands behind a
// semicolon in the last segment.
func (r *Rewriter) nextOfParams(dst []byte, s State, t Symbol) (out []byte, after State, ok bool) {
	switch {
	case s.part == afterParams:
		return dst, s, false
	case s.part == atParams, s.part == inParams:
		s.part = inParams
		return t.AppendTo(dst), s, !t.Is('/')
	case t.Is('/'):
		s.part = inPath
		if s.one {
			dst = append(dst, "//"...)
		}
	case !t.Is(';'):
	case t.Guess == otherwise:
		s.part = beforeSlash
	case s.part == beforeSlash:
		return dst, s, false
	case t.Guess == nothing:
		s.part, s.one = afterParams, false
		ok = s.utf8.end()
		return dst, s, ok
	default:
		s.part, s.one = atParams, false
		ok = s.utf8.end()
		return append(dst, ';'), s, ok
	}
	s.one = false
	dst, ok = r.write(dst, &s, &t)
	return dst, s, ok
}

// resolve reads a symbol as the URL standard does: a backslash in the path is a slash, and
// some characters are escaped. It is not ok if a segment of dots ends.
func (r *Rewriter) resolve(s *State, t *Symbol) (ok bool) {
	c, escaped := t.Char()
	set := " \"#<>'"
	if !s.query() {
		set = " \"#<>?^`{}"
		if t.Is('\\') {
			*t, c = ByteSymbol('/'), '/'
		}
		switch {
		case t.Is('/'), t.Is('?'):
			if s.dots == 1 || s.dots == 2 {
				return false
			}
			if s.dots = 0; t.Is('?') {
				return true
			}
		case c == '.' && s.dots < 3:
			s.dots++
		default:
			s.dots = 3
		}
	}
	if !escaped && (c < ' ' || c >= 0x7F || strings.IndexByte(set, c) >= 0) {
		*t = escapeOf(c)
	}
	return true
}

// write appends a symbol as it is compared.
func (r *Rewriter) write(dst []byte, s *State, t *Symbol) (out []byte, ok bool) {
	c, escaped := t.Char()
	query := s.query()
	plain := false // c stands as itself, else as an escape
	switch r.Requote {
	case RequotePath:
		if query {
			return t.AppendTo(dst), true
		}
		return s.utf8.requote(dst, t, "/%", "/%")
	case RequoteQuery:
		plain = escape.IsUnreserved(c) || c == '/' || query && !escaped && (c == '=' || c == '&')
	case RequoteUnreserved:
		plain = escape.IsUnreserved(c) || !escaped && c > ' ' && c < 0x7F && strings.IndexByte("\"#<>[]^`{|}*$%", c) < 0
	case RequoteUnfit:
		plain = !escaped
	case RequoteValid:
		plain = escape.IsUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@/", c) >= 0 || query && c == '?'
	case RequotePlain:
		if escaped && c == '/' {
			return t.AppendTo(dst), true
		}
		plain = true
	default:
		return t.AppendTo(dst), true
	}
	if plain {
		return append(dst, c), true
	}
	return escape.Append(dst, c), true
}

// isInvalid reports whether Java's parser of URLs refuses a symbol: a character that no URL
// can hold, a bracket in a path, or a % that begins no escape.
func isInvalid(t *Symbol, query bool) bool {
	c, escaped := t.Char()
	return !escaped && (c <= ' ' || c == 0x7F || strings.IndexByte("\"<>\\^`{|}%", c) >= 0 || (c == '[' || c == ']') && !query)
}
