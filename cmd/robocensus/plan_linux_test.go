package main

import (
	"archive/tar"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A shard reads the files of its own hosts: one that cannot be read fails one shard, and
// not all. A compressed tar has to be read whole, which plan says.
func TestAShardReadsItsOwnFiles(t *testing.T) {
	t.Parallel()
	bodies, out := t.TempDir(), t.TempDir()
	archive, err := os.Create(filepath.Join(out, "bodies.tar"))
	must(t, err)
	defer archive.Close()
	w := tar.NewWriter(archive)
	const text = "User-agent: *\nDisallow: /\n"
	for i := range 40 {
		name := fmt.Sprintf("h%d.example", i)
		must(t, os.WriteFile(filepath.Join(bodies, name), []byte(text), 0o666))
		must(t, w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o666}))
		_, err := w.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	info, err := archive.Stat()
	must(t, err)
	must(t, os.Symlink("/proc/self/mem", filepath.Join(bodies, "unreadable.example"))) // its first byte is no memory: EIO
	for run, from := range map[string]string{"folder": bodies, "tar": archive.Name()} {
		said := call(t, 0, "plan", "--bodies", from, "--shards", "4", "--out", out, "--run", run, "--tables", "fetches")
		want := fmt.Sprintf("If %s, %d bytes, is compressed or at a URL, each reads all of it: 4 times in all.", from,
			info.Size())
		if strings.Contains(strings.ReplaceAll(said, ",", ""), strings.ReplaceAll(want, ",", "")) != (run == "tar") {
			t.Errorf("%s: plan says\n%s", run, said)
		}
		codes := make(map[int]int)
		for shard := range 4 {
			code, said := called("run", "--out", out, "--run", run, "--shard", fmt.Sprint(shard), "--progress", "none")
			if codes[code]++; code != 0 && !strings.Contains(said, "unreadable.example: ") {
				t.Errorf("%s: shard %d: exit code %d: %s", run, shard, code, said)
			}
		}
		if run == "folder" && (codes[0] != 3 || codes[74] != 1) || run == "tar" && codes[0] != 4 {
			t.Errorf("%s: exit codes %v", run, codes)
		}
	}
}
