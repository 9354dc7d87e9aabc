package sinktest

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
)

// CheckUserError fails t unless err, of package userfile, names the path "file" and a line
// that text has, in one line of a user's words.
func CheckUserError(t *testing.T, err error, text []byte) {
	t.Helper()
	var input *userfile.Error
	lines := int64(1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + bytes.Count(
		text, []byte("\u0085")) +
		bytes.Count(text, []byte("\u2028")) + bytes.Count(text, []byte("\u2029"))) // YAML's line ends
	if !errors.As(err, &input) || input.Path != "file" || input.Line < 0 || input.Line > lines {
		t.Fatalf("error %#v of a file of %d lines", err, lines)
	}
	if said := err.Error(); strings.ContainsAny(said, "\n") || strings.Contains(said, "yaml: ") ||
		strings.Contains(said, "[]yaml") || strings.Contains(said, "strconv.") {
		t.Fatalf("error %q", said)
	}
}
