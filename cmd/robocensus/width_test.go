package main

import (
	"bytes"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// No line of Go is longer than 120 characters. A test quotes what it reads or expects as it
// is: lines with a raw string, or with a string that fills a third of them, may be longer.
func TestLinesAreShort_NoRace(t *testing.T) {
	t.Parallel()
	const most = 120
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		quoted := map[int]bool{}
		if strings.HasSuffix(path, "_test.go") {
			quoted = linesThatQuote(text)
		}
		number := 0
		for line := range bytes.Lines(text) {
			number++
			if n := utf8.RuneCount(bytes.TrimRight(line, "\r\n")); n > most && !quoted[number] {
				t.Errorf("%s:%d has %d characters; break it", path, number, n)
			}
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files: %v", files, err)
	}
}

// linesThatQuote returns the lines with a part of a raw string, or with a string that fills a
// third of them.
func linesThatQuote(text []byte) map[int]bool {
	const third = 40
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	quoted := make(map[int]bool)
	for {
		pos, kind, value := s.Scan()
		switch {
		case kind == token.EOF:
			return quoted
		case kind == token.STRING && (value[0] == '`' || utf8.RuneCountInString(value) > third):
			first := file.Line(pos)
			for line := first; line <= first+strings.Count(value, "\n"); line++ {
				quoted[line] = true
			}
		}
	}
}
