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

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
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
		"a folder": dir, "a tar": writeFile(t, "b.tar", plain.Bytes()), "gzip": writeFile(t, "b.tgz",
			gzipped(plain.String())), "zstd": writeFile(t, "b.tar.zst", zstandard(plain.String())),
	} {
		for _, shards := range []int{1, 3} {
			var got []string
			for i := range shards {
				config := Config{Bodies: bodies, Schemes: []string{"https"}, Limits: fetch.Limits{MaxBody: 1 << 20}}
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
	s, err := Open(t.Context(), Config{Bodies: sheet, Schemes: []string{"https"}, Limits: fetch.Limits{MaxBody: 1 << 20}})
	must(t, err)
	if err := s.Volumes[0].Read(t.Context(), func(target.Target) error { return nil }); err == nil ||
		!strings.Contains(err.Error(), "b.xlsx: is a zip archive") {
		t.Errorf("a spreadsheet: %v", err)
	}
}

// Of several files of one origin the first is the target, and the others are duplicates,
// once in all shards.
func TestBodiesOfOneOrigin(t *testing.T) {
	names := []string{"A.example", "a.example", "a.example.", "a.example/robots.txt", "a.example_443", "b.example",
		"b.example_8443", "xn--bcher-kva.example", "BÜCHER.example"}
	want := []string{"https://a.example A.example", "https://b.example b.example",
		"https://b.example:8443 b.example_8443", "https://xn--bcher-kva.example xn--bcher-kva.example"}
	dir := t.TempDir()
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, name := range names {
		if !strings.Contains(name, "/") { // the folder of a file cannot have its name
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o666))
		}
		must(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(name)), Mode: 0o666}))
		_, err := w.Write([]byte(name))
		must(t, err)
	}
	must(t, w.Close())
	for what, given := range map[string]struct {
		bodies  string
		want    []string
		rejects int64
	}{
		"a folder": {dir, append(slices.Clone(want[:3]), "https://xn--bcher-kva.example BÜCHER.example"), 4},
		"a tar":    {writeFile(t, "b.tar", packed.Bytes()), want, 5},
	} {
		if files, err := os.ReadDir(dir); what == "a folder" && (err != nil || len(files) != len(names)-1) {
			t.Log("skipped: this file system takes names in capitals for the same")
			continue
		}
		for _, shards := range []int{1, 3} {
			var got []string
			duplicates, all := int64(0), int64(0)
			for i := range shards {
				config := Config{Bodies: given.bodies, Schemes: []string{"https"}, Limits: fetch.Limits{MaxBody: 1 << 20}}
				if shards > 1 {
					config.Shard = target.Shard{Index: i, Count: shards}
				}
				s, err := Open(t.Context(), config)
				must(t, err)
				rejects := input.NewAccount(nil, in(t, t.TempDir()), func(int64) {})
				must(t, s.Start(t.Context(), rejects, func(int64) {}))
				must(t, s.Volumes[0].Read(t.Context(), func(target target.Target) error {
					got = append(got, target.Candidates[0].String()+" "+string(target.Capture.Body))
					return nil
				}))
				duplicates, all = duplicates+rejects.Kinds()["duplicate"].N, all+rejects.Lines()
				must(t, s.Close())
			}
			slices.Sort(got)
			if d := cmp.Diff(given.want, got); d != "" || duplicates != given.rejects || all != duplicates {
				t.Errorf("%s, %d shards: %d duplicates of %d rejected, want %d (-want +got):\n%s", what, shards, duplicates, all,
					given.rejects, d)
			}
		}
	}
}
