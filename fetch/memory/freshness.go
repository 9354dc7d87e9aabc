package memory

import (
	"strconv"
	"strings"
	"time"
)

// maxLengthening bounds what a site may make of --max-age: 7 days of the
// default of one.
const maxLengthening = 7

// lifetime is how long an answer may serve without a new request: maxAge,
// unless its Cache-Control says less (no-store and no-cache: not at all) or,
// where lengthen allows it, more. It is 0 where maxAge is.
//
// The memory is a private cache, as of one user (RFC 9111 section 1):
// s-maxage is not meant for it. Of several max-age the first counts, and one
// that is no number of seconds makes the answer stale (section 4.2.1).
func lifetime(maxAge time.Duration, cacheControl *string, lengthen bool) time.Duration {
	if maxAge <= 0 {
		return 0
	}
	if cacheControl == nil {
		return maxAge
	}
	told := time.Duration(-1)
	for rest := *cacheControl; rest != ""; {
		var name, value string
		name, value, rest = directive(rest)
		switch {
		case strings.EqualFold(name, "no-store"), strings.EqualFold(name, "no-cache"):
			return 0
		case strings.EqualFold(name, "max-age") && told < 0:
			told = seconds(value)
		}
	}
	switch {
	case told < 0:
		return maxAge
	case told <= maxAge:
		return told
	case !lengthen:
		return maxAge
	case told/maxLengthening >= maxAge:
		return maxAge * maxLengthening
	}
	return told
}

// seconds reads delta-seconds, 0 for what is none. More than 2^31 is as much
// as that (RFC 9111 section 1.2.2).
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

// directive takes the first directive of a Cache-Control (RFC 9111 section
// 5.2: a token, perhaps with "=" and a token or quoted string). What is no
// directive up to a comma has a name that none has. A comma in quotes
// divides nothing.
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

// quoted reads what follows an opening quote; without a closing one all of it
// is quoted.
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
