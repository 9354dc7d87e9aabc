package schema

import (
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Text converts bytes to a STRING: valid UTF-8 stays unchanged; every other byte, and
// NUL, becomes %XX. The result may share memory with b, so it is valid only until b
// changes.
func Text(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	s := unsafe.String(unsafe.SliceData(b), len(b))
	return TextString(s)
}

// TextString is like [Text], for a string.
func TextString(s string) string {
	if isPlain(s) || utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 {
		return s
	}
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	out.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && n == 1) || r == 0 {
			out.WriteByte('%')
			out.WriteByte(hex[s[i]>>4])
			out.WriteByte(hex[s[i]&15])
			i++
			continue
		}
		out.WriteString(s[i : i+n])
		i += n
	}
	return out.String()
}

// Unescaped returns a text of which [TextString] has escaped bytes, with the first of them
// as it was. No text tells which of several escapes were bytes; one of them is enough to
// be no text, as they were.
func Unescaped(s string) string {
	for i := range s {
		if s[i] != '%' || len(s) < i+3 {
			continue
		}
		b, err := hex.DecodeString(s[i+1 : i+3])
		if err != nil {
			continue
		}
		if raw := s[:i] + string(b) + s[i+3:]; raw != s && TextString(raw) == s {
			return raw
		}
	}
	return s
}

// isPlain reports whether every byte of a text is ASCII and not NUL. It tests eight
// bytes at a time, because every text of a table passes through it.
func isPlain(s string) bool {
	const ones = 0x0101010101010101
	for ; len(s) >= 8; s = s[8:] {
		b := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		// The highest bit of a byte is set if it is not ASCII, and after the subtraction
		// if it is NUL.
		if (b|(b-ones))&(0x80*ones) != 0 {
			return false
		}
	}
	for i := range len(s) {
		if s[i]-1 >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}

// OrZero returns the value of a nullable cell, the zero value for null.
func OrZero[T any](cell *T) (value T) {
	if cell != nil {
		value = *cell
	}
	return value
}

// NonZero returns a cell of a nullable column: null for the zero value. It is for
// columns in which "" or 0 is not a value.
func NonZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// FinalStatus is the text of the column error where a final status is the error, and nothing
// else is to be said.
func FinalStatus(status int) string { return fmt.Sprintf("the final status is %d", status) }
