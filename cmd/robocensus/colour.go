package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// style is a text style of terminals.
type style string

const (
	bold   style = "\x1b[1m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
)

// paint returns text in style s if out is a terminal. It returns text unchanged
// otherwise, and if NO_COLOR (https://no-color.org) is set or TERM is dumb.
func paint(out io.Writer, s style, text string) string {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !isTerminal(out) {
		return text
	}
	return string(s) + text + "\x1b[0m"
}

// isTerminal reports whether the output of a command goes to a terminal.
func isTerminal(out io.Writer) bool {
	if c, ok := out.(*checked); ok {
		out = c.Writer
	}
	f, ok := out.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
