package input

import (
	"archive/tar"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
)

// A row's body is that with its digest, cut where the run cut it or where the run that it
// re-evaluates did; else that of the file named by its host.
func TestIndex(t *testing.T) {
	const limit = 20
	long := strings.Repeat("0123456789", 5)
	files := map[string]string{"any name": "by its digest", "A.example": "another one", "b.example_80": long,
		"c.example": "a copy", "e.example": "of any scheme", "e.example_80": "of port 80", ".d.example": "hidden"}
	folder, packed := t.TempDir(), filepath.Join(t.TempDir(), "bodies.tar")
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666))
		must(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o666}))
		_, err := w.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	must(t, os.WriteFile(packed, archive.Bytes(), 0o666))
	scratch := sinktest.Open(t, t.TempDir()).(*store.Folder)

	for _, given := range []string{folder, packed} {
		x, err := NewBodyIndex(t.Context(), given, limit, func() (*store.Scratch, error) { return scratch.Scratch(".") })
		must(t, err)
		for _, c := range []struct {
			host, scheme, digestOf string
			bytes                  int64
			want                   string // "" for an error
			cut                    string // what the row then says: "", true or false
		}{
			{"z.example", "https", "by its digest", 13, "by its digest", ""},
			{"a.example", "https", "that of the run", 15, "another one", "false"},
			{"a.example", "http", "that of the run", 15, "another one", "false"},
			{"b.example", "http", long[:limit], limit, long[:limit], ""},
			{"b.example", "http", long[:40], 40, long[:40], ""},
			{"b.example", "http", long[:10], 11, long[:limit], "true"},
			{"b.example", "https", "that of the run", 15, "", ""}, // of another port
			{"d.example", "https", "that of the run", 15, "", ""},
			{"e.example", "https", "that of the run", 15, "of any scheme", "false"},
			{"e.example", "http", "that of the run", 15, "of port 80", "false"},
		} {
			digest, port := schema.ContentDigest([]byte(c.digestOf)), map[string]int32{"http": 80, "https": 443}[c.scheme]
			row := schema.Fetch{Host: c.host, Scheme: c.scheme, Port: port, ContentDigest: &digest, BodyBytes: &c.bytes}
			body, err := x.Of(&row)
			cut := ""
			if row.KeptTruncated != nil {
				cut = map[bool]string{true: "true", false: "false"}[*row.KeptTruncated]
			}
			var input *userfile.Error
			if string(body) != c.want || cut != c.cut || (err != nil) != (c.want == "") || err != nil &&
				!errors.As(err, &input) {
				t.Errorf("%s: %+v: %q, cut %q, %v", given, c, body, cut, err)
			}
		}
		copied := schema.ContentDigest([]byte("a copy"))
		for digest, want := range map[*string]string{&copied: "a copy", nil: ""} {
			if body, err := x.Of(&schema.Fetch{Host: "z.example", CopyDigest: digest}); string(body) != want || err != nil {
				t.Errorf("a copy: %q, %v, want %q", body, err, want)
			}
		}
		must(t, x.Close())
	}
}
