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
	d.Files = d.rules.under()
	d.checker, err = d.Expect.Changes(ctx, d.In, d.out, &d.Comparison)
	return err
}

// under returns the profiles under which rules are compared by meaning, once for each judge.
func (r *rulesDiff) under() (names []string) {
	if r != nil {
		for _, j := range r.judges {
			names = append(names, j.under)
		}
	}
	return names
}

// check counts a pair for the expectations. unknown are the profiles under which a
// policy of it is not known in both runs.
func (d *differ) check(p *pair, unknown []string) {
	if d.checker != nil {
		d.checker.Pair(&expect.Pair{
			Host: p.last().Host, Before: p.sides[0] != nil, After: p.sides[1] != nil, Compared: d.comparable(p),
			Unknown: unknown, Asked: d.askedAs(p), Documents: d.hasDocuments(p), Listed: d.isListed(p),
		}, &d.Comparison)
	}
}

// expected checks the expectations of the later run itself, and judges all of them.
func (d *differ) expected(ctx context.Context) (err error) {
	if d.checker != nil {
		d.result.Expectations, err = d.checker.Finish(ctx, d.In, d.Runs[1].Manifest)
	}
	return err
}
