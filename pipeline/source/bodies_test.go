package source

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/target"
)

// The files of a folder and of a tar, plain or compressed, are the same targets, with one
// shard or several: a shard reads the content of its own.
func TestBodiesOfAFolderAndATar(t *testing.T) {
	dir := t.TempDir()
	var plain bytes.Buffer
	w := tar.NewWriter(&plain)
	var want []string
	for i := range 20 {
		host := fmt.Sprintf("h%02d.example", i)
		text := fmt.Sprintf("User-agent: *\nDisallow: /%s\n", strings.Repeat("x", i))
		must(t, os.WriteFile(filepath.Join(dir, host), []byte(text), 0o666))
		must(t, w.WriteHeader(&tar.Header{Name: host, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o666}))
		_, err := w.Write([]byte(text))
		must(t, err)
		want = append(want, fmt.Sprintf("%d %s %q", i+1, host, text))
	}
	must(t, w.Close())
	for what, bodies := range map[string]string{
		"a folder": dir, "a tar": writeFile(t, "b.tar", plain.Bytes()), "gzip": writeFile(t, "b.tgz", gzipped(plain.String())), "zstd": writeFile(t, "b.tar.zst", zstandard(plain.String())),
	} {
		for _, shards := range []int{1, 3} {
			var got []string
			for i := range shards {
				config := Config{Bodies: bodies, Schemes: []string{"https"}, MaxBody: 1 << 20}
				if shards > 1 {
					config.Shard = target.Shard{Index: i, Count: shards}
				}
				s, err := Open(t.Context(), config)
				must(t, err)
				for _, v := range s.Volumes {
					must(t, v.Read(context.Background(), func(target target.Target) error {
						got = append(got, fmt.Sprintf("%d %s %q", target.Seq, target.Candidates[0].Host, target.Capture.Body))
						return nil
					}))
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d shards: got %q", what, shards, got)
			}
		}
	}
	// Anything else is named.
	sheet := writeFile(t, "b.xlsx", []byte("PK\x03\x04\x14\x00"))
	s, err := Open(t.Context(), Config{Bodies: sheet, Schemes: []string{"https"}, MaxBody: 1 << 20})
	must(t, err)
	if err := s.Volumes[0].Read(t.Context(), func(target.Target) error { return nil }); err == nil || !strings.Contains(err.Error(), "b.xlsx: is a zip archive") {
		t.Errorf("a spreadsheet: %v", err)
	}
}
