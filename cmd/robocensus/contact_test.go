package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
)

// A run of many hosts without a contact in its user agent prints one note.
func TestRunOfManyHostsWithoutContact_NoRace(t *testing.T) {
	const manyHosts = 100 // more than a person names by hand
	for _, row := range []struct {
		hosts int
		agent string
		notes int
	}{{manyHosts + 1, "robocensus/1", 1}, {manyHosts + 1, "x (+https://a.example/)", 0}, {manyHosts + 1, "x me@a.example",
		0}, {manyHosts, "robocensus/1", 0}} {
		folder := t.TempDir()
		var list strings.Builder
		for i := range row.hosts {
			fmt.Fprintf(&list, "h%d.example\n", i)
		}
		path := filepath.Join(folder, "hosts.txt")
		must(t, os.WriteFile(path, []byte(list.String()), 0o666))
		var out, said bytes.Buffer
		code := mainCode([]string{
			"run", "--hosts", path, "--out", filepath.Join(folder, "out"), "--resolver", nowhere(t), "--retries", "0",
			"--tables", "fetches",
			"--progress", "none", "--user-agent", row.agent, "--accept-unreachable",
		}, nil, &out, &said)
		if n := strings.Count(said.String(), "names no contact"); code != cli.ExitOK || n != row.notes {
			t.Errorf("%d hosts as %s: exit code %d, %d notes, want %d: %s", row.hosts, row.agent, code, n, row.notes,
				said.String())
		}
	}
}
