//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch/memory"
)

// With too few file descriptors nothing is known about a run, and no command says that
// it is damaged, or ends as if it had done its work.
func TestFewDescriptorsAreNoDamage_NoRace(t *testing.T) {
	t.Parallel()
	bodies, out := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(bodies, "a.example"), []byte("User-agent: *\nDisallow: /\n"), 0o666))
	for _, run := range []string{"a", "b"} {
		if code, said := called("run", "--bodies", bodies, "--keep-bodies", "--out", out, "--run", run, "--progress",
			"none"); code != 0 {
			t.Fatalf("exit code %d: %s", code, said)
		}
	}
	for _, args := range []string{"verify --out OUT b", "prune --out OUT --keep 1 --dry-run", "runs --out OUT",
		"diff --out OUT a b", "run --from-run OUT/_runs/a --out OUT/again --progress none"} {
		codes := make(map[int]int)
		for files := 4; codes[0] == 0; files++ {
			if files > 40 {
				t.Fatalf("%s needs more than 40 files: exit codes %v", args, codes)
			}
			c := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d && exec "$0" %s`, files, strings.ReplaceAll(args, "OUT",
				out)), os.Args[0])
			c.Env = append(os.Environ(), "ROBOCENSUS_AS_COMMAND=1")
			text, _ := c.CombinedOutput()
			code := c.ProcessState.ExitCode()
			codes[code]++
			// With still fewer files the runtime cannot start.
			if code == 2 && strings.Contains(string(text), "runtime") {
				continue
			}
			if code != 0 && code != 74 || strings.Contains(string(text), "damaged") || strings.Contains(string(text),
				"problem") || strings.Contains(string(text), "force-new") ||
				strings.Contains(string(text), "is not a run") || strings.Contains(string(text), "see robocensus verify") {
				t.Errorf("%d files: robocensus %s: exit code %d: %s", files, args, code, text)
			}
		}
		if codes[74] == 0 {
			t.Errorf("robocensus %s never fails: %v", args, codes)
		}
	}
}

// Another run that has the memory will end: trying again later helps, but not a shard,
// whose memory no other shard may use.
func TestAStateThatIsInUse(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	m, err := memory.Open(state)
	must(t, err)
	defer m.Close()
	hosts := filepath.Join(t.TempDir(), "hosts.txt")
	must(t, os.WriteFile(hosts, []byte("a.example\n"), 0o666))
	for want, args := range map[string][]string{
		"; wait for it or give another --state": {"a.example"},
		"; give another --state: each process that makes a shard needs its own": {"--hosts", hosts, "--run", "r", "--shards",
			"2", "--shard", "0"},
	} {
		code, said := called(append([]string{"run", "--out", t.TempDir(), "--state", state, "--progress", "none"},
			args...)...)
		if code != 75 || !strings.Contains(said, "is in use by another run") || !strings.Contains(said, want) ||
			strings.Contains(said, "reachable") {
			t.Errorf("%q: exit code %d: %s", args, code, said)
		}
	}
}
