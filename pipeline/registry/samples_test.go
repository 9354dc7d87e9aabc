package registry

import (
	"io"
	"strings"
	"testing"
)

// A list in another format is refused by the name of that format.
func TestSamplesInAnotherFormat(t *testing.T) {
	none := func(s Sample) error { t.Errorf("%q is a sample", s.URL); return nil }
	for text, want := range map[string]string{
		"/a\r/b\r":                 "list.txt: has lines that end with CR alone",
		"\xff\xfe/\x00a\x00\n\x00": "list.txt: is UTF-16", "PK\x03\x04\x14": "list.txt: is a zip archive",
		"\x1f\x8b\x08": "list.txt: is compressed with gzip",
	} {
		if err := EachSample("list.txt", strings.NewReader(text), none); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A line that is no URL, or more than one, is refused with what it says. A byte order mark is
// no part of the first line.
func TestLinesOfSamples(t *testing.T) {
	for text, want := range map[string]string{
		"/a\nb.example/c\n":        `list.txt:2: "b.example/c" is neither a path that starts with / nor an absolute URL`,
		"https://a.example/b\t5\n": `list.txt:1: "https://a.example/b\t5" has a tab, as lines of several columns have; give a file with the URLs alone, such as that of: cut -f 1`,
		"/a\n\ufeff/b\n":           `list.txt:2: "\ufeff/b" is neither a path that starts with / nor an absolute URL`,
	} {
		if _, err := ParseSamples("list.txt", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for text, want := range map[string]string{"\ufeff/a\n": "/a", "\ufeffhttps://a.example/\r\n": "https://a.example/",
		"\ufeff# a\n\t/b\t\n": "/b"} {
		if got, err := ParseSamples("list.txt", []byte(text)); err != nil || len(got) != 1 || got[0].URL != want {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
}

// A sample from a pipe is judged when it comes, and not only when there are many.
func TestSamplesOfAPipe(t *testing.T) {
	in, out := io.Pipe()
	go func() { io.WriteString(out, "/a\n") }()
	err := EachSample("-", in, func(s Sample) error { return io.ErrNoProgress })
	if err != io.ErrNoProgress {
		t.Errorf("%v", err)
	}
}
