package diff

import (
	"context"

	"github.com/robocensus/robocensus/pipeline/audit/expect"
)

// expect prepares the checker.
func (d *differ) expect(ctx context.Context) (err error) {
	if d.Expect == nil {
		return nil
	}
	d.shown = d.shows()
	d.checker, err = d.Expect.Changes(ctx, d.In, d.out, d.shown)
	return err
}

// shows returns what of the runs is compared.
func (d *differ) shows() *expect.Comparison {
	var files []string
	if d.rules != nil {
		for _, j := range d.rules.judges {
			files = append(files, j.under)
		}
	}
	return &expect.Comparison{
		Runs: d.runs, Profiles: d.common, Others: d.others, Agents: d.redefined, Unstated: d.unstated, Files: files,
		Reading: d.sameReading, Answers: d.answers, Unlisted: d.unlisted,
	}
}

// check counts a pair for the expectations. unknown are the profiles under which a
// policy of it is not known in both runs.
func (d *differ) check(p *pair, unknown []string) {
	if d.checker != nil {
		d.checker.Pair(&expect.Pair{
			Host: p.last().Host, Before: p.sides[0] != nil, After: p.sides[1] != nil, Compared: d.comparable(p),
			Unknown: unknown, Asked: d.askedAs(p), Documents: d.hasDocuments(p), Listed: d.isListed(p),
		}, d.shown)
	}
}

// expected checks the expectations of the later run itself, and judges all of them.
func (d *differ) expected(ctx context.Context) (err error) {
	if d.checker != nil {
		d.result.Expectations, err = d.checker.Finish(ctx, d.In, d.runs[1].Manifest)
	}
	return err
}
