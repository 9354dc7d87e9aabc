package robots

import (
	"strings"

	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// field is the field of a line, misspelled or not.
type field uint8

const (
	fieldNone field = iota // none of the four
	fieldAgent
	fieldAllow
	fieldDisallow
	fieldSitemap
)

// oddity is a set of ways in which a line deviates from the format.
type oddity uint8

const (
	oddTypo oddity = 1 << iota
	oddPrefix
	oddNoColon
	oddNear
)

// recognise returns the field that a key stands for, and its oddity. Google's
// parser accepts any key that begins with a field's name or with one of its
// common misspellings.
func recognise(key []byte) (field, oddity) {
	if len(key) == 0 {
		return fieldNone, 0
	}
	switch key[0] | 0x20 {
	case 'u':
		return begins(key, fieldAgent, "user-agent", "useragent", "user agent")
	case 'a':
		return begins(key, fieldAllow, "allow")
	case 'd':
		return begins(key, fieldDisallow, "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
	case 's':
		return begins(key, fieldSitemap, "sitemap", "site-map")
	}
	return fieldNone, 0
}

// begins compares a key with the correct spelling, which comes first, and the
// misspellings.
func begins(key []byte, f field, spellings ...string) (field, oddity) {
	for i, s := range spellings {
		if !ascii.HasPrefixFold(key, s) {
			continue
		}
		var odd oddity
		if i > 0 {
			odd |= oddTypo
		}
		if len(key) > len(s) {
			odd |= oddPrefix
		}
		return f, odd
	}
	return fieldNone, 0
}

// near returns the field that is one edit away from a key: an insertion, a
// deletion, a substitution or a swap of neighbours.
func near(key []byte) field {
	for _, f := range [...]struct {
		field field
		name  string
	}{{fieldAgent, "user-agent"}, {fieldAllow, "allow"}, {fieldDisallow, "disallow"}, {fieldSitemap, "sitemap"}} {
		if oneEdit(key, f.name) {
			return f.field
		}
	}
	return fieldNone
}

// oneEdit reports whether a key, in any case, is one edit away from a name in
// lower case.
func oneEdit(key []byte, name string) bool {
	if d := len(key) - len(name); d < -1 || d > 1 {
		return false
	}
	// Strip the common prefix and suffix.
	i := 0
	for i < len(key) && i < len(name) && lower(key[i]) == name[i] {
		i++
	}
	a, b := key[i:], name[i:]
	for len(a) > 0 && len(b) > 0 && lower(a[len(a)-1]) == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	switch {
	case len(a) == 0 && len(b) == 0:
		return false // the name itself
	case len(a) <= 1 && len(b) <= 1:
		return true
	}
	return len(a) == 2 && len(b) == 2 && lower(a[0]) == b[1] && lower(a[1]) == b[0]
}

func lower(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}

// isToken reports whether a key is a token of RFC 1945, 2.2, as a field name
// must be: one or more characters other than controls and separators.
func isToken(key []byte) bool {
	for _, c := range key {
		if c <= ' ' || c >= 0x7F || strings.IndexByte("()<>@,;:\\\"/[]?={}", c) >= 0 {
			return false
		}
	}
	return len(key) > 0
}

// extension is a field that the documents do not define but that is in use.
type extension uint8

const (
	extNone extension = iota
	extOther
	extCrawlDelay
	extContentSignal
	extContentUsage
	extLicense
	extRequestRate
	extVisitTime
	extCleanParam
	extHost
	extNoindex
)

// beginsField has the first letters of all fields and extensions.
var beginsField = func() (t [256]bool) {
	for _, c := range []byte("acdhlnrsuv") {
		t[c], t[c-0x20] = true, true
	}
	return t
}()

func recogniseExtension(key []byte) extension {
	var low [14]byte // as long as the longest
	if len(key) == 0 || len(key) > len(low) || !beginsField[key[0]] {
		return extNone
	}
	for i, c := range key {
		low[i] = lower(c)
	}
	switch string(low[:len(key)]) {
	case "crawl-delay":
		return extCrawlDelay
	case "content-signal":
		return extContentSignal
	case "content-usage":
		return extContentUsage
	case "license":
		return extLicense
	case "request-rate":
		return extRequestRate
	case "visit-time":
		return extVisitTime
	case "clean-param":
		return extCleanParam
	case "host":
		return extHost
	case "noindex":
		return extNoindex
	case "cache-delay", "comment", "crawl-rate", "nofollow", "noarchive", "robot-version",
		"allow": // in a profile without this field
		return extOther
	}
	return extNone
}
