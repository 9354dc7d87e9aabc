package expect

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/visible"
)

// A Checker compares rows with expectations. It writes every breach, and every
// expectation that cannot be checked, to a CSV file. The first breaches of each
// expectation stay in memory.
type Checker struct {
	expectations *List
	promises     []*Promise // by expectation
	coverage     []coverage // by expectation
	agents       []schema.Agent
	walled       map[int64]bool // targets of the segment that a wall kept from being read
	refusing     map[int64]bool // targets of the segment that answered 401 or 403, and no wall
	listed       map[int64]bool // targets of the segment with rows of coverage
	csv          *csv.Writer
	scratch      func() (*store.Scratch, error) // creates a file to sort in
	model        *modelCheck                    // nil if no expectation has a model
	choice       string                         // why hosts of one run may be missing in the other, "" for no reason
}

func newChecker(e *List, agents []schema.Agent, file io.Writer, scratch func() (*store.Scratch, error)) *Checker {
	c := &Checker{expectations: e, agents: agents, walled: make(map[int64]bool), listed: make(map[int64]bool),
		refusing: make(map[int64]bool),
		csv:      csv.NewWriter(file), scratch: scratch}
	for _, x := range e.list {
		c.promises = append(c.promises, &Promise{Name: x.Name, Line: x.line, AtMost: x.AtMost, First: []Breach{}})
		c.coverage = append(c.coverage, newCoverage(x))
	}
	c.csv.Write([]string{"expectation", "host", "agent", "profile", "url", "found", "line"})
	return c
}

// breach counts and writes a breach of expectation i.
func (c *Checker) breach(i int, b Breach) {
	p := c.promises[i]
	p.Broken++
	if len(p.First) < maxBreaches {
		p.First = append(p.First, b)
	}
	line := ""
	if b.Line != nil {
		line = strconv.Itoa(int(*b.Line))
	}
	c.write(p.Name, b.Host, schema.OrZero(b.Agent), schema.OrZero(b.Profile), schema.OrZero(b.URL), b.Found, line)
}

// write writes a row; finish reports errors.
func (c *Checker) write(cells ...string) {
	for i, cell := range cells {
		cells[i] = visible.Cell(cell)
	}
	c.csv.Write(cells)
}

// finish judges all promises and completes the CSV file, which the caller publishes.
func (c *Checker) finish() ([]*Promise, error) {
	for i, x := range c.expectations.list {
		p := c.promises[i]
		nothing, unseen := c.gaps(i)
		if x.judge(p, nothing, unseen); p.State == Unchecked {
			c.write(p.Name, "", "", "", "", "unchecked: "+p.Note, "")
		}
	}
	c.csv.Flush()
	if err := c.csv.Error(); err != nil {
		return nil, fmt.Errorf("write expectations.csv: %w", err)
	}
	return c.promises, nil
}

// Check checks the expectations of a complete run, whose registry is agents. It
// writes all breaches to expectations.csv in the run's folder. Expectations of changes
// are left unchecked; [Diff] checks them.
func (e *List) Check(ctx context.Context, in store.Store, run string, agents []schema.Agent) ([]*Promise, error) {
	m, err := journal.ReadManifest(in, run)
	if err != nil {
		return nil, err
	}
	out, err := sink.CreateCheck(in, m)
	if err != nil {
		return nil, err
	}
	defer out.Abort()
	file, err := out.Expectations()
	if err != nil {
		return nil, fmt.Errorf("write expectations.csv: %w", err)
	}
	c := newChecker(e, agents, file, out.Scratch)
	for i, x := range e.list {
		if x.what == "no_change" {
			c.promises[i].unchecked("it is about two runs; robocensus diff checks it", false)
		}
	}
	promises, err := c.Finish(ctx, in, m)
	if err != nil {
		return nil, err
	}
	return promises, out.Commit()
}

// Finish checks the expectations of one run, the later of two, and judges all promises.
func (c *Checker) Finish(ctx context.Context, in store.Store, m *journal.Manifest) ([]*Promise, error) {
	if err := c.run(ctx, in, m); err != nil {
		return nil, err
	}
	return c.finish()
}

// run checks the expectations of one run, segment by segment. If no host of a segment
// is covered, it reads only the segment's part of fetches.
func (c *Checker) run(ctx context.Context, in store.Store, m *journal.Manifest) error {
	if err := c.expectations.readWhere(ctx, in, m, nil); err != nil {
		return err
	}
	for i := range c.expectations.list {
		if why := c.lacks(m, i); why != "" {
			c.promises[i].unchecked(why, true)
		}
	}
	parts, segments := m.BySegment()
	for _, segment := range segments {
		targets, err := c.hosts(ctx, in, parts[segment]["fetches"])
		if err != nil {
			return err
		}
		for _, table := range []string{"policies", "verdicts", "answers", "coverage"} {
			for _, p := range parts[segment][table] {
				if err := c.part(ctx, in, p, targets[table]); err != nil {
					return err
				}
			}
		}
		if err := c.ofUnlisted(ctx, in, parts[segment], targets[ofCoverage]); err != nil {
			return err
		}
		if err := c.ofModels(ctx, in, parts[segment]); err != nil {
			return err
		}
	}
	return nil
}

// lacks returns what a run lacks to check expectation k, "" for nothing.
func (c *Checker) lacks(m *journal.Manifest, k int) string {
	x := c.expectations.list[k]
	if why := x.unlabelled(m); why != "" {
		return why
	}
	if x.what == "no_change" {
		return ""
	}
	if why := unseenProfile(x, m); why != "" {
		return why
	}
	if why := unseenAgent(x, m.Run, c.agents); why != "" {
		return why
	}
	if x.isOfModel() {
		return c.lacksModel(m, k)
	}
	for _, table := range x.tables() {
		if !slices.Contains(m.Tables, table) {
			return fmt.Sprintf("run %s has no table %s", m.Run, table)
		}
	}
	if x.what == "verdict" && len(x.Category) > 0 && len(c.agents) == 0 && !slices.Contains(m.Tables, "policies") {
		return fmt.Sprintf("run %s has no table policies, which has the categories of agents", m.Run)
	}
	return ""
}

// meant returns the indices of the expectations that are checked on a table.
func (c *Checker) meant(table string) (out []int) {
	for i, x := range c.expectations.list {
		if x.table() == table && c.promises[i].State != Unchecked {
			out = append(out, i)
		}
	}
	return out
}
