package main

import (
	"context"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

const exitBroken exitError = 1

// readExpectations reads the file of --expect; nil if there is none.
func readExpectations(ctx context.Context, path string) (*expect.List, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readInput(ctx, path)
	if err != nil {
		return nil, err
	}
	return expect.Parse(remote.Name(path), text, func(path string) ([]byte, error) { return readInput(ctx, path) })
}

// promises checks a finished run against the expectations.
func (f *runFlags) promises(ctx context.Context, c pipeline.Config) ([]*expect.Promise, error) {
	if f.expectations == nil {
		return nil, nil
	}
	in, err := openOut(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	promises, err := f.expectations.Check(ctx, in, c.Run, c.Evaluate.Agents)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("%w: the run is complete; check its expectations with --resume", errInterrupted)
	}
	return promises, err
}

// check checks a finished run against the expectations and prints the result.
func (f *runFlags) check(ctx context.Context, c pipeline.Config, stdout io.Writer) error {
	promises, err := f.promises(ctx, c)
	if err != nil {
		return err
	}
	showPromises(&textPage{stdout}, promises)
	if err := broken(promises); err != nil {
		fmt.Fprintf(stdout, "\nAll that is otherwise or unchecked: %s\n", store.Join(c.Dir, "_runs", c.Run, "expectations.csv"))
		return err
	}
	return nil
}

// broken returns the exit code for promises: not 0 if one is broken or cannot be
// checked.
func broken(promises []*expect.Promise) error {
	for _, p := range promises {
		if p.Fails {
			return exitBroken
		}
	}
	return nil
}

// showPromises prints which expectations hold, and for the broken ones by which
// hosts.
func showPromises(p page, promises []*expect.Promise) {
	if len(promises) == 0 {
		return
	}
	states := map[expect.State]string{expect.Kept: "kept", expect.Broken: "BROKEN", expect.Unchecked: "unchecked"}
	var rows [][]string
	for _, x := range promises {
		rows = append(rows, []string{p.foreign(x.Name), states[x.State], words.Number(x.Checked), words.Number(x.Broken)})
	}
	p.table("Expectations", []string{"name", "state", "checked", "otherwise"}, 2, rows)
	for _, x := range promises {
		if x.Note != "" {
			p.line(fmt.Sprintf("%s, %s: %s", p.foreign(x.Name), states[x.State], p.foreign(x.Note)))
		}
	}
	for _, x := range promises {
		if x.State != expect.Broken {
			continue
		}
		rows = nil
		for _, b := range x.First {
			var cells []string
			for _, s := range []*string{&b.Host, b.Agent, b.URL, &b.Found} {
				cell := ""
				if s != nil {
					cell = p.foreign(*s)
				}
				cells = append(cells, cell)
			}
			line := ""
			if b.Line != nil {
				line = fmt.Sprint(*b.Line)
			}
			rows = append(rows, append(cells, line))
		}
		title := "Broken: " + p.foreign(x.Name)
		if more := x.Broken - int64(len(x.First)); more > 0 {
			title += fmt.Sprintf(", the first %d of %s", len(x.First), words.Number(x.Broken))
		}
		p.table(title, []string{"host", "agent", "url", "found", "line"}, 4, rows)
	}
}
