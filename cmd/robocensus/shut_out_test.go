//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/farm"
)

// The terminal's table of agents that are shut out. No two columns have the same
// figures.
func TestShutOutTable(t *testing.T) {
	hosts := farm.Hosts{
		"own1.test": []byte("User-agent: GPTBot\nDisallow: /\n"),
		"own2.test": []byte("User-agent: GPTBot\nDisallow: /\nUser-agent: *\nDisallow: /x\n"),
		"all.test":  []byte("User-agent: *\nDisallow: /\n"),
		"part.test": []byte("User-agent: GPTBot\nDisallow: /x\n"),
		"open.test": []byte("User-agent: *\nAllow: /\n"),
	}
	for i := range 3 {
		hosts[fmt.Sprintf("few%d.test", i)] = []byte("User-agent: GPTBot\nDisallow: /x\n")
	}
	list := "gone1.test\ngone2.test\n" // which answer 404
	for host := range hosts {
		list += host + "\n"
	}
	server, err := farm.New(farm.Config{Hosts: hosts})
	must(t, err)
	defer server.Close()
	addr, err := server.ListenHTTP("127.0.0.1:0")
	must(t, err)
	dir := t.TempDir()
	path, agents := filepath.Join(dir, "hosts"), filepath.Join(dir, "agents.yaml")
	must(t, os.WriteFile(path, []byte(list), 0o666))
	must(t, os.WriteFile(agents, []byte("- {name: GPTBot, category: ai-training}\n- {name: Other, category: search}\n"),
		0o666))
	code, said := called("run", "--hosts", path, "--agents", agents, "--out", filepath.Join(dir, "out"), "--schemes",
		"http", "--connect-to", addr, "--progress", "none")
	if code != cli.ExitOK {
		t.Fatal(said)
	}
	said = regexp.MustCompile(` +`).ReplaceAllString(said, " ")
	from := strings.Index(said, "\n3 hosts shut out an agent for AI training")
	to := strings.Index(said, "\nRows written")
	if from < 0 || to < from ||
		!strings.Contains(said, "\n10 of 10 hosts answered (100%), and the rules of 8 decide (80.0%).\n") {
		t.Fatal(said)
	}
	// GPTBot: own1, own2 and all, the first two by name; part and the three few partly.
	want := `
3 hosts shut out an agent for AI training, of 8 with rules.

Shut out most often, by hosts
category agent hosts of hosts with rules by name partly
ai-training GPTBot 3 30.0% 3 of 8 2 4
search Other 1 10.0% 1 of 8 0 1
with rules: of the 8 hosts whose rules decide; by name: in its own group;
partly: hosts that close a part to it
`
	if diff := cmp.Diff(want, said[from:to]); diff != "" {
		t.Error(diff)
	}
}
