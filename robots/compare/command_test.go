package compare

import (
	"flag"
	"os"
	"os/exec"
	"testing"
)

var commandFiles = flag.Int("command-files", 0, "files that SPIDERBAR is asked about (0: a few)")

// Parsers that run under other languages beside their profiles. The environment names a
// command that reads files and writes answers as askParser has them.
func TestCommandsReadAsTheirProfiles(t *testing.T) {
	for n, p := range []struct{ variable, profile string }{{"SPIDERBAR", "spiderbar"}} {
		t.Run(p.profile, func(t *testing.T) {
			command := os.Getenv(p.variable)
			if command == "" {
				t.Skipf("%s names no command that asks %s", p.variable, p.profile)
			}
			files := *commandFiles
			if files == 0 {
				files = 60
			}
			askParser(t, exec.CommandContext(t.Context(), command), p.profile, newDrawer(t, uint64(n)+6, "FooBot"), files)
		})
	}
}
