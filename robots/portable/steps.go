package portable

import (
	"bytes"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// A step writes a file more plainly.
type step struct {
	key           string // names the cause
	cause, advice string
	// change changes the lines for which only holds, and reports which these are.
	change func(f *file, only func(int) bool) []int
}

// apply returns a changed copy of a file, nil if nothing changes. Without only it changes
// every line that it can.
func (s *step) apply(f *file, only func(int) bool) *file {
	if only == nil {
		only = func(int) bool { return true }
	}
	next := f.clone()
	if len(s.change(next, only)) == 0 {
		f.spare = next
		return nil
	}
	next.classify()
	return next
}

// touches returns the lines that the step changes.
func (s *step) touches(f *file) []int {
	next := f.clone()
	lines := s.change(next, func(int) bool { return true })
	f.spare = next
	lines = slices.DeleteFunc(lines, func(n int) bool { return n == 0 })
	slices.Sort(lines)
	return slices.Compact(lines)
}

// each changes single lines: change returns the new line, and whether it is another one.
func each(change func(l line) (line, bool)) func(*file, func(int) bool) []int {
	return func(f *file, only func(int) bool) (touched []int) {
		for i := range f.lines {
			if !only(f.lines[i].number) {
				continue
			}
			if l, ok := change(f.lines[i]); ok {
				touched = append(touched, l.number)
				f.lines[i] = l
			}
		}
		return touched
	}
}

// drop leaves out lines. which looks at line i alone, for those before it have moved.
func drop(which func(f *file, i int) bool) func(*file, func(int) bool) []int {
	return func(f *file, only func(int) bool) (touched []int) {
		kept := 0
		for i := range f.lines {
			if only(f.lines[i].number) && which(f, i) {
				touched = append(touched, f.lines[i].number)
				continue
			}
			if kept < i {
				f.lines[kept] = f.lines[i]
			}
			kept++
		}
		f.lines = f.lines[:kept]
		return touched
	}
}

// dropThose leaves out lines that are found all at once.
func dropThose(find func(f *file) []bool) func(*file, func(int) bool) []int {
	return func(f *file, only func(int) bool) []int {
		found := find(f)
		return drop(func(_ *file, i int) bool { return found[i] })(f, only)
	}
}

var oddSpaces = strings.NewReplacer("\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ", "\x00", "")

// plainSpaces ends lines with LF and writes plain spaces, but where google would read
// another name or path, or take the line for a record that it was not. Such a line, and one
// with another odd character in its field, is left out if other parsers take it for one.
func plainSpaces(f *file, only func(int) bool) (touched []int) {
	was := slices.Clone(f.lines)
	rewritten := false // so that google may read it otherwise; it does not care whether a last line ends
	for i := range f.lines {
		if l := &f.lines[i]; only(l.number) {
			if mayHoldOddSpaces(l.text) {
				l.text, rewritten = []byte(oddSpaces.Replace(string(upToNUL(l.text)))), true
			}
			if l.end != "\r\n" && l.end != "\n" {
				rewritten = rewritten || l.end != "" || f.cut
				l.end = "\n"
			}
		}
	}
	if rewritten {
		f.classify()
	}
	kept := f.lines[:0]
	for i := range f.lines {
		l, w := &f.lines[i], &was[i]
		other := l.kind != w.kind || l.allow != w.allow || !bytes.Equal(l.value, w.value)
		if w.isIgnored() && only(l.number) && !w.hasTag() && (other || l.hasOddField()) {
			touched = append(touched, l.number)
			continue
		}
		if other {
			l.text = w.text
		}
		if l.end != w.end || !bytes.Equal(l.text, w.text) {
			touched = append(touched, l.number)
		}
		kept = append(kept, *l)
	}
	f.lines = kept
	return touched
}

// mayHoldOddSpaces reports whether a text may hold something that plainSpaces replaces.
func mayHoldOddSpaces(text []byte) bool {
	for _, c := range text {
		if c < ' ' && c != '\t' || c == "\u0085"[0] || c == "\u2028"[0] {
			return true
		}
	}
	return false
}

// upToNUL returns what google reads of a line that it reads up to a NUL, of a record: the
// line as it is if nothing stands before.
func upToNUL(text []byte) []byte {
	if before, _, found := bytes.Cut(text, []byte{0}); found && len(bytes.TrimSpace(before)) > 0 {
		return before
	}
	return text
}

// spell writes fields as they should be. Of the others that some parser knows, google ignores
// the line, so it is left out.
func spell(f *file, only func(int) bool) (touched []int) {
	kept := f.lines[:0]
	for _, l := range f.lines {
		key, _, colon := bytes.Cut(l.text, []byte(":"))
		record := l.kind == agentLine || l.kind == ruleLine
		misspelt := record && !(colon && strings.EqualFold(string(key), l.field())) || l.isIgnored() && !l.hasOddField() &&
			!l.hasTag()
		if misspelt && only(l.number) {
			if touched = append(touched, l.number); !record {
				continue
			}
			l.write(l.value)
		}
		kept = append(kept, l)
	}
	f.lines = kept
	return touched
}

// steps are in the order in which a person would look: bytes and lines, fields, groups,
// rules.
var steps = []step{
	{"bom", "a byte order mark before the first line", "save the file without a byte order mark",
		func(f *file, only func(int) bool) []int {
			if !f.bom || !only(1) {
				return nil
			}
			f.bom = false
			return []int{1}
		}},
	{"line_ends", "line ends or white space that not every parser knows, or a last line without end",
		"end each line with LF and use plain spaces", plainSpaces},
	{"comment", "a comment behind a value", "put comments on lines of their own", each(func(l line) (line, bool) {
		text := bytes.TrimSpace(uncommented(l.text))
		changed := len(text) > 0 && len(text) < len(bytes.TrimSpace(l.text))
		l.text = text
		return l, changed
	})},
	{"misspelt", "a field that is misspelt, or not followed by a colon", "write User-agent:, Allow: and Disallow:", spell},
	{"html_tag", "a tag of HTML in a line", "write the line without it",
		drop(func(f *file, i int) bool { return f.lines[i].isIgnored() && f.lines[i].hasTag() })},
	{"orphan_rule", "a rule before the first user-agent line", "leave it out: google ignores it",
		drop(func(f *file, i int) bool { return f.lines[i].orphan })},
	{"blank_line", "a blank line inside a group", "leave blank lines only between groups",
		dropThose((*file).blanksInGroups)},
	{"other_field", "another field between the lines of a group", "put it behind the rules of the group", moveOthers},
	{"text_behind_name", "text behind the name of a crawler", "write the product token alone",
		each(func(l line) (line, bool) {
			if l.kind != agentLine || len(l.token) == 0 || len(l.token) == len(l.value) {
				return l, false
			}
			l.write(l.value[:len(l.token)])
			return l, true
		})},
	{"no_slash", "a path without a leading slash",
		"begin it with a slash if it is meant, or leave it out: google never matches it", dropUnslashed},
	{"no_rule", "a crawler without rules at the end", "write Disallow: if it may fetch everything", addRule},
	{"several_groups", "a crawler with several groups", "write one group for each crawler, and the one for * last",
		mergeGroups},
	{"empty_rule", "an empty rule beside others", "leave it out", dropThose((*file).emptyBesideOthers)},
	{"last_star", "a star at the end of a path", "leave it out: it changes nothing", each(func(l line) (line, bool) {
		text := bytes.TrimRight(l.value, "*")
		if l.kind != ruleLine || len(text) == len(l.value) || len(text) == 0 || !bytes.HasPrefix(text, []byte("/")) {
			return l, false
		}
		l.write(text)
		return l, true
	})},
	{"escapes", "characters that are not escaped, or in another way",
		"escape them as in URLs, with digits in upper case", eachPattern(escaped)},
	{"covered_path", "a path below another of its group", "leave it out: the shorter one covers it",
		dropThose((*file).covered)},
	{"shorter_first", "a shorter rule before a longer one", "put longer paths first, and of one path allow first",
		longestFirst},
}

// hints are like steps, but after them google answers otherwise. So they are advice, and
// no part of the file as written anew.
var hints = []step{
	{"unescaped", "a character that URLs have only escaped",
		"escape it if it is meant: google looks for the character itself, which no URL has", eachPattern(urlEscaped)},
	{"needless_escape", "a character that needs no escape",
		"write the character itself: google takes the rule for paths that are escaped so, and URLs seldom are",
		eachPattern(unescaped)},
}

// eachPattern changes the patterns of rules.
func eachPattern(change func(pattern []byte) []byte) func(*file, func(int) bool) []int {
	return each(func(l line) (line, bool) {
		if l.kind != ruleLine {
			return l, false
		}
		text := change(l.value)
		if bytes.Equal(text, l.value) {
			return l, false
		}
		l.write(text)
		return l, true
	})
}

// unescaped returns a pattern without needless escapes, or as it is if it would get
// segments of dots, which no URL has.
func unescaped(pattern []byte) []byte {
	var out []byte
	for i := 0; i < len(pattern); i++ {
		if rewrite.IsEscape(pattern, i) {
			if c := rewrite.Unhex(pattern[i+1])<<4 | rewrite.Unhex(pattern[i+2]); rewrite.IsUnreserved(c) {
				out = append(out, c)
				i += 2
				continue
			}
		}
		out = append(out, pattern[i])
	}
	for segment := range bytes.SplitSeq(out, []byte("/")) {
		if string(segment) == "." || string(segment) == ".." {
			return pattern
		}
	}
	return out
}

// escaped returns a pattern as google reads it: with bytes outside of ASCII escaped, and
// digits in upper case.
func escaped(pattern []byte) []byte {
	return escapedWhere(pattern, func(c byte) bool { return c > 0x7f })
}

// urlEscaped returns a pattern with what no URL can hold escaped, and digits in upper case.
func urlEscaped(pattern []byte) []byte {
	return escapedWhere(pattern, func(c byte) bool {
		return c <= ' ' || c > '~' ||
			strings.IndexByte("\"<>\\^`{|}", c) >= 0
	})
}

// escapedWhere returns a pattern with some bytes escaped, and digits in upper case.
func escapedWhere(pattern []byte, where func(byte) bool) []byte {
	const digits = "0123456789ABCDEF"
	var out []byte
	for i, c := range pattern {
		hex := func(k int) bool { return k < len(pattern) && rewrite.IsHex(pattern[k]) }
		switch {
		case where(c):
			out = append(out, '%', digits[c>>4], digits[c&15])
		case c >= 'a' && c <= 'f' && (i > 0 && pattern[i-1] == '%' && hex(i+1) || i > 1 && pattern[i-2] == '%' && hex(i-1)):
			out = append(out, c-'a'+'A')
		default:
			out = append(out, c)
		}
	}
	return out
}
