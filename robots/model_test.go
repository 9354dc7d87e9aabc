package robots

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// The model of a verdict is written from the specification, not from the package: it
// makes every permitted reading of a body one by one and asks each.

type slowGroup struct {
	agents []string
	rules  []slowRule
}

type slowRule struct {
	allow   bool
	pattern string
}

// A slowLine is a split and classified line, before any reading.
type slowLine struct {
	field      string // agent, allow, disallow, sitemap, unknown, none
	key, value string
	typo, near bool
	prefix     bool
	noColon    bool
}

const slowExtensions = " crawl-delay content-signal content-usage license request-rate visit-time clean-param " +
	"host noindex cache-delay comment crawl-rate nofollow noarchive robot-version "

func slowSplit(p *Profile, text string) slowLine {
	white := " \t"
	if p.Reading == LinesGoogle {
		white = " \t\v\f\r\n"
		text, _, _ = strings.Cut(text, "\x00")
	}
	text, _, _ = strings.Cut(text, "#")
	text = strings.Trim(text, white)
	l := slowLine{field: "none"}
	key, value, ok := strings.Cut(text, ":")
	if !ok {
		words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
		if len(words) != 2 {
			return l
		}
		key, value, l.noColon = words[0], words[1], true
	}
	l.key, l.value = slowLower(strings.Trim(key, white)), strings.Trim(value, white)
	if l.key == "" {
		return l
	}
	for _, f := range []struct {
		field string
		names []string
	}{
		{"agent", []string{"user-agent", "useragent", "user agent"}},
		{"allow", []string{"allow"}},
		{"disallow", []string{"disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"}},
		{"sitemap", []string{"sitemap", "site-map"}},
	} {
		if f.field == "allow" && !p.AllowField {
			continue
		}
		for i, name := range f.names {
			if strings.HasPrefix(l.key, name) && l.field == "none" {
				l.field, l.typo, l.prefix = f.field, i > 0, l.key != name
			}
		}
		if l.field == "none" && p.NearTypos != Reject && slowOneEdit(l.key, f.names[0]) {
			l.field, l.near = f.field, true
		}
	}
	if l.field == "none" {
		l.field = "unknown"
		// Two words without a known field are not a record.
		if l.noColon && !strings.Contains(slowExtensions, " "+l.key+" ") && (l.key != "allow" || p.AllowField) {
			l.field = "none"
		}
	}
	return l
}

// slowOneEdit tries every insertion, deletion, substitution and swap.
func slowOneEdit(key, name string) bool {
	if key == name || len(key) < len(name)-1 || len(key) > len(name)+1 {
		return false
	}
	for i := range len(name) + 1 {
		if i < len(name) && name[:i]+name[i+1:] == key {
			return true
		}
		if i+1 < len(name) && name[:i]+name[i+1:i+2]+name[i:i+1]+name[i+2:] == key {
			return true
		}
		for c := range 256 {
			b := string([]byte{byte(c)})
			if name[:i]+b+name[i:] == key || i < len(name) && name[:i]+b+name[i+1:] == key {
				return true
			}
		}
	}
	return false
}

// slowReadings makes every reading of a body: one for each subset of the open
// choices. It gives up if there are too many.
func slowReadings(p *Profile, body []byte) (readings [][]slowGroup, ok bool) {
	if p.Reading == LinesPlain {
		body = []byte(strings.TrimPrefix(string(body), "\xef\xbb\xbf"))
	} else {
		body = []byte(strings.Join(slowLines(body), "\n"))
	}
	var lines []slowLine
	var open []string
	choice := func(name string) {
		if !slices.Contains(open, name) {
			open = append(open, name)
		}
	}
	spellings := 0
	for _, text := range splitLines(body) {
		l := slowSplit(p, text)
		lines = append(lines, l)
		if l.noColon && p.MissingColon == Open {
			choice("colon")
		}
		if l.typo && p.Typos == Open || l.near && p.NearTypos == Open || l.prefix && p.KeyPrefixes == Open {
			if !slices.Contains(open, "key "+l.key) {
				spellings++
			}
			choice("key " + l.key)
		}
	}
	if p.UnknownEnds == Open {
		choice("unknown")
	}
	if spellings > maxSpellings {
		return nil, false
	}
	for set := range 1 << len(open) {
		not := func(name string) bool {
			i := slices.Index(open, name)
			return i >= 0 && set&(1<<i) != 0
		}
		readings = append(readings, slowRead(p, lines, not))
	}
	return readings, true
}

// slowRead groups lines. not reports whether the reading rejects a choice.
func slowRead(p *Profile, lines []slowLine, not func(string) bool) []slowGroup {
	var groups []slowGroup
	list := false // the list of agents continues
	for _, l := range lines {
		counts := !(l.noColon && (p.MissingColon == Reject || not("colon")) ||
			l.typo && p.Typos == Reject || l.near && p.NearTypos == Reject || l.prefix && p.KeyPrefixes == Reject ||
			not("key "+l.key))
		field := l.field
		if !counts {
			field = "unknown"
			if l.noColon {
				field = "none"
			}
		}
		if field == "unknown" && !slowToken(l.key) {
			field = "none"
		}
		values := []string{l.value}
		if p.Lists {
			values = strings.FieldsFunc(l.value, func(r rune) bool { return r == ' ' || r == '\t' })
		}
		switch field {
		case "agent":
			if !list || p.GroupEnd == EndAtAgent {
				groups = append(groups, slowGroup{})
			}
			list = true
			g := &groups[len(groups)-1]
			g.agents = append(g.agents, values...)
		case "allow", "disallow":
			list = false
			if len(groups) == 0 {
				break
			}
			if p.Lists && l.value == "" {
				values = []string{""}
			}
			for _, v := range values {
				g := &groups[len(groups)-1]
				g.rules = append(g.rules, slowRule{field == "allow", v})
			}
		case "sitemap":
			list = list && p.GroupEnd != EndAtRecord
		case "unknown":
			ends := p.UnknownEnds == Accept || p.UnknownEnds == Open && not("unknown")
			list = list && !(p.GroupEnd == EndAtRecord && ends)
		}
	}
	return groups
}

func slowToken(key string) bool {
	return key != "" && !strings.ContainsFunc(key, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r)
	})
}

// slowVerdict decides whether an agent may fetch a path, which it takes
// literally. It gives up if a body has too many readings.
func slowVerdict(p *Profile, body []byte, a Agent, path string) (v Value, ok bool) {
	paths := map[bool]string{false: path, true: path} // by reading of reserved characters
	switch p.Escapes {
	case EscapesBoth:
		path = string(rewrite.AppendUpperHex(nil, []byte(path)))
		paths = map[bool]string{false: path, true: path}
	case EscapesRFC:
		paths = map[bool]string{false: slowForm(path, false, false, false), true: slowForm(path, false, false, true)}
	}
	if p.RobotsTxtAllowed && paths[false] == "/robots.txt" {
		return Permitted, true
	}
	if len(body) > p.SizeLimit {
		body = body[:p.SizeLimit]
		body = body[:strings.LastIndexAny(string(body), "\r\n")+1]
	}
	readings, ok := slowReadings(p, body)
	if !ok {
		return 0, false
	}
	var said []Value
	for _, groups := range readings {
		for _, sameCase := range []bool{false, true} {
			if sameCase && p.AgentMatch == MatchToken || !sameCase && p.AgentMatch == MatchTokenCase {
				continue
			}
			mine, found := slowGroups(p, groups, a, sameCase)
			if !found {
				said = append(said, Permitted)
				continue
			}
			var choices [][]slowRule // one of them is valid
			if p.SeveralGroups == AnyGroup {
				for _, g := range mine {
					choices = append(choices, g.rules)
				}
			} else {
				var all []slowRule
				for _, g := range mine {
					all = append(all, g.rules...)
				}
				choices = [][]slowRule{all}
			}
			for _, rules := range choices {
				for _, letter := range []bool{false, true} {
					if p.Escapes == EscapesRFC && letter && p.Reserved == ReservedDistinct || !letter && p.Reserved == ReservedEqual {
						continue
					}
					for _, whole := range []bool{false, true} {
						if whole && p.BarePrefix == Accept || !whole && p.BarePrefix == Reject {
							continue
						}
						said = append(said, slowWeigh(p, slowHits(p, rules, paths[letter], letter, whole)))
					}
				}
			}
		}
	}
	return slowAgree(said...), true
}

// slowGroups returns the groups of an agent.
func slowGroups(p *Profile, groups []slowGroup, a Agent, sameCase bool) ([]slowGroup, bool) {
	find := func(is func(value string) bool) []slowGroup {
		var found []slowGroup
		for _, g := range groups {
			if slices.ContainsFunc(g.agents, is) && (!p.NeedsRule || len(g.rules) > 0) {
				found = append(found, g)
			}
		}
		return found
	}
	star := func(v string) bool {
		if p.Lists {
			return v == "*"
		}
		return v == "*" || len(v) > 1 && v[0] == '*' && strings.IndexByte(" \t\n\v\f\r", v[1]) >= 0
	}
	for _, token := range a.allTokens() {
		set := "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
		if strings.ContainsAny(token, "0123456789.") {
			set += "0123456789."
		}
		found := find(func(v string) bool {
			if star(v) {
				return false
			}
			if p.AgentMatch == MatchSubstring {
				return v != "" && strings.Contains(slowLower(token), slowLower(v))
			}
			name := v[:len(v)-len(strings.TrimLeft(v, set))]
			return name == token || !sameCase && slowLower(name) == slowLower(token)
		})
		if len(found) > 0 {
			return found, true
		}
	}
	if a.IgnoresStar && p.IgnoresStar {
		return nil, false
	}
	found := find(star)
	return found, len(found) > 0
}

// slowAgree returns the common value of all, or undefined.
func slowAgree(said ...Value) Value {
	for _, v := range said {
		if v != said[0] {
			return Undefined
		}
	}
	return said[0]
}

// A slowHit is a rule that matches.
type slowHit struct {
	length      int
	allow, wild bool
}

func (h slowHit) value() Value {
	if h.allow {
		return Permitted
	}
	return Disallowed
}

// slowHits returns the matching rules. With whole, a path covers itself, with
// any query, and the paths below it. With letter, a reserved character in the
// path equals its escape (EscapesRFC).
func slowHits(p *Profile, rules []slowRule, path string, letter, whole bool) []slowHit {
	var hits []slowHit
	for _, r := range rules {
		pattern := r.pattern
		if p.AddSlash && pattern != "" && pattern[0] != '/' {
			pattern = "/" + pattern
		}
		if pattern == "" {
			continue
		}
		matches := false
		escaped := string(rewrite.AppendUpperHex(nil, []byte(pattern)))
		length := len(escaped)
		switch {
		case !p.Wildcards && whole:
			below := strings.TrimSuffix(pattern, "/") + "/"
			matches = path == pattern || strings.HasPrefix(path, pattern+"?") || strings.HasPrefix(path, below)
		case !p.Wildcards:
			matches = strings.HasPrefix(path, pattern)
		case p.Escapes == EscapesRFC:
			matches, length = slowMatchRFC(pattern, path, letter), slowOctets(pattern, letter)
		default:
			matches = slowMatch(escaped, path)
		}
		core := strings.TrimSuffix(pattern, "$")
		trimmed := strings.TrimRight(core, "*")
		if p.Wildcards && !p.CountTrailingStar && trimmed != core {
			length = max(1, len(rewrite.AppendUpperHex(nil, []byte(trimmed))))
		}
		h := slowHit{length, r.allow, strings.Contains(trimmed, "*")}
		if matches {
			hits = append(hits, h)
		} else if dir, ok := slowIndex(escaped); ok && p.IndexHTML && h.allow && slowMatch(dir, path) {
			hits = append(hits, slowHit{length: len(dir), allow: true, wild: h.wild})
		}
	}
	return hits
}

// slowForm returns the normal form of RFC 9309: escapes of unreserved
// characters decoded, other bytes than ASCII escaped, hex in upper case. In the
// query, and with letter in the path except for / and ?, a reserved character
// and its escape are the same. inQuery means that the text begins in a query.
func slowForm(s string, pattern, inQuery, letter bool) string {
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		c, escaped := s[i], false
		if rewrite.IsEscape([]byte(s), i) {
			c, escaped = rewrite.Unhex(s[i+1])<<4|rewrite.Unhex(s[i+2]), true
		}
		same := inQuery || letter && c != '/' && c != '?'
		switch {
		case !escaped && pattern && (c == '*' || c == '$' && i == len(s)-1):
			out.WriteByte(c)
		case rewrite.IsUnreserved(c):
			out.WriteByte(c)
		case c >= 0x80, c == '*', c == '$', escaped && !(same && rewrite.IsReserved(c) && c != '#'), slowUnfit(c):
			out.Write(rewrite.AppendEscape(nil, c))
		default:
			out.WriteByte(c)
		}
		if !escaped && c == '?' {
			inQuery = true
		}
		if escaped {
			i += 2
		}
	}
	return out.String()
}

// slowUnfit reports an ASCII byte that no URL can hold (SPEC 5).
func slowUnfit(c byte) bool { return c <= ' ' || c == 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 }

// slowOctets returns the length of the column "Path to Match" of RFC 9309,
// 2.2.2: reserved characters are escaped, except / in the path, the first ? and
// the first = after it. Without letter, reserved characters in the path stay as
// they are.
func slowOctets(pattern string, letter bool) int {
	n := 0
	path, query, found := strings.Cut(pattern, "?")
	for zone, s := range []string{path, query} {
		if zone == 1 && found {
			n++
		}
		equals := false
		for i := 0; i < len(s); i++ {
			last := i == len(s)-1 && (zone == 1 || !found)
			c := s[i]
			switch {
			case rewrite.IsEscape([]byte(s), i):
				d := rewrite.Unhex(s[i+1])<<4 | rewrite.Unhex(s[i+2])
				switch {
				case rewrite.IsUnreserved(d):
					n++
				case zone == 1 && d == '=' && !equals:
					equals = true // the same as =
					n++
				default:
					n += 3
				}
				i += 2
			case c == '*', c == '$' && last:
				n++
			case c >= 0x80, c == '$', slowUnfit(c):
				n += 3
			case zone == 1 && c == '=' && !equals:
				equals = true
				n++
			case rewrite.IsReserved(c) && (zone == 1 || letter && c != '/'):
				n += 3
			default:
				n++
			}
		}
	}
	return n
}

// slowMatchRFC tries every place for every literal between stars: in its path
// form if it begins before or at the first ?, otherwise in its query form.
func slowMatchRFC(pattern, path string, letter bool) bool {
	inPath, inQuery := slowForm(pattern, true, false, letter), slowForm(pattern, true, true, letter)
	anchor := strings.HasSuffix(inPath, "$")
	if anchor {
		inPath, inQuery = inPath[:len(inPath)-1], inQuery[:len(inQuery)-1]
	}
	query := strings.IndexByte(path, '?')
	if query < 0 {
		query = len(path)
	}
	p, q := strings.Split(inPath, "*"), strings.Split(inQuery, "*")
	at := map[int]bool{0: true} // where the next literal may begin
	for k := range p {
		next := map[int]bool{}
		for i := range at {
			for j := i; j <= len(path) && (j == i || k > 0); j++ {
				lit := p[k]
				if j > query {
					lit = q[k]
				}
				if strings.HasPrefix(path[j:], lit) {
					next[j+len(lit)] = true
				}
			}
		}
		at = next
	}
	if anchor {
		return at[len(path)]
	}
	return len(at) > 0
}

// slowLongest returns the value of the longest of some rules: either value, if
// the document does not settle ties.
func slowLongest(p *Profile, hits []slowHit) Value {
	length := 0
	for _, h := range hits {
		length = max(length, h.length)
	}
	var said []Value
	for _, h := range hits {
		if h.length == length {
			said = append(said, h.value())
		}
	}
	if p.Ties == TiesAllow && slices.Contains(said, Permitted) {
		return Permitted
	}
	return slowAgree(said...)
}

func slowWeigh(p *Profile, hits []slowHit) Value {
	if len(hits) == 0 {
		return Permitted
	}
	var wilds, others []slowHit
	for _, h := range hits {
		if h.wild {
			wilds = append(wilds, h)
		} else {
			others = append(others, h)
		}
	}
	switch p.Precedence {
	case LongestOpen:
		// Any wildcard rule may win, and the winner of the others may.
		var said []Value
		for _, h := range wilds {
			said = append(said, h.value())
		}
		if len(others) > 0 {
			said = append(said, slowLongest(p, others))
		}
		return slowAgree(said...)
	case LongestOrLeast:
		// The others are settled first; a wildcard rule may contradict them.
		said := []Value{}
		if len(others) > 0 {
			said = append(said, slowLongest(p, others))
		}
		for _, h := range wilds {
			said = append(said, h.value())
		}
		if slowAgree(said...) == Undefined {
			return slowAgree(slowLongest(p, hits), Permitted)
		}
		return said[0]
	}
	return slowLongest(p, hits)
}

func slowIndex(pattern string) (string, bool) {
	slash := strings.LastIndexByte(pattern, '/')
	if slash < 0 || !strings.HasPrefix(pattern[slash:], "/index.htm") {
		return "", false
	}
	return pattern[:slash+1] + "$", true
}
