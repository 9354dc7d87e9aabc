package robots

import (
	"bytes"
	"slices"
	"strings"
)

// What follows says the same as the package, slowly and obviously. The fuzz
// targets hold one against the other.

// slowMatch tries everything: a star takes any number of bytes.
func slowMatch(pattern, path string) bool {
	// can[i] says that the pattern so far may end before path[i:].
	can := make([]bool, len(path)+1)
	can[0] = true
	for k := range len(pattern) {
		c := pattern[k]
		if c == '$' && k == len(pattern)-1 {
			return can[len(path)]
		}
		next := make([]bool, len(path)+1)
		for i := range can {
			if !can[i] {
				continue
			}
			if c == '*' {
				for m := i; m <= len(path); m++ {
					next[m] = true
				}
				break
			}
			if i < len(path) && path[i] == c {
				next[i+1] = true
			}
		}
		can = next
	}
	return slices.Contains(can, true)
}

// slowMatchRFC tries every place for every literal between stars: in its path
// form where it begins before or at the first ?, otherwise in its query form.
func slowMatchRFC(pattern, path string) bool {
	inPath := string(appendRFC(nil, []byte(pattern), patternSide, false))
	inQuery := string(appendRFC(nil, []byte(pattern), patternSide, true))
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

// slowGoogle walks through a body line by line as Google's parser does, with
// its flags, and returns whether it allows and the line it names.
func slowGoogle(body []byte, agent, path string) (allow bool, line int) {
	type best struct{ length, line int }
	var rules [2][2]best // own or all; allow or disallow
	for i := range rules {
		rules[i] = [2]best{{-1, 0}, {-1, 0}}
	}
	own, forAll, everOwn, separated := false, false, false, false
	for n, text := range slowLines(body) {
		text, _, _ = strings.Cut(text, "\x00")
		text, _, _ = strings.Cut(text, "#")
		text = strings.Trim(text, " \t\n\v\f\r")
		key, value, ok := strings.Cut(text, ":")
		if !ok {
			words := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
			if len(words) != 2 {
				continue
			}
			key, value = words[0], words[1]
		}
		key, value = strings.Trim(key, " \t\n\v\f\r"), strings.Trim(value, " \t\n\v\f\r")
		is := func(names ...string) bool {
			return slices.ContainsFunc(names, func(s string) bool {
				return len(key) >= len(s) && slowLower(key[:len(s)]) == s
			})
		}
		switch {
		case is("user-agent", "useragent", "user agent"):
			if separated {
				own, forAll, separated = false, false, false
			}
			token := value[:len(value)-len(strings.TrimLeft(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"))]
			if value == "*" || len(value) > 1 && value[0] == '*' && strings.ContainsRune(" \t\n\v\f\r", rune(value[1])) {
				forAll = true
			} else if slowLower(token) == slowLower(agent) {
				own, everOwn = true, true
			}
		case is("allow"), is("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"):
			if !own && !forAll {
				continue
			}
			separated = true
			pattern := string(appendEscaped(nil, []byte(value)))
			who, kind := 1, 1
			if own {
				who = 0
			}
			if is("allow") {
				kind = 0
			}
			matches := slowMatch(pattern, path)
			if slash := strings.LastIndexByte(pattern, '/'); kind == 0 && !matches && slash >= 0 &&
				strings.HasPrefix(pattern[slash:], "/index.htm") {
				pattern = pattern[:slash+1] + "$"
				matches = slowMatch(pattern, path)
			}
			if b := &rules[who][kind]; matches && len(pattern) > b.length {
				*b = best{len(pattern), n + 1}
			}
		}
	}
	who := 1
	if everOwn {
		who = 0
	}
	a, d := rules[who][0], rules[who][1]
	if d.length > a.length {
		return d.length == 0, d.line
	}
	return true, a.line
}

func slowLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// slowLines splits a body and cuts each line as Google's parser does.
func slowLines(body []byte) []string {
	for _, c := range []byte("\xef\xbb\xbf") {
		if len(body) == 0 || body[0] != c {
			break
		}
		body = body[1:]
	}
	lines := splitLines(body)
	for i, l := range lines {
		lines[i] = l[:min(len(l), 2083*8-1)]
	}
	return lines
}

func splitLines(body []byte) []string {
	text := strings.ReplaceAll(string(body), "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(text, "\r", "\n"), "\n")
}

// slowVerdict reads the clauses of SPEC 4 and 5 over the groups and rules of
// all permitted readings of a body.
func slowVerdict(p *Profile, body []byte, a Agent, t *Target) Value {
	if t.isRobotsTxt {
		return Allowed
	}
	choices := []Leniency{Reject, Accept}
	var said []Value
	for _, typos := range choices {
		for _, prefixes := range choices {
			for _, colons := range choices {
				r := *p
				for _, x := range []struct {
					field  *Leniency
					choice Leniency
				}{{&r.Typos, typos}, {&r.KeyPrefixes, prefixes}, {&r.MissingColon, colons}} {
					if *x.field == Open {
						*x.field = x.choice
					}
				}
				var f File
				f.Parse(body, &r)
				said = append(said, slowReading(&r, &f, a, string(t.path))...)
			}
		}
	}
	return slowAgree(said...)
}

// slowReading is the verdict of each group that may be valid, or of all.
func slowReading(p *Profile, f *File, a Agent, path string) []Value {
	groups := slowGroups(p, f, a)
	if len(groups) == 0 {
		return []Value{Allowed}
	}
	if p.SeveralGroups == MergeGroups {
		return []Value{slowRules(p, f, groups, path)}
	}
	var said []Value
	for _, g := range groups {
		said = append(said, slowRules(p, f, []int{g}, path))
	}
	return said
}

func slowGroups(p *Profile, f *File, a Agent) []int {
	find := func(is func(l AgentLine) bool) []int {
		var found []int
		for _, l := range f.Agents {
			if p.NeedsRule && f.Groups[l.Group].Rules.Len() == 0 {
				continue
			}
			if is(l) && !slices.Contains(found, int(l.Group)) {
				found = append(found, int(l.Group))
			}
		}
		return found
	}
	star := func(l AgentLine) bool {
		if p.Lists {
			return string(l.Value) == "*"
		}
		return len(l.Value) > 0 && l.Value[0] == '*' && (len(l.Value) == 1 || bytes.IndexByte([]byte(" \t\n\v\f\r"), l.Value[1]) >= 0)
	}
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
	for _, token := range a.allTokens() {
		set := letters
		if strings.ContainsAny(token, "0123456789.") {
			set += "0123456789."
		}
		groups := find(func(l AgentLine) bool {
			v := string(l.Value)
			switch p.AgentMatch {
			case MatchSubstring:
				return v != "*" && v != "" && strings.Contains(slowLower(token), slowLower(v))
			case MatchTokenCase:
				return !star(l) && v[:len(v)-len(strings.TrimLeft(v, set))] == token
			}
			return !star(l) && slowLower(v[:len(v)-len(strings.TrimLeft(v, set))]) == slowLower(token)
		})
		if len(groups) > 0 {
			return groups
		}
	}
	if a.IgnoresStar && p.IgnoresStar {
		return nil
	}
	return find(star)
}

// slowRules weighs all rules that match, under each reading of what matches.
func slowRules(p *Profile, f *File, groups []int, path string) Value {
	switch p.BarePrefix {
	case Accept:
		return slowWeigh(p, slowHits(p, f, groups, path, false))
	case Reject:
		return slowWeigh(p, slowHits(p, f, groups, path, true))
	}
	return slowAgree(slowWeigh(p, slowHits(p, f, groups, path, false)), slowWeigh(p, slowHits(p, f, groups, path, true)))
}

// slowAgree is what all say, or undefined.
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
		return Allowed
	}
	return Disallowed
}

// slowHits finds the rules that match. With whole, a path covers itself, with
// any query, and what lies below it.
func slowHits(p *Profile, f *File, groups []int, path string, whole bool) []slowHit {
	var hits []slowHit
	for _, g := range groups {
		for i := f.Groups[g].Rules.From; i < f.Groups[g].Rules.To; i++ {
			r := f.Rules[i]
			pattern := string(r.Pattern)
			if p.AddSlash && pattern != "" && pattern[0] != '/' {
				pattern = "/" + pattern
			}
			if pattern == "" {
				continue
			}
			matches := false
			length := len(r.Normalized)
			switch {
			case !p.Wildcards && whole:
				below := strings.TrimSuffix(pattern, "/") + "/"
				matches = path == pattern || strings.HasPrefix(path, pattern+"?") || strings.HasPrefix(path, below)
			case !p.Wildcards:
				matches = strings.HasPrefix(path, pattern)
			case p.Escapes == EscapesRFC:
				matches = slowMatchRFC(pattern, path)
			default:
				matches = slowMatch(string(appendEscaped(nil, []byte(pattern))), path)
			}
			core := strings.TrimSuffix(string(r.Normalized), "$")
			if p.Wildcards && !p.CountTrailingStar {
				trimmed := strings.TrimRight(core, "*")
				if trimmed != core {
					length = max(1, len(trimmed))
				}
			}
			if h := (slowHit{length, r.Kind == Allow, strings.Contains(strings.TrimRight(core, "*"), "*")}); matches {
				hits = append(hits, h)
			} else if dir, ok := slowIndex(string(r.Normalized)); ok && p.IndexHTML && h.allow && slowMatch(dir, path) {
				hits = append(hits, slowHit{length: len(dir), allow: true, wild: h.wild})
			}
		}
	}
	return hits
}

// slowLongest is what the longest of some rules may say: either, where the
// document has no word on a tie.
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
	if p.Ties == TiesAllow && slices.Contains(said, Allowed) {
		return Allowed
	}
	return slowAgree(said...)
}

func slowWeigh(p *Profile, hits []slowHit) Value {
	if len(hits) == 0 {
		return Allowed
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
		// The others are settled; what contradicts them is a wildcard rule.
		said := []Value{}
		if len(others) > 0 {
			said = append(said, slowLongest(p, others))
		}
		for _, h := range wilds {
			said = append(said, h.value())
		}
		if slowAgree(said...) == Undefined {
			return slowAgree(slowLongest(p, hits), Allowed)
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
