package robots_test

import (
	"go/build"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A program of 25 lines, with no call but those of the packages, builds and answers.
func TestProgramOf25Lines(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a program")
	}
	tool := filepath.Join(build.Default.GOROOT, "bin", "go")
	if _, err := exec.LookPath(tool); err != nil {
		if tool, err = exec.LookPath("go"); err != nil {
			t.Skip("go is not installed")
		}
	}
	c := exec.Command(tool, "run", "./testdata/program")
	c.Stdin = strings.NewReader(file)
	text, err := c.CombinedOutput()
	if got := strings.Fields(string(text)); err != nil || !slices.Equal(slices.Sorted(slices.Values(got)),
		[]string{"CCBot", "GPTBot"}) {
		t.Errorf("%v:\n%s", err, text)
	}
}
