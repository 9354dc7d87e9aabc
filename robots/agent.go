package robots

import (
	"fmt"
	"slices"
	"strings"
)

// An Agent is a crawler whose policy is asked for.
type Agent struct {
	Name string
	// Tokens are its own product tokens in order of preference: the first that
	// a group names decides.
	Tokens []string
	// FallsBackTo are the tokens of other crawlers whose group it follows where
	// none names it, in order of preference (Googlebot-Image: Googlebot).
	FallsBackTo []string
	// UserAgent is the whole product token that it sends, for profiles that
	// compare substrings; Name if empty.
	UserAgent string
	// IgnoresStar says that a group for * does not bind it, under a profile
	// that lets crawlers ignore one.
	IgnoresStar bool
}

// Validate reports the first token that no user-agent line can name, with
// what it could be cut to. Digits and dots are borne though RFC 9309, 2.2.1
// has only letters, "-" and "_": too many crawlers are named so.
func (a Agent) Validate() error {
	if len(a.Tokens) == 0 {
		return fmt.Errorf("agent %q has no token", a.Name)
	}
	for _, t := range a.allTokens() {
		_, wide := tokens([]byte(t))
		switch {
		case t == "":
			return fmt.Errorf("agent %q has an empty token", a.Name)
		case len(wide) == 0:
			return fmt.Errorf("agent %q: token %q begins with a character outside A-Z a-z 0-9 . _ -", a.Name, t)
		case len(wide) < len(t):
			return fmt.Errorf("agent %q: token %q has a character outside A-Z a-z 0-9 . _ -; use %q", a.Name, t, wide)
		}
	}
	for _, t := range a.FallsBackTo {
		if slices.ContainsFunc(a.Tokens, func(own string) bool { return strings.EqualFold(own, t) }) {
			return fmt.Errorf("agent %q falls back to its own token %q", a.Name, t)
		}
	}
	return nil
}

// allTokens are the tokens that a group is looked for by, the preferred first.
func (a Agent) allTokens() []string { return slices.Concat(a.Tokens, a.FallsBackTo) }

// BeyondToken returns the first of the agent's tokens that is no product token
// of RFC 9309, 2.2.1, because it has a digit or a dot, else "". Such a token
// finds its group here, where Google's own parser never would.
func (a Agent) BeyondToken() string {
	for _, t := range a.allTokens() {
		if narrow, _ := tokens([]byte(t)); len(narrow) < len(t) {
			return t
		}
	}
	return ""
}

// isStar says whether a user-agent value is for all crawlers: a star alone, or
// with white space and anything after it.
func isStar(value []byte) bool {
	return len(value) > 0 && value[0] == '*' && (len(value) == 1 || isSpace(value[1]))
}

// tokens are the longest leading runs of product token characters, without
// and with digits and dots.
func tokens(value []byte) (narrow, wide []byte) {
	n := 0
	for n < len(value) && tokenChar[value[n]] == 1 {
		n++
	}
	w := n
	for w < len(value) && tokenChar[value[w]] != 0 {
		w++
	}
	return value[:n], value[:w]
}

// tokenChar is 1 for a character of a product token, 2 for a digit or dot.
var tokenChar = func() (t [256]uint8) {
	for c := range t {
		switch b := byte(c); {
		case b|0x20-'a' < 26, b == '-', b == '_':
			t[c] = 1
		case b-'0' < 10, b == '.':
			t[c] = 2
		}
	}
	return t
}()
