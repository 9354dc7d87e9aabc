// Package lighthouse says which lines of a file Lighthouse's audit of robots.txt calls
// errors (version 13.5: core/audits/seo/robots-txt.js). Site owners meet its verdict in
// Chrome and in PageSpeed Insights. It reads each line alone, and no crawler reads so.
package lighthouse

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots"
)

// A Fault is why a line is an error.
type Fault uint8

const (
	UnknownDirective Fault = iota
	Syntax                 // no colon
	Pattern                // a rule that begins with neither / nor *
	InnerDollar            // a rule with a $ that is not its end
	Sitemap                // one that is no URL of http, https or ftp
	NoAgent                // a user-agent line without value
	Orphan                 // a rule before any user-agent line

	numFaults = iota
)

// String returns the key of a fault.
func (f Fault) String() string {
	return [numFaults]string{"unknown_directive", "syntax", "pattern", "inner_dollar", "sitemap", "no_agent", "rule_before_agent"}[f]
}

// Message returns what the audit says.
func (f Fault) Message() string {
	return [numFaults]string{
		"Unknown directive", "Syntax not understood", `Pattern should either be empty, start with "/" or "*"`,
		`"$" should only be used at the end of the pattern`, "Invalid sitemap URL, or its protocol", "No user-agent specified", "No user-agent specified",
	}[f]
}

// An Error is a line that the audit calls one.
type Error struct {
	Line  int32 // from 1
	Text  []byte
	Fault Fault
}

// known are the directives that the audit knows; content-usage and license are not among
// them.
var known = map[string]bool{
	"user-agent": true, "disallow": true, "allow": true, "sitemap": true, "crawl-delay": true, "clean-param": true, "host": true, "request-rate": true,
	"visit-time": true, "noindex": true, "content-signal": true,
}

const longestDirective = len("content-signal")

// Errors appends the errors of a file to dst.
func Errors(dst []Error, body []byte) []Error {
	number, inGroup := int32(0), false
	for text := range robots.SplitLines(body) {
		number++
		name, fault, ok := audit(text)
		switch {
		case !ok:
			dst = append(dst, Error{number, text, fault})
		case name == "user-agent":
			inGroup = true
		case !inGroup && (name == "allow" || name == "disallow"):
			dst = append(dst, Error{number, text, Orphan})
		}
	}
	return dst
}

// audit reads one line: its directive, "" for none, or its fault.
func audit(line []byte) (name string, fault Fault, ok bool) {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	line = trim(line)
	if len(line) == 0 {
		return "", 0, true
	}
	field, value, colon := bytes.Cut(line, []byte{':'})
	if !colon {
		return "", Syntax, false
	}
	field, value = trim(field), trim(value)
	if len(field) <= longestDirective {
		name = strings.ToLower(string(field))
	}
	switch {
	case !known[name]:
		return "", UnknownDirective, false
	case name == "sitemap" && !isSitemap(string(value)):
		return "", Sitemap, false
	case name == "user-agent" && len(value) == 0:
		return "", NoAgent, false
	case name != "allow" && name != "disallow":
		return name, 0, true
	case len(value) > 0 && value[0] != '/' && value[0] != '*':
		return "", Pattern, false
	}
	if i := bytes.IndexByte(value, '$'); i >= 0 && i < len(value)-1 {
		return "", InnerDollar, false
	}
	return name, 0, true
}

// trim removes the white space of ECMAScript.
func trim(b []byte) []byte {
	if len(b) > 0 && b[0] > ' ' && b[0] < utf8.RuneSelf && b[len(b)-1] > ' ' && b[len(b)-1] < utf8.RuneSelf {
		return b
	}
	return bytes.TrimFunc(b, func(r rune) bool { return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r) })
}
