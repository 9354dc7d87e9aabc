package robots

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/internal/escape"
)

// A rewriter is what a dialect does to the path of a URL before it compares it, as a
// transducer: it reads symbol by symbol, and writes at once. So it rewrites one URL, and
// tells an automaton what all URLs become.
//
// What a symbol becomes may depend on the rest of the path. It then comes with a guess of
// that, and a rest that proves the guess wrong is refused. Exactly one sequence of guesses
// is right for a path.
type rewriter struct {
	requote                                    Requote
	compared                                   Compared
	emptyQueryLost, doubleSlash, invalidIsRoot bool
}

func (p *Profile) rewriter() rewriter {
	return rewriter{p.Requote, p.Compared, p.EmptyQueryLost, p.DoubleSlash, p.InvalidIsRoot}
}

// A symbol of a path is an escape, or a byte that is in none.
type symbol struct {
	text  [3]byte
	n     uint8 // 1 or 3
	guess guess
}

// A guess says what follows a symbol.
type guess uint8

const (
	// The URL is valid, after the first slash; parameters follow, after a semicolon; a
	// query follows, after a question mark; the rest of a character, after its first byte.
	asUsual guess = iota
	// The URL is invalid; a slash follows in the path; the query is empty; the character
	// is broken.
	otherwise
	// The parameters after a semicolon are empty.
	nothing
)

func byteSymbol(c byte) symbol { return symbol{text: [3]byte{c}, n: 1} }

func escapeSymbol(c, d byte) symbol { return symbol{text: [3]byte{'%', c, d}, n: 3} }

func escapeOf(d byte) symbol { return escapeSymbol(escape.Digits[d>>4], escape.Digits[d&15]) }

// char returns the byte that the symbol is, or is an escape of.
func (t *symbol) char() (c byte, escaped bool) {
	if t.n == 1 {
		return t.text[0], false
	}
	return escape.Unhex(t.text[1])<<4 | escape.Unhex(t.text[2]), true
}

func (t *symbol) is(c byte) bool { return t.n == 1 && t.text[0] == c }

func (t *symbol) appendTo(dst []byte) []byte { return append(dst, t.text[:t.n]...) }

// nextSymbol returns the symbol at the start of b, which is not empty.
func nextSymbol(b []byte) symbol {
	if escape.At(b, 0) {
		return escapeSymbol(b[1], b[2])
	}
	return byteSymbol(b[0])
}

// A rewriteState is what a rewriter has read of a path.
type rewriteState struct {
	part part
	dots uint8 // of the segment: 1 for ".", 2 for "..", 3 for any other beginning
	one  bool  // only the first slash
	utf8 sequence
}

type part uint8

const (
	atStart part = iota
	inPath
	beforeSlash // in the path, and a slash is to follow
	atParams    // before the first byte of the parameters
	inParams
	afterParams // where a query may follow, and nothing else
	atQuery     // before the first byte of the query
	inQuery
	ignoring      // in the query, which is not compared
	ended         // where nothing may follow
	refusing      // in the path of a URL that is to prove invalid
	refusingQuery // in its query
	refused       // the URL is invalid
)

// ends reports whether a path may end here.
func (s *rewriteState) ends() bool {
	if s.utf8.need > 0 && !s.utf8.broken {
		return false
	}
	switch s.part {
	case atStart, beforeSlash, atParams, atQuery, refusing, refusingQuery:
		return false
	}
	return s.dots != 1 && s.dots != 2
}

func (s *rewriteState) query() bool {
	return s.part >= atQuery && s.part <= ended || s.part == refusingQuery
}

// next appends what a symbol becomes. It is not ok if an earlier guess proves wrong, or if
// the path has a dot segment and those are resolved: without them it is another path that
// becomes the same.
func (r *rewriter) next(dst []byte, s rewriteState, t symbol) (out []byte, after rewriteState, ok bool) {
	switch s.part {
	case atStart:
		s.part, s.one = inPath, r.doubleSlash
		if r.invalidIsRoot && t.guess == otherwise {
			s = rewriteState{part: refusing}
			return append(dst, '/'), s, true
		}
		if t.is('/') {
			return append(dst, '/'), s, true
		}
	case refusing, refusingQuery:
		if isInvalid(&t, s.part == refusingQuery) {
			s.part = refused
		} else if t.is('?') {
			s.part = refusingQuery
		}
		return dst, s, true
	case refused:
		return dst, s, true
	case ended:
		return dst, s, false
	}
	if r.invalidIsRoot && isInvalid(&t, s.query()) {
		return dst, s, false
	}
	if r.compared == ComparedWHATWG && !r.resolve(&s, &t) {
		return dst, s, false
	}
	switch {
	case s.query():
		if s.part == ignoring {
			return dst, s, true
		}
		s.part = inQuery
	case t.is('?'):
		return r.begin(dst, s, t.guess)
	case r.requote == RequotePath:
		return r.nextOfParams(dst, s, t)
	case s.one:
		if s.one = false; t.is('/') {
			dst = append(dst, "//"...)
		}
	}
	dst, ok = r.write(dst, &s, &t)
	return dst, s, ok
}

// begin begins the query.
func (r *rewriter) begin(dst []byte, s rewriteState, g guess) ([]byte, rewriteState, bool) {
	if s.part == beforeSlash || s.part == atParams || !s.utf8.end() {
		return dst, s, false
	}
	s.one = false
	switch {
	case r.compared == ComparedPath:
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

// losesQuery reports whether an empty query leaves no mark.
func (r *rewriter) losesQuery() bool { return r.emptyQueryLost || r.requote == RequotePath }

// nextOfParams is next for a path with parameters, which are what stands behind a
// semicolon in the last segment.
func (r *rewriter) nextOfParams(dst []byte, s rewriteState, t symbol) (out []byte, after rewriteState, ok bool) {
	switch {
	case s.part == afterParams:
		return dst, s, false
	case s.part == atParams, s.part == inParams:
		s.part = inParams
		return t.appendTo(dst), s, !t.is('/')
	case t.is('/'):
		s.part = inPath
		if s.one {
			dst = append(dst, "//"...)
		}
	case !t.is(';'):
	case t.guess == otherwise:
		s.part = beforeSlash
	case s.part == beforeSlash:
		return dst, s, false
	case t.guess == nothing:
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
func (r *rewriter) resolve(s *rewriteState, t *symbol) (ok bool) {
	c, escaped := t.char()
	set := " \"#<>'"
	if !s.query() {
		set = " \"#<>?^`{}"
		if t.is('\\') {
			*t, c = byteSymbol('/'), '/'
		}
		switch {
		case t.is('/'), t.is('?'):
			if s.dots == 1 || s.dots == 2 {
				return false
			}
			if s.dots = 0; t.is('?') {
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
func (r *rewriter) write(dst []byte, s *rewriteState, t *symbol) (out []byte, ok bool) {
	c, escaped := t.char()
	query := s.query()
	plain := false // c stands as itself, else as an escape
	switch r.requote {
	case RequotePath:
		if query {
			return t.appendTo(dst), true
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
			return t.appendTo(dst), true
		}
		plain = true
	default:
		return t.appendTo(dst), true
	}
	if plain {
		return append(dst, c), true
	}
	return escape.Append(dst, c), true
}

// isInvalid reports whether Java's parser of URLs refuses a symbol: a character that no URL
// can hold, a bracket in a path, or a % that begins no escape.
func isInvalid(t *symbol, query bool) bool {
	c, escaped := t.char()
	return !escaped && (c <= ' ' || c == 0x7F || strings.IndexByte("\"<>\\^`{|}%", c) >= 0 || (c == '[' || c == ']') && !query)
}

// requoteURL returns the path and query of a URL as the dialect compares it.
func (p *Profile) requoteURL(b []byte) []byte {
	if !p.transforms() {
		return b
	}
	r := p.rewriter()
	if r.compared == ComparedWHATWG {
		b = withoutDots(b)
	}
	if r.invalidIsRoot && hasInvalid(b) {
		return []byte("/")
	}
	return r.rewrite(b)
}

// rewrite returns what a valid path without dot segments becomes.
func (r *rewriter) rewrite(b []byte) []byte {
	var s rewriteState
	path, _, _ := bytes.Cut(b, []byte("?"))
	slash := bytes.LastIndexByte(path, '/')
	out := make([]byte, 0, len(b)+2)
	for rest := b; len(rest) > 0; {
		t := nextSymbol(rest)
		if rest = rest[t.n:]; !s.query() {
			at := len(b) - len(rest) // where rest begins
			t.guess = guessOf(&t, rest, at <= slash, at == len(path))
		}
		out, s, _ = r.next(out, s, t)
	}
	return out
}

// guessOf returns the right guess for a symbol of the path of a valid URL or of a pattern,
// before rest. slash says that a slash follows in the path, last that the path ends here:
// looking for them at each symbol would take time quadratic in a hostile pattern.
func guessOf(t *symbol, rest []byte, slash, last bool) guess {
	switch {
	case t.is(';') && slash, t.is('?') && len(rest) == 0:
		return otherwise
	case t.is(';') && last:
		return nothing
	}
	if c, _ := t.char(); c >= 0x80 && !completes(c, rest) {
		return otherwise
	}
	return asUsual
}

// hasInvalid reports whether a symbol of a path is invalid.
func hasInvalid(b []byte) bool {
	query := false
	for len(b) > 0 {
		t := nextSymbol(b)
		if isInvalid(&t, query) {
			return true
		}
		query = query || t.is('?')
		b = b[t.n:]
	}
	return false
}

// withoutDots returns a path without dot segments, as the URL standard resolves them. A
// backslash is a slash.
func withoutDots(b []byte) []byte {
	path, query, hasQuery := bytes.Cut(b, []byte("?"))
	path = bytes.ReplaceAll(path, []byte{'\\'}, []byte{'/'})
	segments := strings.Split(strings.TrimPrefix(string(path), "/"), "/")
	var kept []string
	for i, s := range segments {
		last := i == len(segments)-1
		switch dots := strings.ReplaceAll(strings.ToLower(s), "%2e", "."); {
		case dots == "..":
			kept = kept[:max(len(kept)-1, 0)]
			if last {
				kept = append(kept, "")
			}
		case dots == ".":
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, s)
		}
	}
	out := []byte("/" + strings.Join(kept, "/"))
	if hasQuery {
		out = append(append(out, '?'), query...)
	}
	return out
}

// A sequence is a character in UTF-8 that has begun. Of bytes that are not UTF-8, each
// longest beginning of a character becomes U+FFFD, as Python's decoder replaces them.
type sequence struct {
	need      uint8 // bytes that are to follow
	low, high byte  // the range of the next
	broken    bool  // they do not all follow
}

const replacement = "%EF%BF%BD"

// requote appends a symbol decoded and encoded again: escapes of the characters in keep
// stay escapes, unreserved characters and those in safe stand as themselves. It is not ok
// if an earlier guess proves wrong.
func (q *sequence) requote(dst []byte, t *symbol, keep, safe string) (out []byte, ok bool) {
	c, escaped := t.char()
	if c >= 0x80 {
		return q.add(dst, c, t.guess)
	}
	kept := escaped && strings.IndexByte(keep, c) >= 0
	if !kept && (escape.IsUnreserved(c) || strings.IndexByte(safe, c) >= 0) {
		return append(dst, c), q.end()
	}
	return escape.Append(dst, c), q.end()
}

// add appends what a byte from 0x80 becomes.
func (q *sequence) add(dst []byte, c byte, g guess) (out []byte, ok bool) {
	if q.need > 0 && q.low <= c && c <= q.high {
		q.need, q.low, q.high = q.need-1, 0x80, 0xBF
		if q.broken {
			return dst, q.need > 0
		}
		return escape.Append(dst, c), true
	}
	ok = q.end()
	switch n := lengthOf(c); {
	case n == 0:
		return append(dst, replacement...), ok
	default:
		*q = sequence{need: uint8(n - 1), low: 0x80, high: 0xBF, broken: g == otherwise}
	}
	switch c {
	case 0xE0:
		q.low = 0xA0
	case 0xED:
		q.high = 0x9F
	case 0xF0:
		q.low = 0x90
	case 0xF4:
		q.high = 0x8F
	}
	if q.broken {
		return append(dst, replacement...), ok
	}
	return escape.Append(dst, c), ok
}

// end ends a sequence, and reports whether the guess about it was right.
func (q *sequence) end() (ok bool) {
	ok = q.need == 0 || q.broken
	*q = sequence{}
	return ok
}

// lengthOf returns the length of a character by its first byte from 0x80; 0 if none begins
// so.
func lengthOf(c byte) int {
	switch {
	case c >= 0xC2 && c < 0xE0:
		return 2
	case c >= 0xE0 && c < 0xF0:
		return 3
	case c >= 0xF0 && c < 0xF5:
		return 4
	}
	return 0
}

// completes reports whether the character that c begins is whole in what follows.
func completes(c byte, rest []byte) bool {
	text := []byte{c}
	for n := lengthOf(c); len(text) < n && len(rest) > 0; {
		t := nextSymbol(rest)
		next, _ := t.char()
		text, rest = append(text, next), rest[t.n:]
	}
	return utf8.Valid(text) && len(text) == lengthOf(c)
}
