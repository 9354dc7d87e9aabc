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
		"\xff\xfe/\x00a\x00\n\x00": "list.txt: is UTF-16", "PK\x03\x04\x14": "list.txt: is a zip archive", "\x1f\x8b\x08": "list.txt: is compressed with gzip",
	} {
		if err := EachSample("list.txt", strings.NewReader(text), none); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
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
