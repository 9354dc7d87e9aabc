package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/spf13/cobra/doc"
)

var man = flag.String("man", "", "folder to write the man pages to; see make man")

// Every command has a man page. A test writes them, so that the binary does not
// contain the generator.
func TestManPages(t *testing.T) {
	folder := *man
	if folder == "" {
		folder = t.TempDir()
	}
	must(t, os.MkdirAll(folder, 0o777))
	root := commands()
	root.DisableAutoGenTag = true
	for _, c := range root.Commands() {
		if details := c.Annotations[cli.DetailsKey]; details != "" {
			c.Long += "\n\n" + details
		}
	}
	must(t, doc.GenManTree(root, &doc.GenManHeader{Title: "ROBOCENSUS", Section: "1", Source: "robocensus",
		Manual: "robocensus"}, folder))
	for _, name := range names(root) {
		page := "robocensus-" + name + ".1"
		if name == "help" {
			page = "robocensus.1" // which is what it would say
		}
		if info, err := os.Stat(filepath.Join(folder, page)); err != nil || info.Size() < 500 {
			t.Errorf("%s is missing or empty: %v", page, err)
		}
	}
}
