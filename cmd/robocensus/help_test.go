package main

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/sink/publish"
)

// Prose in help is no wider than the flags below it. Commands, keys of JSON and other
// things that are typed or read as they are have lines of their own, set in by four, or
// begin with the program's name.
func TestHelpIsNotWide_NoRace(t *testing.T) {
	const most = 96
	for _, c := range commands().Commands() {
		lines := 0
		for line := range strings.Lines(c.Long + "\n\n" + c.Annotations[cli.DetailsKey]) {
			line, lines = strings.TrimRight(line, "\n"), lines+1
			if len(line) > most && !strings.HasPrefix(line, "    ") && !strings.HasPrefix(line, "  robocensus ") &&
				!strings.Contains(line, " | robocensus ") {
				t.Errorf("help of %s has a line of %d characters: %s", c.Name(), len(line), line)
			}
		}
		if lines < 2 {
			t.Errorf("%s has no help", c.Name())
		}
	}
}

func TestHelpSaysWhatIsTakenAsItIs_NoRace(t *testing.T) {
	if !strings.Contains(strings.Join(strings.Fields(reproduceHelp), " "), publish.TakenAsItIs) {
		t.Errorf("help of reproduce does not say %q", publish.TakenAsItIs)
	}
}
