package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
)

// Without a terminal, verify says now and then how far it is, also while it reads a large part.
func TestVerifyShowsProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		show, end := verifyBar(&out)
		show(2, 8)
		time.Sleep(2*cli.LogEvery + cli.LogEvery/2)
		show(8, 8)
		end()
		text := out.String()
		if strings.Count(text, "msg=progress parts=2 of=8\n") != 2 ||
			strings.Count(text, "msg=progress parts=8 of=8\n") != 1 {
			t.Errorf("logged\n%s", text)
		}
	})
}
