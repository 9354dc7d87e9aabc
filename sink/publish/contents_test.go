package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// A failing disk says nothing about a data set.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		err     error
		damaged bool
	}{
		{errors.New("dict eof exception"), true},
		{&fs.PathError{Op: "open", Path: "part", Err: syscall.ENOENT}, true},
		{fmt.Errorf("column host: %w", &fs.PathError{Op: "read", Path: "part", Err: syscall.EIO}), false},
		{fmt.Errorf("column host: %w", context.Canceled), false},
	} {
		if err := unreadable("part", c.err); errors.Is(err, ErrDamaged) != c.damaged || !errors.Is(err, c.err) {
			t.Errorf("%v: %v, damaged is to be %t", c.err, err, c.damaged)
		}
	}
}
