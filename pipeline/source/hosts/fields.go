package hosts

import (
	"slices"
	"strings"
)

// cutSeparator returns the separator of a line such as "sep=;", with which Excel begins a
// file.
func cutSeparator(line string) (rune, bool) {
	line = strings.Trim(line, `"`)
	if len(line) != len("sep=;") || !strings.EqualFold(line[:len("sep=")], "sep=") {
		return 0, false
	}
	return rune(line[len(line)-1]), true
}

// separators returns what may separate the fields of a line, most frequent first: 0 if
// nothing does.
func separators(line string) []rune {
	counts := make(map[rune]int)
	quoted, isStray := false, strings.Count(line, `"`)%2 == 1
	for _, r := range line {
		switch {
		case r == '"':
			quoted = !quoted
		case (!quoted || isStray) && strings.ContainsRune("\t,;|", r):
			counts[r]++
		}
	}
	out := slices.DeleteFunc([]rune("\t,;|"), func(r rune) bool { return counts[r] == 0 })
	slices.SortStableFunc(out, func(a, b rune) int {
		if a == '\t' || b == '\t' {
			return 0 // no host, name or number has one
		}
		return counts[b] - counts[a]
	})
	if len(out) == 0 {
		out = []rune{0}
	}
	return out
}

// fieldsOf splits a line, which is one record, at separators that stand in no quotes. A
// quote within a field stands for itself. isOpen reports that the last field begins with a
// quote that does not end.
func fieldsOf(line string, comma rune) (fields []string, isOpen bool) {
	if strings.IndexByte(line, '"') < 0 {
		if comma == 0 {
			return []string{line}, false
		}
		return strings.Split(line, string(comma)), false
	}
	for {
		text, quoted := strings.CutPrefix(strings.TrimLeft(line, " "), `"`)
		if !quoted {
			field, rest, more := line, "", false
			if comma != 0 {
				field, rest, more = strings.Cut(line, string(comma))
			}
			if fields = append(fields, field); !more {
				return fields, false
			}
			line = rest
			continue
		}
		field, rest, ended := unquoted(text, comma)
		fields = append(fields, field)
		switch {
		case !ended:
			return fields, true
		case rest == "":
			return fields, false
		}
		line = rest[1:] // after the separator
	}
}

// unquoted returns the text up to the quote that ends a field, and what follows it, which
// is nothing or begins with the separator.
func unquoted(text string, comma rune) (field, rest string, ended bool) {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '"')
		if at < 0 {
			return b.String() + text, "", false
		}
		b.WriteString(text[:at])
		text = text[at+1:]
		if strings.HasPrefix(text, `"`) {
			b.WriteByte('"')
			text = text[1:]
			continue
		}
		after := strings.TrimLeft(text, " \r")
		if after == "" || comma != 0 && strings.HasPrefix(after, string(comma)) {
			return b.String(), after, true
		}
		b.WriteByte('"')
	}
}
