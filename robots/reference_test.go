package robots

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// This file reimplements the package, slowly and obviously. The fuzz targets
// compare the two.

// slowMatch tries everything: a star matches any number of bytes.
func slowMatch(pattern, path string) bool {
	// can[i] reports whether the pattern so far may end before path[i:].
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

// slowGoogle walks through a body line by line as Google's parser does, with
// its flags. It returns whether the URL is allowed and the line that decides.
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
			pattern := string(rewrite.AppendUpperHex(nil, []byte(value)))
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
	out := []byte(s) // strings.Map would replace bytes that are not UTF-8
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] += 'a' - 'A'
		}
	}
	return string(out)
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
