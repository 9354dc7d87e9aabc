package portable

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots"
)

// A LighthouseFault is why Lighthouse's audit of robots.txt calls a line an error (version
// 13.5: core/audits/seo/robots-txt.js). Site owners meet its verdict in Chrome and in
// PageSpeed Insights. It reads each line alone, and no crawler reads so.
type LighthouseFault uint8

const (
	FaultDirective   LighthouseFault = iota
	FaultSyntax                      // no colon
	FaultPattern                     // a rule that begins with neither / nor *
	FaultInnerDollar                 // a rule with a $ that is not its end
	FaultSitemap                     // its value is not a URL of http, https or ftp
	FaultNoAgent                     // a user-agent line without value
	FaultOrphan                      // a rule before any user-agent line

	LighthouseFaults = iota // the number of faults
)

// String returns the key of a fault.
func (f LighthouseFault) String() string {
	return [LighthouseFaults]string{"unknown_directive", "syntax", "pattern", "inner_dollar", "sitemap", "no_agent",
		"rule_before_agent"}[f]
}

// Message returns what the audit says.
func (f LighthouseFault) Message() string {
	return [LighthouseFaults]string{
		"Unknown directive", "Syntax not understood", `Pattern should either be empty, start with "/" or "*"`,
		`"$" should only be used at the end of the pattern`, "Invalid sitemap URL, or its protocol",
		"No user-agent specified", "No user-agent specified",
	}[f]
}

// A LighthouseError is a line that the audit calls one.
type LighthouseError struct {
	Line  int32 // from 1
	Text  []byte
	Fault LighthouseFault
}

// A directive is the field of a line.
type directive uint8

const (
	unknown directive = iota
	userAgent
	rule
	sitemap
	other
)

// directiveOf returns the directive of a name in any case, of those that the audit knows;
// content-usage and license are not among them.
func directiveOf(name []byte) directive {
	var lower [len("content-signal")]byte
	if len(name) > len(lower) {
		return unknown
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	switch string(lower[:len(name)]) {
	case "user-agent":
		return userAgent
	case "disallow", "allow":
		return rule
	case "sitemap":
		return sitemap
	case "crawl-delay", "clean-param", "host", "request-rate", "visit-time", "noindex", "content-signal":
		return other
	}
	return unknown
}

// LighthouseErrors appends the errors of a file to dst.
func LighthouseErrors(dst []LighthouseError, body []byte) []LighthouseError {
	number, inGroup := int32(0), false
	for text := range robots.SplitLines(body) {
		number++
		is, fault, ok := audit(text)
		switch {
		case !ok:
			dst = append(dst, LighthouseError{number, text, fault})
		case is == userAgent:
			inGroup = true
		case is == rule && !inGroup:
			dst = append(dst, LighthouseError{number, text, FaultOrphan})
		}
	}
	return dst
}

// audit reads one line: its directive, unknown for none, or its fault.
func audit(line []byte) (is directive, fault LighthouseFault, ok bool) {
	line, _, _ = bytes.Cut(line, []byte{'#'})
	line = trimAudited(line)
	if len(line) == 0 {
		return unknown, 0, true
	}
	field, value, colon := bytes.Cut(line, []byte{':'})
	if !colon {
		return unknown, FaultSyntax, false
	}
	value = trimAudited(value)
	switch is = directiveOf(trimAudited(field)); {
	case is == unknown:
		return is, FaultDirective, false
	case is == sitemap && !isAuditedSitemap(string(value)):
		return is, FaultSitemap, false
	case is == userAgent && len(value) == 0:
		return is, FaultNoAgent, false
	case is == rule && len(value) > 0 && value[0] != '/' && value[0] != '*':
		return is, FaultPattern, false
	}
	if i := bytes.IndexByte(value, '$'); is == rule && i >= 0 && i < len(value)-1 {
		return is, FaultInnerDollar, false
	}
	return is, 0, true
}

// trimAudited removes the white space of ECMAScript.
func trimAudited(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') { // nearly always all of it
		b = b[1:]
	}
	if len(b) == 0 || b[0] > ' ' && b[0] < utf8.RuneSelf && b[len(b)-1] > ' ' && b[len(b)-1] < utf8.RuneSelf {
		return b
	}
	return bytes.TrimFunc(b, func(r rune) bool { return r == '\uFEFF' || r != '\u0085' && unicode.IsSpace(r) })
}
