package robots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// An Agent is a crawler.
type Agent struct {
	Name string
	// Tokens are the crawler's product tokens in order of preference. The first
	// that a group names decides.
	Tokens []string
	// FallsBackTo are tokens of other crawlers, in order of preference. The
	// crawler follows their group if no group names the crawler itself
	// (Googlebot-Image: Googlebot).
	FallsBackTo []string
	// UserAgent is the name that the crawler sends, for profiles that compare
	// substrings. If empty, Name is used.
	UserAgent string
	// IgnoresStar reports whether the crawler is documented to ignore groups
	// for *. It has an effect only in a profile with IgnoresStar.
	IgnoresStar bool
}

// Validate returns an error for the first token that no user-agent line can
// name, and suggests a shorter one. Digits and dots are accepted although RFC
// 9309, 2.2.1 has only letters, "-" and "_": too many crawlers use them.
func (a Agent) Validate() error {
	if len(a.Tokens) == 0 {
		return fmt.Errorf("agent %q has no token", a.Name)
	}
	for _, t := range a.allTokens() {
		_, wide := ascii.Tokens([]byte(t))
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

// allTokens returns Tokens and FallsBackTo, in order of preference.
func (a Agent) allTokens() []string { return slices.Concat(a.Tokens, a.FallsBackTo) }

// BeyondToken returns the first of the agent's tokens that contains a digit or
// a dot, else "". Such a token is not a product token (RFC 9309, 2.2.1): this
// package finds its group, but Google's own parser never would.
func (a Agent) BeyondToken() string {
	for _, t := range a.allTokens() {
		if narrow, _ := ascii.Tokens([]byte(t)); len(narrow) < len(t) {
			return t
		}
	}
	return ""
}

// isStar reports whether a user-agent value is for all crawlers: a star, alone
// or followed by white space and anything.
func isStar(value []byte) bool {
	return len(value) > 0 && value[0] == '*' && (len(value) == 1 || ascii.IsSpace(value[1]))
}
