package main

import (
	"archive/zip"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// released builds a release of one command for this machine, as a zip and as a tar, and
// returns its folder.
func released(t *testing.T) string {
	t.Helper()
	man := t.TempDir()
	must(t, os.WriteFile(filepath.Join(man, "robocensus.1"), []byte(".TH ROBOCENSUS\n"), 0o666))
	r := release{
		version: "1.2.3", out: t.TempDir(), man: man, commands: []string{"./cmd/internal/release"},
		time: time.Unix(1_800_000_000, 0).UTC(), work: t.TempDir(),
	}
	for _, platform := range []string{runtime.GOOS + "/" + runtime.GOARCH, "windows/" + runtime.GOARCH} {
		must(t, r.archive(context.Background(), platform))
	}
	must(t, r.sum())
	return r.out
}

// Two releases of one commit have the same bytes, whatever the folder; sha256sum and
// tar read them.
func TestReleaseIsReproducible(t *testing.T) {
	t.Chdir("../../..")
	first, second := released(t), released(t)
	sums, err := os.ReadFile(filepath.Join(first, "SHA256SUMS"))
	must(t, err)
	again, err := os.ReadFile(filepath.Join(second, "SHA256SUMS"))
	must(t, err)
	if diff := cmp.Diff(string(sums), string(again)); diff != "" {
		t.Errorf("sums of the first (-) and of the second release (+):\n%s", diff)
	}
	if n := strings.Count(string(sums), "\n"); n != 2 {
		t.Errorf("%d files in SHA256SUMS, want 2", n)
	}
	check := exec.Command("sha256sum", "--check", "--strict", "SHA256SUMS")
	check.Dir = first
	if text, err := check.CombinedOutput(); err != nil {
		t.Errorf("sha256sum: %v\n%s", err, text)
	}

	name := "robocensus_1.2.3_" + runtime.GOOS + "_" + runtime.GOARCH
	must(t, os.Remove(filepath.Join(second, "SHA256SUMS")))
	unpack := exec.Command("tar", "-xzf", name+".tar.gz")
	unpack.Dir = second
	if text, err := unpack.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, text)
	}
	want := []string{"LICENSE", "README.md", "THIRD_PARTY_LICENCES.txt", "man", "man/man1", "man/man1/robocensus.1",
		"release"}
	var got []string
	must(t, filepath.WalkDir(filepath.Join(second, name), func(path string, d os.DirEntry, err error) error {
		if relative, _ := filepath.Rel(filepath.Join(second, name), path); relative != "." {
			got = append(got, filepath.ToSlash(relative))
		}
		return err
	}))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in the archive (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(second, name, "release"))
	must(t, err)
	if info.Mode().Perm()&0o111 != 0o111 || info.ModTime().Unix() != 1_800_000_000 {
		t.Errorf("the binary has mode %v and time %v", info.Mode(), info.ModTime())
	}
	started, _ := exec.Command(filepath.Join(second, name, "release"), "--version", "a/b").CombinedOutput()
	if !strings.Contains(string(started), "is not a name for files") {
		t.Errorf("the binary in the archive says %q", started)
	}
	licences, err := os.ReadFile(filepath.Join(second, name, "THIRD_PARTY_LICENCES.txt"))
	must(t, err)
	for _, module := range []string{"==== Go, " + runtime.Version() + ": LICENSE\n", "==== github.com/spf13/pflag v"} {
		if !strings.Contains(string(licences), module) {
			t.Errorf("no licence of %q", module)
		}
	}
	if strings.Contains(string(licences), "parquet-go") {
		t.Error("the licence of a module that is not in the binary")
	}
}

// The archive for Windows has the same files, and a binary that Windows starts.
func TestReleaseForWindows(t *testing.T) {
	t.Chdir("../../..")
	name := "robocensus_1.2.3_windows_" + runtime.GOARCH
	z, err := zip.OpenReader(filepath.Join(released(t), name+".zip"))
	must(t, err)
	defer z.Close()
	var got []string
	for _, f := range z.File {
		got = append(got, strings.TrimPrefix(f.Name, name+"/"))
		if !f.Modified.Equal(time.Unix(1_800_000_000, 0)) {
			t.Errorf("%s has time %v", f.Name, f.Modified)
		}
	}
	want := []string{"LICENSE", "README.md", "THIRD_PARTY_LICENCES.txt", "man/man1/robocensus.1", "release.exe"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files in the archive (-want +got):\n%s", diff)
	}
	binary, err := z.File[slices.Index(got, "release.exe")].Open()
	must(t, err)
	begin := make([]byte, 2)
	if _, err := io.ReadFull(binary, begin); err != nil || string(begin) != "MZ" {
		t.Errorf("the binary begins with %q (%v)", begin, err)
	}
}

// Mistakes end before anything is built.
func TestMistakes(t *testing.T) {
	taken := t.TempDir()
	for _, c := range []struct{ epoch, version, out, want string }{
		{"1", "", "new", "is not a name for files"},
		{"1", "../1", "new", "is not a name for files"},
		{"", "1", "new", "SOURCE_DATE_EPOCH"},
		{"1", "1", taken, "remove it"},
	} {
		t.Setenv("SOURCE_DATE_EPOCH", c.epoch)
		err := run(context.Background(), []string{"--version", c.version, "--out", c.out})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("version %q, out %q: %v, want %q", c.version, c.out, err, c.want)
		}
	}
}
