package run

import (
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/pipeline"
)

// A date in the future is refused, but for what clocks may differ.
func TestADateInTheFuture(t *testing.T) {
	for after, refused := range map[time.Duration]bool{-time.Hour: false, 0: false, clockSkew - time.Minute: false,
		clockSkew + time.Minute: true, 24 * time.Hour: true} {
		for _, future := range []bool{false, true} {
			f := &Flags{asOf: time.Now().Add(after).Format(time.RFC3339), future: future}
			c := new(pipeline.Config)
			err := f.setDate(t.Context(), c)
			if want := refused && !future; want != (err != nil) || want != (c.AsOf == nil) || want &&
				(cli.ExitCodeOf(err) != cli.ExitUsage || !strings.Contains(err.Error(), "--future")) {
				t.Errorf("in %v, --future %v: %v", after, future, err)
			}
		}
	}
}
