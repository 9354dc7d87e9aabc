package robots

import (
	"bytes"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/internal/automaton"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// isDead reports whether a pattern matches none of some paths in a form, because no URL has one
// of its bytes; or because it has an escape that no plain path has, and that the form does not
// make.
func isDead(pattern []byte, on domain, form automaton.Form) bool {
	for i, c := range pattern {
		switch {
		case c <= ' ' || c > '~' || c == '#':
			return true
		case c == '%' && on.likeness == alikePlainly && i+2 < len(pattern) && bytes.IndexByte(pattern[i:i+3], '*') < 0 &&
			!automaton.IsPlain(pattern[i:i+3]):
			if form == automaton.AsIs || !rewrite.IsEscape(pattern, i) ||
				!isMade(rewrite.Unhex(pattern[i+1])<<4|rewrite.Unhex(pattern[i+2])) {
				return true
			}
		}
	}
	return false
}

// isInert reports whether a pattern matches the same of some paths in each form that agrees
// on them. No form changes what such a pattern consists of, and none makes it of anything
// else. But what follows a star may begin within an escape, which a form may write otherwise.
func isInert(pattern []byte, starred bool, on domain) bool {
	inQuery := false
	for i, c := range pattern {
		switch {
		case c == '*' && starred:
			if startsInEscape(pattern[i+1:], on) {
				return false
			}
		case c == '%' && !isInertEscape(pattern[i:], inQuery, on), on.likeness == alikePlainly && isMade(c):
			return false
		}
		inQuery = inQuery || c == '?'
	}
	return true
}

// isInertEscape reports the same of the % at the beginning of a text.
func isInertEscape(text []byte, inQuery bool, on domain) bool {
	if on.likeness == alike {
		return !slices.ContainsFunc(text[1:min(3, len(text))], func(c byte) bool { return c > '9' && rewrite.IsHex(c) })
	}
	if !rewrite.IsEscape(text, 0) {
		return false
	}
	c := rewrite.Unhex(text[1])<<4 | rewrite.Unhex(text[2])
	return c <= ' ' || c > '~' || c == '#' || c == '%' || !inQuery && (c == '/' || c == '?') ||
		rewrite.IsUnfit(c) && strings.IndexByte(on.made, c) < 0
}

// rewritesFew reports whether it is known which normal paths (see [automaton.IsNormal]) a
// dialect rewrites, symbol by symbol.
func rewritesFew(as rewrite.Rewriter) bool {
	switch as {
	// no stranger than the forms of the RFC
	case rewrite.Rewriter{Requote: rewrite.RequoteUnreserved, InvalidIsRoot: true},
		rewrite.Rewriter{Requote: rewrite.RequotePlain, Compared: rewrite.ComparedPath},
		rewrite.Rewriter{Requote: rewrite.RequotePath}:
		return true
	}
	return false
}

// isInertRewritten is isInert for a dialect that rewritesFew, of patterns that are inert to
// all other forms.
func isInertRewritten(pattern []byte, kind uint8, as rewrite.Rewriter) bool {
	switch as.Requote {
	case rewrite.RequoteUnreserved:
	case rewrite.RequotePlain: // escapes are decoded, and the query is lost
		return kind&starKind == 0 && !bytes.ContainsAny(pattern, "%?")
	case rewrite.RequotePath: // reserved characters of the path are escaped, and marks without what they announce are lost
		if kind&anchorKind != 0 || bytes.HasSuffix(pattern, []byte("?")) {
			return false
		}
		before := byte('/') // the byte before
		inQuery := false
		for _, c := range pattern {
			switch {
			case c == '%', c == ';', before == '*' && rewrite.IsHex(c):
				return false
			case c == '?' && !inQuery:
				if before != '*' {
					return false // what was lost may stand between
				}
				inQuery = true
			case !inQuery && !rewrite.IsUnreserved(c) && c != '/' && c != '*':
				return false
			}
			before = c
		}
	}
	return true
}

// startsInEscape reports whether the text before the next star may begin at a digit of an
// escape in one form of a path, and not in another.
func startsInEscape(text []byte, on domain) bool {
	if len(text) == 0 || !rewrite.IsHex(text[0]) {
		return false
	}
	c, next := text[0], byte('*')
	if len(text) > 1 {
		next = text[1]
	}
	if on.likeness == alike { // forms may differ in the case of digits
		return c > '9' || rewrite.IsHex(next) && next > '9'
	}
	// Forms of the RFC escape what no URL holds, and no more than that.
	for _, x := range []byte(on.made) {
		high, low := rewrite.HexDigits[x>>4], rewrite.HexDigits[x&15]
		if c == low || c == high && (next == '*' || next == low) {
			return true
		}
	}
	return false
}
