//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// smallRun makes a run r of one host.
func smallRun(t *testing.T) (out, bodies string) {
	t.Helper()
	out, bodies = t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(bodies, "a.example"), []byte("User-agent: *\nDisallow: /\n"), 0o666))
	call(t, 0, "run", "--bodies", bodies, "--out", out, "--run", "r", "--progress", "none")
	return out, bodies
}

// A data set is written into the folder that a link leads to, and not where that would
// be among tables or in another data set.
func TestPublishFollowsALink_NoRace(t *testing.T) {
	t.Parallel()
	out, bodies := smallRun(t)
	dir := t.TempDir()
	link, to := filepath.Join(dir, "link"), filepath.Join(dir, "sets", "one")
	must(t, os.MkdirAll(to, 0o777))
	must(t, os.Symlink("sets/one", link))
	publishTo(t, out, link)
	if at, err := os.Readlink(link); at != "sets/one" {
		t.Errorf("the link leads to %q, %v", at, err)
	}
	call(t, 0, "reproduce", to, "--bodies", bodies)
	for name, into := range map[string]string{"tables": filepath.Join(out, "fetches", "x"),
		"set": filepath.Join(to, "more")} {
		link := filepath.Join(dir, name)
		must(t, os.Symlink(into, link))
		if said := call(t, 64, "publish", "--out", out, "r", "--to", link, "--creator", "Doe, Jane", "--licence",
			"CC-BY-4.0"); !strings.Contains(said, "give another folder") {
			t.Errorf("a link to %s: %s", into, said)
		}
	}
}

// What a killed process leaves, the next one removes.
func TestAKilledPublishLeavesNothingForLong(t *testing.T) {
	t.Parallel()
	out, _ := smallRun(t)
	dir := t.TempDir()
	set := filepath.Join(dir, "set")
	left := func() (names []string) {
		entries, err := os.ReadDir(dir)
		must(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	c := command("publish", "--out", out, "r", "--to", set, "--creator", "Doe, Jane", "--licence", "CC-BY-4.0")
	must(t, c.Start())
	for deadline := time.Now().Add(30 * time.Second); len(left()) == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nothing is written within half a minute")
		}
	}
	must(t, c.Process.Kill())
	c.Wait()
	if names := left(); len(names) != 1 || !strings.HasSuffix(names[0], ".tmp") {
		t.Fatalf("killed too late: %v", names)
	}
	publishTo(t, out, set)
	if names := left(); len(names) != 1 || names[0] != "set" {
		t.Errorf("left: %v", names)
	}
}
