package run

import (
	"context"
	"errors"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
)

// clockSkew is how far the clocks of the machines that share a folder may differ: a date
// that much later than now is not in the future.
const clockSkew = 5 * time.Minute

// setDate sets the date that --as-of gives. Without one, a run that re-evaluates another
// takes its date, which must not be in the future either.
func (f *Flags) setDate(ctx context.Context, c *pipeline.Config) error {
	now := time.Now().UTC()
	isFuture := func(t time.Time) bool { return !f.future && t.After(now.Add(clockSkew)) }
	const then = "until then the run would be the latest, and prune would remove others; give --future if you mean it"
	if f.asOf == "" {
		if f.Config.Source.FromRun == "" {
			return nil
		}
		m, err := earlier.Head(ctx, f.Config.Source.FromRun)
		if err == nil && isFuture(m.Date) { // the source reports the error
			return cli.Usagef("--from-run %s: its date, %s, is in the future, and it is %s: give --as-of another date; "+then,
				f.Config.Source.FromRun, m.Date.Format(time.RFC3339), now.Format(time.RFC3339))
		}
		return nil
	}
	t, err := cli.ParseDate(f.asOf)
	if errors.Is(err, cli.ErrYear) {
		return cli.Usagef("--as-of %q: %w", f.asOf, err)
	}
	if err != nil {
		return cli.Usagef("--as-of %q: give a date such as 2024, 2024-05, 2024-W20, 2024-05-14 or 2024-05-14T08:00:00Z",
			f.asOf)
	}
	if isFuture(t) {
		return cli.Usagef("--as-of %q: %s is in the future, and it is %s: "+then, f.asOf, t.Format(time.RFC3339),
			now.Format(time.RFC3339))
	}
	c.AsOf = &t
	return nil
}
