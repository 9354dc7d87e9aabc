package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// An input is wrong if it is missing, not if its server or this machine fails.
func TestUnread(t *testing.T) {
	down := &fs.PathError{Op: "open", Path: "s3://bucket/list", Err: errors.New("connection refused")}
	for _, c := range []struct {
		name  string
		err   error
		input bool
	}{
		{"no such object", &fs.PathError{Op: "open", Path: "s3://bucket/list", Err: fs.ErrNotExist}, true},
		{"replaced", fmt.Errorf("s3://bucket/list %w", remote.ErrChanged), true},
		{"the server is down", fmt.Errorf("%w: %w", remote.ErrTransfer, down), false},
		{"the disk is full", fmt.Errorf("%w: %w", remote.ErrScratch, down), false},
		{"Ctrl-C", context.Canceled, false},
	} {
		err := Unread("s3://bucket/list", c.err)
		if errors.As(err, new(*userfile.Error)) != c.input || !c.input && !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
