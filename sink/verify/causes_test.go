package verify

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/portable"
)

// The dictionary lists the causes of lines, each with what it says.
func TestDictionaryHasTheCauses(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "| `cause` | what is simplified |\n|---|---|\n")
	if !ok {
		t.Fatal("README.md has no list of causes")
	}
	seen := 0
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (.*) \\|$").FindAllStringSubmatch(list, -1) {
		if _, known := portable.CauseTexts[row[1]]; !known {
			break // the next table
		}
		seen++
	}
	if seen != len(portable.CauseTexts) {
		t.Errorf("README.md lists %d of %d causes", seen, len(portable.CauseTexts))
	}
	if all := values["lines"]["cause"]; len(all) != len(portable.CauseTexts)+portable.LighthouseFaults ||
		!slices.Contains(all, portable.Unexplained) {
		t.Errorf("the values of cause are %v", all)
	}
}
