package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// failing is a store whose files cannot be opened for now.
type failing struct {
	store.Store
	err error
}

func (f failing) Open(string) (*os.File, error) { return nil, f.err }

// Only missing, short or other bytes are damage: what a busy store or a machine without
// descriptors does not say is an error, and ends the verification.
func TestOnlyTheDataIsDamaged(t *testing.T) {
	for _, c := range []struct {
		err     error
		damaged bool
	}{
		{&fs.PathError{Op: "open", Path: "part", Err: syscall.ENOENT}, true}, {store.ErrLeadsOut, true},
		{errors.New("is not a regular file"), true},
		{&fs.PathError{Op: "open", Path: "part", Err: syscall.EMFILE}, false},
		{&fs.PathError{Op: "open", Path: "part", Err: syscall.EIO}, false},
		{fmt.Errorf("%w: 503", remote.ErrTransfer), false}, {remote.ErrRefused, false}, {context.DeadlineExceeded, false},
	} {
		v := &verifier{store: failing{err: c.err}}
		f, err := v.open(t.Context(), "part", store.Digest{})
		if f != nil || (len(v.Problems) == 1) != c.damaged || (err == nil) != c.damaged || err != nil &&
			!errors.Is(err, c.err) {
			t.Errorf("%v: problems %v, %v", c.err, v.Problems, err)
		}
	}
}
