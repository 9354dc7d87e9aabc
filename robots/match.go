package robots

import "bytes"

// A literal is a compiled pattern without a wildcard inside.
type literal struct {
	head, mask uint64 // the first eight bytes of the pattern, and the mask of those it has
	key        int32  // precedence: length, then allow before disallow
	rule       int32  // index in the Rules of the ruleset's file
	n          int32  // length without anchor
	anchor     bool
}

// A wild is a compiled pattern with a * that is not at its end.
type wild struct {
	head, mask     uint64 // those of the literal before the first *
	letters, pairs uint64 // filters of what a path must contain; see Target
	pattern        []byte // without anchor and trailing stars
	// inQuery is the form of the pattern in a query, nil if it is the same.
	inQuery []byte
	key     int32
	rule    int32
	anchor  bool
	once    bool // the last literal counts at its first place only (StarsFirstPlace)
}

// matches requires that the head of the pattern has been compared.
func (l *literal) matches(t *Target, pattern []byte) bool {
	n := int(l.n)
	if len(t.path) < n || l.anchor && len(t.path) != n {
		return false
	}
	return n <= 8 || string(t.path[8:n]) == string(pattern[8:n])
}

// ends reports whether the end of a matching pattern falls on a path border, if
// the profile requires that (BarePrefix).
func (l *literal) ends(t *Target) bool {
	return !t.whole || l.anchor || endsAt(t.path, int(l.n))
}

// endsAt reports whether the first n bytes of a path are the whole path without
// its query, or a directory that contains the rest.
func endsAt(path []byte, n int) bool {
	return n == len(path) || path[n] == '?' || path[n] == '/' || n > 0 && path[n-1] == '/'
}

// matches finds each literal between stars at its first place after the
// previous one. That suffices: a later place leaves less for what follows. No
// byte of the path is searched twice, so the cost is linear in path plus
// pattern.
func (w *wild) matches(t *Target) bool {
	if w.letters&^t.letters != 0 || w.pairs&^t.pairs != 0 {
		return false
	}
	if w.inQuery != nil {
		return w.matchesForms(t)
	}
	star := bytes.IndexByte(w.pattern, '*')
	if len(t.path) < star || string(t.path[:star]) != string(w.pattern[:star]) {
		return false
	}
	path, rest := t.path[star:], w.pattern[star+1:]
	for {
		star = bytes.IndexByte(rest, '*')
		if star < 0 {
			break
		}
		if star > 0 {
			if t.allPairs != nil && !t.may(rest[:star]) {
				return false
			}
			i := bytes.Index(path, rest[:star])
			if i < 0 {
				return false
			}
			path = path[i+star:]
		}
		rest = rest[star+1:]
	}
	if w.anchor {
		if w.once {
			i := bytes.Index(path, rest)
			return i >= 0 && i+len(rest) == len(path)
		}
		return bytes.HasSuffix(path, rest)
	}
	if t.allPairs != nil && !t.may(rest) {
		return false
	}
	return bytes.Contains(path, rest)
}

// matchesForms handles the rare pattern whose form in a query differs from that
// in a path, such as /*%3A: there %3A equals a colon in the query only. A
// literal that begins in the path, or at the ?, is searched in its path form;
// one that begins after the ? in its query form.
func (w *wild) matchesForms(t *Target) bool {
	pos := 0
	inPath, inQuery := w.pattern, w.inQuery
	for first := true; ; first = false {
		a, b := bytes.IndexByte(inPath, '*'), bytes.IndexByte(inQuery, '*')
		last := a < 0
		if last {
			a, b = len(inPath), len(inQuery)
		}
		segPath, segQuery := inPath[:a], inQuery[:b]
		next := -1
		switch {
		case first:
			if bytes.HasPrefix(t.path, segPath) {
				next = len(segPath)
			}
		case last && w.anchor:
			// The literal must end where the path does.
			if i := len(t.path) - len(segPath); i >= pos && i <= t.query && bytes.HasSuffix(t.path, segPath) {
				next = len(t.path)
			}
			if i := len(t.path) - len(segQuery); i >= pos && i > t.query && bytes.HasSuffix(t.path, segQuery) {
				next = len(t.path)
			}
		default:
			next = t.find(pos, segPath, segQuery)
		}
		if next < 0 || last {
			return next >= 0
		}
		pos = next
		inPath, inQuery = inPath[a+1:], inQuery[b+1:]
	}
}

// find returns the end of the first place from pos at which a literal with two
// forms matches, or -1.
func (t *Target) find(pos int, inPath, inQuery []byte) int {
	if pos <= t.query {
		to := min(t.query+len(inPath), len(t.path))
		if i := bytes.Index(t.path[pos:to], inPath); i >= 0 {
			return pos + i + len(inPath)
		}
	}
	pos = max(pos, min(t.query+1, len(t.path)))
	if i := bytes.Index(t.path[pos:], inQuery); i >= 0 {
		return pos + i + len(inQuery)
	}
	return -1
}
