package sink

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// Planning writes the plan of a run made of shards, before any of them begins.
type Planning struct {
	output
	attempt string
	done    bool
}

// NewPlanning begins to plan the run p.Run. The caller closes it.
func NewPlanning(s store.Store, p journal.Plan) (*Planning, error) {
	n := &Planning{attempt: strings.ToLower(rand.Text()[:8])}
	n.store = s
	return n, n.prepare(p)
}

// Planned reports whether the run has a plan with the settings of this one. Another
// plan is [ErrOtherPlan]. Without a plan, it checks that the store can have one.
func (n *Planning) Planned() (bool, error) {
	plan, _, err := journal.ReadPlan(n.store, n.plan.Run)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, n.checkStore()
	case err != nil:
		return false, err
	}
	return true, n.same(&plan)
}

// checkStore returns [store.ErrUnconditional] if the store lets several writers of a name
// win. Whoever writes the plan asks before, so nobody who finds a plan needs to.
func (o *output) checkStore() error {
	beats := layout.Beats(o.plan.Run) // completion and removal clear it
	if err := o.store.MakeFolder(beats); err != nil {
		return fmt.Errorf("create a folder of the run: %w", err)
	}
	err := store.CheckPut(o.store, beats)
	if errors.Is(err, store.ErrUnconditional) {
		err = fmt.Errorf("%w, so each of several attempts at a shard would count; give an --out in another store, or "+
			"make the run in one process", err)
	}
	return err
}

// same returns [ErrOtherPlan] if the settings of a plan differ from the output's.
func (o *output) same(plan *journal.Plan) error {
	if reasons := plan.Differences(&o.plan); len(reasons) > 0 {
		return fmt.Errorf("%s %w: %s (give the settings of the plan, or another --run)", o.Folder(), ErrOtherPlan,
			strings.Join(reasons, "; "))
	}
	return nil
}

// Scratch creates the folders of the run and a scratch file in them.
func (n *Planning) Scratch() (*store.Scratch, error) {
	if err := n.store.MakeFolder(layout.Lists(n.plan.Run)); err != nil {
		return nil, err
	}
	return n.store.Scratch(layout.RunFile(n.plan.Run))
}

// Add writes the list of the next shard.
func (n *Planning) Add(rows int64, write func(io.Writer) error) error {
	list := journal.List{Path: layout.List(n.plan.Run, len(n.plan.Lists), n.attempt), Rows: rows}
	var err error
	if list.Digest, err = store.Write(n.store, list.Path, write); err == nil {
		n.plan.Lists = append(n.plan.Lists, list)
	}
	return err
}

// Finish writes the plan, unless another process has written the same one first.
func (n *Planning) Finish() error {
	for _, folder := range []string{layout.Lists(n.plan.Run), layout.Beats(n.plan.Run)} {
		if err := n.store.MakeFolder(folder); err != nil {
			return fmt.Errorf("create a folder of the run: %w", err)
		}
		if err := n.store.Sync(folder); err != nil {
			return fmt.Errorf("sync a folder of the run: %w", err)
		}
	}
	won, _, err := journal.PutPlan(n.store, &n.plan)
	n.done = won || errors.Is(err, store.ErrInDoubt)
	if err != nil || n.done {
		return err
	}
	_, err = n.Planned()
	return err
}

// Close removes the lists, unless they are those of the plan, and what else there is of a run
// without a plan.
func (n *Planning) Close() {
	if n.done {
		return
	}
	for _, list := range n.plan.Lists {
		n.store.Remove(list.Path)
	}
	_, _, err := journal.ReadPlan(n.store, n.plan.Run)
	if !errors.Is(err, fs.ErrNotExist) || n.store.Remove(layout.Lists(n.plan.Run)) != nil {
		return // another process plans it
	}
	n.store.Remove(layout.Beats(n.plan.Run))
	n.store.Remove(layout.RunFile(n.plan.Run))
	removeEmpty(n.store)
	if made, ok := n.store.(*store.Folder); ok {
		made.Unmake()
	}
}

// copyList copies the list of a shard to a file. It returns an error if the list is not
// what the plan names.
func copyList(ctx context.Context, s store.Store, list journal.List, to string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy the list of the shard: %w", err)
		}
	}()
	in, err := store.OpenWritten(ctx, s, list.Path, list.Digest)
	if err != nil && store.FaultOf(err) == store.OfData {
		return fmt.Errorf("%s is %w: %v", s.Path(list.Path), journal.ErrDamaged, err)
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return cmp.Or(err, out.Close())
}
