// Package rewrite does to URLs and patterns what parsers do to them before they compare
// them: it has the percent escapes, the forms in which profiles compare these (escape.go),
// and what the parsers of dialects rewrite.
package rewrite

import (
	"strings"
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

	EmptyQueryLost, DoubleSlash, InvalidIsRoot, PatternIsURL, FoldCase bool // see the fields of a profile

	// StarLetter makes a * a letter beside patterns that have wildcards of their own.
	StarLetter bool
}

// Requote says how escapes are compared.
type Requote string

const (
	RequotePath       Requote = "path"
	RequoteThrough    Requote = "through"
	RequoteQuery      Requote = "query"
	RequoteUnreserved Requote = "unreserved"
	RequoteUnfit      Requote = "unfit"
	RequoteValid      Requote = "valid"
	RequotePlain      Requote = "plain"
	RequoteHarmless   Requote = "harmless"
	RequoteWhole      Requote = "whole"
)

// Compared says what of a URL is compared, if not path and query as they are.
type Compared string

const (
	ComparedPath   Compared = "path"
	ComparedDots   Compared = "dots"
	ComparedWHATWG Compared = "whatwg"
)

// Next appends what a symbol becomes. It is not ok if an earlier guess proves wrong, or if
// the path has a dot segment and those are resolved: without them it is another path that
// becomes the same.
func (r *Rewriter) Next(dst []byte, s State, t Symbol) (out []byte, after State, ok bool) {
	n := len(dst)
	out, after, ok = r.next(dst, s, t)
	r.foldLetters(out[n:])
	return out, after, ok
}

// foldLetters makes letters what they are compared as.
func (r *Rewriter) foldLetters(b []byte) {
	if !r.FoldCase && !r.StarLetter {
		return
	}
	for i, c := range b {
		switch {
		case r.FoldCase && c >= 'A' && c <= 'Z':
			b[i] = c | 0x20
		case r.StarLetter && c == '*':
			b[i] = letterStar
		}
	}
}

// letterStar stands for a star that is a letter. Of the rewriters that have such, none writes
// it for another character.
const letterStar = 1

func (r *Rewriter) next(dst []byte, s State, t Symbol) (out []byte, after State, ok bool) {
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
		if r.Requote != RequoteWhole { // which leaves out some symbols everywhere
			return dst, s, false
		}
	}
	if r.InvalidIsRoot && isInvalid(&t, s.query()) {
		return dst, s, false
	}
	switch r.Requote {
	case RequoteWhole:
		return r.nextOfWhole(dst, s, t)
	case RequoteThrough: // the query is no part of its own
		dst, ok = s.utf8.requote(dst, &t, "/%", "/%=")
		return dst, s, ok
	}
	if r.Compared == ComparedWHATWG && !r.resolve(&s, &t) || r.Compared == ComparedDots && !r.resolveDots(&s, &t) {
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
	case r.Requote == RequoteValid && t.Is(';'):
		s.part = inParams
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
	c, _ := t.Char()
	switch {
	case r.Requote == RequoteWhole:
		return s.guessesOfWhole(c)
	case r.Requote == RequoteThrough:
		if c >= 0x80 && lengthOf(c) > 0 {
			return []Guess{AsUsual, otherwise}
		}
		return nil
	case t.Is('/') && s.part == atStart && r.InvalidIsRoot, t.Is('?') && !query && r.losesQuery():
		return []Guess{AsUsual, otherwise}
	case query || r.Requote != RequotePath && r.Requote != RequoteHarmless || s.part == atParams || s.part == inParams:
		return nil
	case t.Is(';') && r.Requote == RequotePath:
		return []Guess{AsUsual, otherwise, nothing}
	case c >= 0x80 && lengthOf(c) > 0:
		return []Guess{AsUsual, otherwise}
	}
	return nil
}

// Reconciles reports whether a guess that is right for one rewriter is right for another.
func (r *Rewriter) Reconciles(other *Rewriter) bool {
	guesses := func(r *Rewriter) bool {
		return r.InvalidIsRoot || r.losesQuery() || r.Requote == RequoteHarmless || r.Requote == RequoteWhole
	}
	return *r == *other || r.Requote != RequoteWhole && other.Requote != RequoteWhole || !guesses(r) || !guesses(other)
}

// IsSequential reports whether [Rewriter.Next] makes of each path what [Rewriter.URL] does. It
// does not if a part of the rewriting reads what another one has made of the whole path, in a
// mix that no parser has.
func (r *Rewriter) IsSequential() bool {
	resolves := r.Compared == ComparedDots || r.Compared == ComparedWHATWG
	whole := r.Requote == RequoteWhole || r.Requote == RequoteThrough
	return !(resolves && whole || resolves && r.InvalidIsRoot || whole && r.InvalidIsRoot)
}

// WritesCharacters reports whether bytes from 0x80 stand as themselves in what the rewriter
// writes.
func (r *Rewriter) WritesCharacters() bool { return r.Requote == RequoteHarmless }

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

// resolveDots reads a symbol of a path whose dot segments are removed: a backslash is a
// slash. It is not ok if a segment of dots ends that another one follows.
func (r *Rewriter) resolveDots(s *State, t *Symbol) (ok bool) {
	if s.query() {
		return true
	}
	if t.Is('\\') {
		*t = ByteSymbol('/')
	}
	switch c, _ := t.Char(); {
	case t.Is('/'):
		if s.dots == 1 || s.dots == 2 {
			return false
		}
		s.dots = 0
	case c == '.' && s.dots < 3:
		s.dots++
	default:
		s.dots = 3
	}
	return true
}

// Ends reports whether a path may end in a state.
func (r *Rewriter) Ends(s *State) bool {
	return s.ends() && s.dots != 2 && (s.dots != 1 || r.Compared == ComparedDots)
}

// harmless reports whether HTTrack decodes the escape of a character of a path.
func harmless(c byte) bool {
	return c >= ' ' && c < 0x7F && strings.IndexByte(";/?:@&=$,<>#%\"{}|\\^[]`*'!", c) < 0
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
		plain = IsUnreserved(c) || c == '/' || query && !escaped && (c == '=' || c == '&')
	case RequoteUnreserved:
		plain = IsUnreserved(c) || !escaped && c > ' ' && c < 0x7F && strings.IndexByte("\"#<>[]^`{|}*$%", c) < 0
	case RequoteUnfit:
		plain = !escaped
	case RequoteValid:
		plain = IsUnreserved(c) || strings.IndexByte("!$&'()*+,;=:@/", c) >= 0 || (query || s.part == inParams) && c == '?'
	case RequoteHarmless:
		switch {
		case query:
			if plain = !escaped && c != '"' && c > ' ' && c < 0x7F; !plain && !escaped {
				return AppendEscape(dst, c), true
			}
			return t.AppendTo(dst), true
		case c >= 0x80:
			return s.utf8.decode(dst, t)
		}
		ok = s.utf8.end()
		switch {
		case escaped && harmless(c):
			return append(dst, c), ok
		case c < ' ' && !escaped:
			return dst, ok
		}
		return t.AppendTo(dst), ok
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
	return AppendEscape(dst, c), true
}

// isInvalid reports whether Java's parser of URLs refuses a symbol: a character that no URL
// can hold, a bracket in a path, or a % that begins no escape.
func isInvalid(t *Symbol, query bool) bool {
	c, escaped := t.Char()
	return !escaped && (c <= ' ' || c == 0x7F || strings.IndexByte("\"<>\\^`{|}%", c) >= 0 || (c == '[' || c == ']') &&
		!query)
}
