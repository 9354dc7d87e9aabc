// Package visible shows what came from the network or a file to a person.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text keeps what a stranger wrote from speaking to a terminal or misleading a
// reader: control characters, escape sequences and marks that turn the
// direction of text, or hide, are shown as escapes, all on one line.
func Text(s string) string {
	var out strings.Builder
	for _, r := range s {
		if unicode.In(r, unicode.C, unicode.Zl, unicode.Zp) || unseen[r] || r == utf8.RuneError {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// unseen are letters, marks and symbols that nothing is drawn for.
var unseen = map[rune]bool{
	0x034f: true, 0x115f: true, 0x1160: true, 0x17b4: true, 0x17b5: true, 0x2800: true, 0x3164: true, 0xffa0: true,
}
