package memory

import (
	"strconv"
	"strings"
	"time"
)

// maxLengthening bounds how much a site can extend --max-age: to 7 days for the
// default of one day.
const maxLengthening = 7

// lifetime returns how long an answer may be used without a new request:
// maxAge, unless its Cache-Control says less (no-store and no-cache: not at
// all) or, if lengthen is set, more. It is 0 if maxAge is.
//
// The memory is a private cache, as of one user (RFC 9111 section 1), so
// s-maxage does not apply. Of several max-age the first counts. One that is not
// a number of seconds makes the answer stale (section 4.2.1).
func lifetime(maxAge time.Duration, cacheControl *string, lengthen bool) time.Duration {
	if maxAge <= 0 {
		return 0
	}
	if cacheControl == nil {
		return maxAge
	}
	given := time.Duration(-1)
	for rest := *cacheControl; rest != ""; {
		var name, value string
		name, value, rest = directive(rest)
		switch {
		case strings.EqualFold(name, "no-store"), strings.EqualFold(name, "no-cache"):
			return 0
		case strings.EqualFold(name, "max-age") && given < 0:
			given = seconds(value)
		}
	}
	switch {
	case given < 0:
		return maxAge
	case given <= maxAge:
		return given
	case !lengthen:
		return maxAge
	case given/maxLengthening >= maxAge:
		return maxAge * maxLengthening
	}
	return given
}

// seconds parses delta-seconds. It returns 0 for anything else, and caps the
// value at 2^31 (RFC 9111 section 1.2.2).
func seconds(s string) time.Duration {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		n = 1 << 31
	}
	return time.Duration(n) * time.Second
}

// directive splits off the first directive of a Cache-Control (RFC 9111 section
// 5.2: a token, optionally with "=" and a token or quoted string). Text that is
// not a directive gets a name that no directive has. A comma in quotes does not
// separate.
func directive(s string) (name, value, rest string) {
	i := strings.IndexAny(s, `=,"`)
	if i < 0 {
		return trim(s), "", ""
	}
	name = trim(s[:i])
	switch s[i] {
	case ',':
		return name, "", s[i+1:]
	case '=':
		s = strings.TrimLeft(s[i+1:], " \t")
	case '"':
		name, s = "", s[i:]
	}
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ",")
		return name, trim(value), rest
	}
	value, s = quoted(s[1:])
	_, rest, _ = strings.Cut(s, ",")
	return name, value, rest
}

// quoted reads a string after its opening quote. Without a closing quote it
// extends to the end.
func quoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i == len(s) {
				return b.String(), ""
			}
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

func trim(s string) string { return strings.Trim(s, " \t") }
