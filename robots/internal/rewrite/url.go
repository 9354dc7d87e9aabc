package rewrite

import (
	"bytes"
	"strings"
)

// URL returns the path and query of a URL as the dialect compares it.
func (r Rewriter) URL(b []byte) []byte {
	switch {
	case r == (Rewriter{}):
		return b
	case r.keeps(b):
		return bytes.Clone(b)
	}
	return r.url(b)
}

func (r *Rewriter) url(b []byte) []byte {
	switch {
	case r.Compared == ComparedWHATWG:
		b = WithoutDots(bytes.TrimRightFunc(withoutTabs(b), isControl))
	case r.Compared == ComparedDots:
		b = withoutDotSegments(withoutTabs(b))
	case r.Requote == RequotePath, r.Requote == RequoteThrough, r.Requote == RequoteQuery: // by Python
		b = withoutTabs(b)
	}
	if r.InvalidIsRoot && hasInvalid(b) {
		return []byte("/")
	}
	return r.rewrite(b)
}

// keeps reports whether a path is so plain that it is compared as it is.
func (r *Rewriter) keeps(b []byte) bool {
	if len(b) == 0 || b[0] != '/' || len(b) > 1 && b[1] == '/' || r.Requote == RequoteWhole {
		return false
	}
	query := false
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '/', c == '-', c == '_', c == '~':
		case c >= 'A' && c <= 'Z' && !r.FoldCase:
		case c == '.' && (r.Compared == "" || b[i-1] != '/'): // else it may begin a dot segment
		case c == '?' && !query && i < len(b)-1 && r.Compared != ComparedPath && r.Requote != RequoteThrough:
			query = true
		case (c == '=' || c == '&') && query:
		default:
			return false
		}
	}
	return true
}

// rewrite returns what a valid path without dot segments becomes.
func (r *Rewriter) rewrite(b []byte) []byte {
	var s State
	if r.Requote == RequoteWhole {
		out := requoteWholeURL(b)
		r.foldLetters(out)
		return out
	}
	path, _, _ := bytes.Cut(b, []byte("?"))
	slash := bytes.LastIndexByte(path, '/')
	out := make([]byte, 0, len(b)+2)
	for rest := b; len(rest) > 0; {
		var t Symbol
		if t, rest = Cut(rest); !s.query() {
			at := len(b) - len(rest) // where rest begins
			t.Guess = guessOf(&t, rest, at <= slash, at == len(path))
		}
		out, s, _ = r.Next(out, s, t)
	}
	return out
}

// guessOf returns the right guess for a symbol of the path of a valid URL or of a pattern,
// before rest. slash says that a slash follows in the path, last that the path ends here:
// looking for them at each symbol would take time quadratic in a hostile pattern.
func guessOf(t *Symbol, rest []byte, slash, last bool) Guess {
	switch {
	case t.Is(';') && slash, t.Is('?') && len(rest) == 0:
		return otherwise
	case t.Is(';') && last:
		return nothing
	}
	if c, _ := t.Char(); c >= 0x80 && !completes(c, rest) {
		return otherwise
	}
	return AsUsual
}

// hasInvalid reports whether a symbol of a path is invalid.
func hasInvalid(b []byte) bool {
	query := false
	for len(b) > 0 {
		t, rest := Cut(b)
		if isInvalid(&t, query) {
			return true
		}
		query = query || t.Is('?')
		b = rest
	}
	return false
}

// withoutTabs returns a URL without tabs and line ends, which the URL standard removes, and
// so does Python.
func withoutTabs(b []byte) []byte {
	if !bytes.ContainsAny(b, "\t\n\r") {
		return b
	}
	return bytes.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return -1
		}
		return r
	}, b)
}

// isControl reports whether the URL standard trims a character.
func isControl(r rune) bool { return r <= ' ' }

// withoutDotSegments returns a path without dot segments that end with a slash, or with the
// path if they lead upwards. A backslash is a slash.
func withoutDotSegments(b []byte) []byte { return resolved(b, false) }

// WithoutDots returns a path without dot segments, as the URL standard resolves them. A
// backslash is a slash.
func WithoutDots(b []byte) []byte { return resolved(b, true) }

// resolved resolves the dot segments of a path; a last one that stays where it is, or that a
// query follows, only if asked to.
func resolved(b []byte, last bool) []byte {
	path, query, hasQuery := bytes.Cut(b, []byte("?"))
	path = bytes.ReplaceAll(path, []byte{'\\'}, []byte{'/'})
	segments := strings.Split(strings.TrimPrefix(string(path), "/"), "/")
	var kept []string
	for i, s := range segments {
		isLast := i == len(segments)-1
		switch dots := strings.ReplaceAll(strings.ToLower(s), "%2e", "."); {
		case dots == ".." && (last || !isLast || !hasQuery):
			kept = kept[:max(len(kept)-1, 0)]
		case dots == "." && (last || !isLast):
		default:
			kept = append(kept, s)
			continue
		}
		if isLast {
			kept = append(kept, "")
		}
	}
	out := []byte("/" + strings.Join(kept, "/"))
	if hasQuery {
		out = append(append(out, '?'), query...)
	}
	return out
}
