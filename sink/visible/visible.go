// Package visible makes text from the network or a file safe to show.
package visible

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns s on one line, with escapes for control characters, escape
// sequences, marks that change the direction of text, invisible characters, and bytes
// that are not UTF-8: text from the network must neither control a terminal nor mislead a
// reader.
func Text(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s // most texts
	}
	var out strings.Builder
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], string(r)) {
			fmt.Fprintf(&out, `\x%02x`, s[i])
		} else if isHidden(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// Lines is [Text] for a document of several lines, whose ends stay.
func Lines(document []byte) []byte {
	lines := strings.Split(string(document), "\n")
	for i, line := range lines {
		lines[i] = Text(line)
	}
	return []byte(strings.Join(lines, "\n"))
}

// JSON returns an object of JSON with escapes for what [Text] escapes: JSON itself has none
// for C1 controls, and for marks that change the direction of text.
func JSON(object []byte) []byte {
	if !bytes.ContainsFunc(object, func(r rune) bool { return r > '~' }) {
		return object // most
	}
	var out []byte
	for _, r := range string(object) {
		switch {
		case r <= '~' || !isHidden(r):
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// Count returns a number with its noun: 1 host, 2 hosts.
func Count(n int64, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// isHidden reports whether a character controls a terminal, or shows nothing.
func isHidden(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || unseen[r] || r == utf8.RuneError
}

// Cell returns s as the cell of a CSV file: like [Text], and with an apostrophe before
// what a spreadsheet would take for a formula, which may read other cells and ask other
// machines.
func Cell(s string) string {
	s = Text(s)
	if first, _ := utf8.DecodeRuneInString(s); strings.ContainsRune("=+-@＝＋－＠", first) && s != "" {
		return "'" + s
	}
	return s
}

// unseen are letters, marks and symbols that are invisible.
var unseen = map[rune]bool{
	0x034f: true, 0x115f: true, 0x1160: true, 0x17b4: true, 0x17b5: true, 0x2800: true, 0x3164: true, 0xffa0: true,
}
