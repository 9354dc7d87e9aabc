package robots

import (
	"bytes"
	"strconv"

	"github.com/robocensus/robocensus/robots/internal/ascii"
	"github.com/robocensus/robocensus/robots/usage"
)

// signal adds an extension to Signals. It reports false if the value is not in
// the extension's format; the caller then keeps the line as a Remark. It also
// reports false for crawl-delay, which is a field of its group and not a
// Signal.
func (s *parser) signal(ext extension, field, value []byte) bool {
	usage := s.usage(ext, value)
	switch ext {
	case extCrawlDelay:
		s.crawlDelay(value)
		return false
	case extContentSignal, extContentUsage:
		return s.labels(field, usage)
	case extLicense:
		if !ascii.IsAbsolute(value) {
			return false
		}
	case extHost:
		if len(value) == 0 || bytes.ContainsAny(value, " \t,") {
			return false
		}
	case extRequestRate:
		if !isRequestRate(value) {
			return false
		}
	case extVisitTime:
		if !isTimes(value) {
			return false
		}
	case extCleanParam:
		return s.cleanParam(field, value)
	case extNoindex:
		if len(value) == 0 || value[0] != '/' && value[0] != '*' {
			return false
		}
		s.addSignal(Signal{Field: field, Path: value, Value: value})
		return true
	default:
		return false
	}
	s.addSignal(Signal{Field: field, Value: value})
	return true
}

func (s *parser) addSignal(x Signal) {
	x.Line, x.Group = s.line, s.group
	s.Signals = append(s.Signals, x)
}

func (s *parser) crawlDelay(value []byte) {
	if s.group < 0 {
		return
	}
	if d, ok := decimal(value); ok {
		s.addDelay(s.p, s.group, d)
	}
}

// addDelay adds a crawl-delay of a group whose last agent is the last of the file.
func (f *File) addDelay(p *Profile, group int32, seconds float64) {
	g := &f.Groups[group]
	if !g.HasCrawlDelay {
		g.CrawlDelay, g.HasCrawlDelay = seconds, true
	}
	from, to := g.Agents.From, int32(len(f.Agents))
	if n := len(f.spans); n > 0 && f.spans[n-1].group == group {
		last := &f.spans[n-1]
		if last.agents.To == to { // another one for the same agents
			if p.DelayScope == DelayListedLast {
				last.seconds = seconds
			}
			return
		}
		from = last.agents.To
	}
	f.spans = append(f.spans, delay{group, Span{from, to}, seconds})
}

// decimal parses digits with at most one point. A delay has no sign, exponent
// or unit.
func decimal(b []byte) (float64, bool) {
	digits, points := 0, 0
	whole := 0
	for _, c := range b {
		switch {
		case c-'0' < 10:
			digits++
			whole = whole*10 + int(c-'0')
		case c == '.':
			points++
		default:
			return 0, false
		}
	}
	if digits == 0 || digits > 15 || points > 1 {
		return 0, false
	}
	if points == 0 {
		return float64(whole), true
	}
	d, err := strconv.ParseFloat(string(b), 64)
	return d, err == nil
}

// labels adds the labels of a line about use, whatever they mean. It reports false for a
// line that has none.
func (s *parser) labels(field []byte, u *usage.Line) bool {
	from := len(s.Signals)
	if u.Mechanism == usage.ContentSignal {
		usage.EachSignal(u.Value, func(key, value []byte) { s.addSignal(Signal{Field: field, Key: key, Value: value}) })
		return len(s.Signals) > from
	}
	path, _ := u.Path()
	for _, x := range (usage.Vocabulary)(nil).Statements(u) {
		if x.Remark == usage.RemarkNotParsed || x.Remark == usage.RemarkNoStatement {
			return false
		}
		s.addSignal(Signal{Field: field, Path: path, Key: []byte(x.Label), Value: []byte(x.Value)})
	}
	return true
}

func (s *parser) cleanParam(field, value []byte) bool {
	params, path := ascii.CutWord(value)
	if len(params) == 0 || bytes.ContainsAny(path, " \t") {
		return false
	}
	from := len(s.Signals)
	for more := true; more; {
		var p []byte
		p, params, more = bytes.Cut(params, []byte("&"))
		if len(p) == 0 {
			s.Signals = s.Signals[:from]
			return false
		}
		s.addSignal(Signal{Field: field, Path: path, Value: p})
	}
	return true
}

// isOddSitemap reports whether the value of a sitemap is more than a URL: in quotes or
// brackets, or with the field or another URL before or behind it.
func isOddSitemap(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	quote := func(c byte) bool { return bytes.IndexByte([]byte("\"'`<>()[]"), c) >= 0 }
	if quote(b[0]) || quote(b[len(b)-1]) || bytes.HasPrefix(b, []byte("\u201c")) ||
		bytes.HasSuffix(b, []byte("\u201d")) || ascii.HasPrefixFold(b, "sitemap:") {
		return true
	}
	// Another URL stands behind white space or a comma, or right behind the end of one; in the
	// path or query of one that holds another, a slash or a sign stands before its scheme.
	first := bytes.Index(b, []byte("://"))
	for i := first + 3; first >= 0; {
		k := bytes.Index(b[i:], []byte("://"))
		if k < 0 {
			break
		}
		scheme := i + k
		for scheme > i && b[scheme-1]|0x20-'a' < 26 {
			scheme--
		}
		if scheme == first+3 || bytes.IndexByte([]byte("/=&?%+"), b[scheme-1]) < 0 {
			return true
		}
		i += k + 3
	}
	// http:https://h, or a scheme twice
	return first >= 0 && bytes.IndexByte(b[:first], ':') >= 0 || ascii.HasPrefixFold(b, "http://http") &&
		isScheme(b[7:]) || ascii.HasPrefixFold(b, "https://http") && isScheme(b[8:])
}

// isScheme reports whether b begins with http or https and slashes, with or without the colon.
func isScheme(b []byte) bool {
	b = b[min(len(b), len("http")):]
	if len(b) > 0 && b[0]|0x20 == 's' {
		b = b[1:]
	}
	return len(b) > 0 && b[0] == ':' || bytes.HasPrefix(b, []byte("//"))
}

// isRequestRate reports whether b is a number of documents, a slash, a time
// with an optional unit, and optionally the hours.
func isRequestRate(b []byte) bool {
	rate, hours := ascii.CutWord(b)
	if len(hours) > 0 && !isTimes(hours) {
		return false
	}
	n, t, ok := bytes.Cut(rate, []byte("/"))
	if k := len(t); k > 0 && bytes.IndexByte([]byte("smhd"), t[k-1]|0x20) >= 0 {
		t = t[:k-1]
	}
	return ok && isDigits(n) && isDigits(t)
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c-'0' >= 10 {
			return false
		}
	}
	return len(b) > 0
}

// isTimes reports whether b is hhmm-hhmm.
func isTimes(b []byte) bool {
	from, to, ok := bytes.Cut(b, []byte("-"))
	from, to = ascii.Trim(from), ascii.Trim(to)
	return ok && len(from) == 4 && len(to) == 4 && isDigits(from) && isDigits(to)
}

// usage keeps a line about use, and returns it; nil for another extension.
func (s *parser) usage(ext extension, value []byte) *usage.Line {
	mechanism := usage.NoMechanism
	switch ext {
	case extContentUsage:
		mechanism = usage.ContentUsage
	case extContentSignal:
		mechanism = usage.ContentSignal
	case extLicense:
		mechanism = usage.License
	default:
		return nil
	}
	s.Usages = append(s.Usages, usage.Line{Line: s.line, Group: s.group, Mechanism: mechanism, Value: value})
	return &s.Usages[len(s.Usages)-1]
}
