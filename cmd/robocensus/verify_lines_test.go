package main

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
)

// Without a terminal, verify says now and then how far it is, and nothing at the end.
func TestVerifyShowsProgressInLines(t *testing.T) {
	var out bytes.Buffer
	at := time.Unix(0, 0)
	show := verifyLines(slog.New(slog.NewTextHandler(&out, nil)), func() time.Time { return at })
	for parts := range 8 {
		at = at.Add(cli.LogEvery / 2)
		show(parts+1, 8)
	}
	if text := out.String(); strings.Count(text, "msg=progress") != 3 || !strings.Contains(text, " parts=2 of=8\n") || !strings.Contains(text, " parts=6 of=8\n") {
		t.Errorf("logged\n%s", text)
	}
}
