//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The script of the action ends with the exit code of check, as fail-on says, and gives it
// and the verdicts to later steps. Its values are never code.
func TestTheActionForGitHub(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "configs", "deploy", "action", "action.yml"))
	must(t, err)
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Using string
			Steps []struct {
				Shell, Run string
				Env        map[string]string
			}
		}
	}
	must(t, yaml.Unmarshal(text, &action))
	step := action.Runs.Steps[0]
	if action.Runs.Using != "composite" || step.Shell != "bash" || strings.Contains(step.Run, "${{") {
		t.Fatalf("an action of %s in %s:\n%s", action.Runs.Using, step.Shell, step.Run)
	}
	dir := t.TempDir()
	self, err := filepath.Abs(os.Args[0])
	must(t, err)
	for name, content := range map[string]string{
		"robocensus": fmt.Sprintf("#!/bin/sh\nROBOCENSUS_AS_COMMAND=1 exec '%s' \"$@\"\n", self),
		"robots.txt": "User-agent: *\nDisallow: /shut\n", "open.txt": "/\n", "shut.txt": "/\n/shut\n",
		"old.txt":      "User-agent: *\nDisallow:\n",
		"question.txt": "User-agent: *\nAllow: /page\nDisallow: /*.htm\n",
		"log":          `192.0.2.1 - - [20/Nov/2026:10:15:00 +0000] "GET /shut HTTP/1.1" 200 5 "-" "GPTBot/1.2"` + "\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o777))
	}
	for _, row := range []struct {
		inputs  map[string]string
		want    int
		outputs string
	}{
		{map[string]string{"agent": "GPTBot", "urls": "open.txt"}, 0, "exit-code=0"},
		{map[string]string{"agent": "GPTBot", "urls": "shut.txt"}, 1, "exit-code=1"},
		{map[string]string{"agent": "GPTBot", "urls": "shut.txt", "fail-on": "nothing"}, 0, "exit-code=1"},
		{map[string]string{"agent": "GPTBot", "urls": "shut.txt", "fail-on": "undefined"}, 1, "exit-code=1"},
		{map[string]string{"agent": "GPTBot", "urls": "shut.txt", "changed-from": "old.txt"}, 1, "exit-code=1"},
		{map[string]string{"agent": "GPTBot", "urls": "shut.txt", "changed-from": "robots.txt"}, 0, "exit-code=0"},
		{map[string]string{"urls": "log"}, 1, "exit-code=1"},
		{map[string]string{"agent": "$(touch here)", "urls": "open.txt"}, 64, "exit-code=64"},
		{map[string]string{"agent": "GPTBot", "urls": "missing.txt", "fail-on": "nothing"}, 65, "exit-code=65"},
		{map[string]string{"agent": "GPTBot", "urls": "open.txt", "fail-on": "never"}, 64, ""},
		{map[string]string{"agent": "GPTBot", "urls": "--help", "robots": "--version"}, 65, "exit-code=65"},
	} {
		c := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run) // as runners start it
		output := filepath.Join(dir, "output")
		os.Remove(output)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "GITHUB_OUTPUT="+output, "RUNNER_TEMP="+dir)
		for variable, from := range step.Env {
			name := strings.TrimSuffix(strings.TrimPrefix(from, "${{ inputs."), " }}")
			input, ok := action.Inputs[name]
			if !ok {
				t.Fatalf("%s is %s, which is no input", variable, from)
			}
			value := input.Default
			if given, ok := row.inputs[name]; ok {
				value = given
			}
			c.Env = append(c.Env, variable+"="+value)
		}
		said, err := c.CombinedOutput()
		outputs, _ := os.ReadFile(output)
		if row.want == 1 && !strings.Contains(string(said), "disallow\t/shut\t") || strings.Contains(string(said),
			"allow\t/\t") {
			t.Errorf("%q: it shows\n%s", row.inputs, said)
		}
		if code := exitOf(t, err); code != row.want || !strings.Contains(string(outputs), row.outputs) {
			t.Errorf("%q: exit code %d, want %d, outputs %q\n%s", row.inputs, code, row.want, outputs, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "here")); err == nil {
		t.Error("a value was run as code")
	}
}
