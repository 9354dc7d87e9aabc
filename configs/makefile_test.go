package configs

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// make test runs every test of every package and module: with the race detector, or
// without, and none is left out of both.
func TestMakeTestLeavesNothingOut(t *testing.T) {
	plan := exec.Command("make", "-n", "test")
	plan.Dir = ".."
	text, err := plan.CombinedOutput()
	if err != nil {
		t.Skipf("make does not plan: %v\n%s", err, text)
	}
	list := exec.Command("go", "list", "./...")
	list.Dir = ".."
	all, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const module = "github.com/robocensus/robocensus"
	// packages under the detector, those of the tests that it leaves out, all others; folders
	var with, only, rest, modules []string
	for line := range strings.Lines(string(text)) {
		folder, _, nested := strings.Cut(strings.TrimPrefix(line, "cd "), " && ")
		packages := regexp.MustCompile(`(?: \.| github\.com)/\S+`).FindAllString(line, -1)
		for i := range packages {
			packages[i] = strings.Replace(strings.TrimSpace(packages[i]), "./", module+"/", 1)
		}
		switch {
		case !strings.Contains(line, "go test "):
		case nested:
			modules = append(modules, folder)
		case strings.Contains(line, " -race ") && strings.Contains(line, " -skip '_NoRace$' "):
			with = append(with, packages...)
		case strings.Contains(line, " -run '_NoRace$' "):
			only = append(only, packages...)
		case !strings.Contains(line, " -skip ") && !strings.Contains(line, " -run "):
			rest = append(rest, packages...)
		}
	}
	var leftOut []string // packages of which the detector leaves a test out
	for _, p := range with {
		files, err := filepath.Glob(filepath.Join("..", strings.TrimPrefix(p, module), "*_test.go"))
		if slices.ContainsFunc(files, func(file string) bool {
			text, e := os.ReadFile(file)
			err = errors.Join(err, e)
			return regexp.MustCompile(`(?m)^func Test\w*_NoRace\(`).Match(text)
		}) {
			leftOut = append(leftOut, p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(leftOut)
	slices.Sort(only)
	if diff := cmp.Diff(leftOut, only); diff != "" || len(only) == 0 {
		t.Errorf("packages of which the detector leaves tests out (-) and whose tests run without it (+):\n%s", diff)
	}
	want, got := strings.Fields(string(all)), slices.Concat(with, rest)
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages that there are (-) and that are tested (+):\n%s", diff)
	}
	var nested []string
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		folder := filepath.Dir(path)
		tests, _ := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if d != nil && d.Name() == "go.mod" && len(tests) > 0 {
			nested = append(nested, filepath.ToSlash(strings.TrimPrefix(folder, "../")))
		}
		return err
	})
	slices.Sort(modules)
	if diff := cmp.Diff(nested, modules); diff != "" || err != nil {
		t.Errorf("modules that there are (-) and that are tested (+): %v\n%s", err, diff)
	}
}
