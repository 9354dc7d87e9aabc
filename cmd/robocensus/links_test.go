package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	documentLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	notInAnchors = regexp.MustCompile(`[^\pL\pN_ -]`)
)

// Every link of a document to another one leads to a file that is there, and to a heading
// in it, as GitHub and GitLab name headings.
func TestLinksOfDocuments_NoRace(t *testing.T) {
	t.Parallel()
	anchors := map[string]map[string]bool{} // of each document
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		anchors[path] = map[string]bool{}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if heading, is := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); is && line[0] == '#' {
				name := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimSpace(heading)), "")
				anchors[path][strings.ReplaceAll(name, " ", "-")] = true
			}
		}
		return err
	})
	if err != nil || len(anchors) < 9 {
		t.Fatalf("%d documents: %v", len(anchors), err)
	}
	links := 0
	for document := range anchors {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range documentLink.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(match[1], "://") {
				continue
			}
			links++
			file, anchor, _ := strings.Cut(match[1], "#")
			to := document
			if file != "" {
				to = filepath.Join(filepath.Dir(document), file)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", document, match[1], err)
			} else if anchor != "" && !anchors[to][anchor] {
				t.Errorf("%s links to %s, and %s has no such heading", document, match[1], to)
			}
		}
	}
	if links < 50 {
		t.Errorf("%d links, want 50 at least", links)
	}
}
