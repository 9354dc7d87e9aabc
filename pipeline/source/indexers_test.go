package source

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What warcio.js writes of archives is an index of them, in each of its formats, with keys
// or URLs in their place, and with fields in an order of one's own.
func TestIndexesOfWarcio(t *testing.T) {
	warcio, err := exec.LookPath("warcio")
	if err != nil {
		t.Skip("warcio is not installed: npm install -g warcio@2.4.11")
	}
	l, want := libraryOfRevisits()
	want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, "place.example") })
	want = append(want, "place.example 200 # place", "place.example 200 unstored") // whose place only another index says
	slices.Sort(want)
	dir := l.write(t)
	files := []string{filepath.Join(dir, "early.warc.gz"), filepath.Join(dir, "late.warc.gz")}
	for _, options := range [][]string{
		{"--format", "cdx"}, {"--format", "cdxj"}, {"--format", "json"}, {"--format", "cdx", "--noSurt"},
		{"--format", "cdxj", "--noSurt"},
		{"--format", "cdx", "-f", "timestamp", "url", "digest", "mime", "filename", "offset", "length"},
		{"--format", "json", "-f", "filename", "offset", "url", "timestamp", "digest", "mime"},
		{"--format", "cdx", "-f", "url", "timestamp", "status", "digest", "offset", "filename"},
	} {
		c := exec.Command(warcio, slices.Concat([]string{"cdx-index"}, files, options)...)
		var said bytes.Buffer
		c.Stderr = &said
		index, err := c.Output()
		if err != nil {
			t.Fatalf("warcio %q: %v\n%s", options, err, &said)
		}
		got, rejects, err := readAll(t, Config{CDX: []string{writeFile(t, "x.cdx", index)}, Base: dir})
		if d := cmp.Diff(want, got); d != "" || err != nil || rejects.Lines() != 1 {
			first, _, _ := strings.Cut(string(index), "\n")
			t.Errorf("%q: %v, %d rejected: %+v; an index such as %.200q\n%s", options, err, rejects.Lines(), rejects.Kinds(),
				first, d)
		}
	}
}
