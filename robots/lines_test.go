package robots

import (
	"bytes"
	"testing"
)

// SplitLines leaves no byte out, and counts lines as parsing does.
func FuzzSplitLines(f *testing.F) {
	for _, text := range []string{"", "a", "a\n", "a\r\nb\rc\n\n\r\r\nd", "\n\r", "\r", "\xef\xbb\xbfa\nb"} {
		f.Add([]byte(text))
	}
	google, _ := ProfileNamed("google")
	f.Fuzz(func(t *testing.T, body []byte) {
		var all []byte
		n, ended := 0, true
		for line, end := range SplitLines(body) {
			if n++; bytes.ContainsAny(line, "\r\n") || !ended {
				t.Fatalf("%q: line %d is %q", body, n, line)
			}
			switch string(end) {
			case "\n", "\r", "\r\n":
			default:
				ended = false
			}
			all = append(append(all, line...), end...)
		}
		if !bytes.Equal(all, body) {
			t.Fatalf("%q: lines are %q", body, all)
		}
		var file File
		file.Parse(body, google)
		if len(body) <= google.SizeLimit && file.Lines != n {
			t.Fatalf("%q: %d lines, parsed %d", body, n, file.Lines)
		}
	})
}
