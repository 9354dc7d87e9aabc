//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// make tries a shard again after an exit code that says that this helps, and after no
// other; made again, it finishes what is missing.
func TestShardsUnderMake_NoRace(t *testing.T) {
	t.Parallel()
	if text, err := exec.Command("make", "--version").Output(); err != nil || !strings.HasPrefix(string(text),
		"GNU Make") {
		t.Skip("no GNU make")
	}
	bodies, out, dir := t.TempDir(), t.TempDir(), t.TempDir()
	for i := range 12 {
		must(t, os.WriteFile(filepath.Join(bodies, fmt.Sprintf("h%d.example", i)), []byte("User-agent: *\nDisallow: /\n"),
			0o666))
	}
	self, err := filepath.Abs(os.Args[0])
	must(t, err)
	// A shard ends with what a file for it says, once for each line, before it runs.
	program := filepath.Join(dir, "robocensus")
	must(t, os.WriteFile(program, []byte(fmt.Sprintf(`#!/bin/sh
shard= next=
for word in "$@"; do
	[ -z "$next" ] || shard=$word
	next=
	[ "$word" != --shard ] || next=1
done
file='%[1]s'/$shard
if [ -n "$shard" ] && [ -s "$file" ]; then
	code=$(head -n 1 "$file")
	sed -i 1d "$file"
	echo "$shard ends with $code" >> '%[1]s/log'
	[ "$code" != 137 ] || kill -KILL $$
	exit "$code"
fi
ROBOCENSUS_AS_COMMAND=1 exec '%[2]s' "$@"
`, dir, self)), 0o777))
	call(t, 0, "plan", "--bodies", bodies, "--shards", "4", "--out", out, "--run", "r", "--tables", "fetches,summary")
	makes := func() (string, error) {
		c := exec.Command("make", "-f", filepath.Join("..", "..", "configs", "deploy", "shards.mk"), "-k", "-j", "2",
			"OUT="+out, "RUN=r", "SHARDS=4", "PAUSE=0", "RETRIES=3", "ROBOCENSUS="+program)
		c.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=") // not those of the make that runs this test
		text, err := c.CombinedOutput()
		return string(text), err
	}
	ends := func(shard int, codes string) {
		must(t, os.WriteFile(filepath.Join(dir, fmt.Sprint(shard)), []byte(codes), 0o666))
	}
	ends(0, "69\n74\n75\n")        // and then it runs
	ends(1, "137\n")               // of the program itself
	ends(2, "65\n0\n")             // is not tried again
	ends(3, "75\n75\n75\n75\n0\n") // too often
	if said, err := makes(); err == nil || strings.Contains(said, "whole") {
		t.Errorf("make says %v\n%s", err, said)
	}
	log, err := os.ReadFile(filepath.Join(dir, "log"))
	must(t, err)
	for shard, want := range []int{3, 1, 1, 4} {
		if n := strings.Count(string(log), fmt.Sprintf("%d ends with ", shard)); n != want {
			t.Errorf("shard %d ended early %d times, want %d:\n%s", shard, n, want, log)
		}
	}
	for shard := range 4 {
		ends(shard, "")
	}
	if said, err := makes(); err != nil || !strings.Contains(said, "run r: ") || !strings.Contains(said, ": whole") {
		t.Errorf("made again: %v\n%s", err, said)
	}
}
