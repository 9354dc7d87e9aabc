package diff

import (
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/stated"
	"github.com/robocensus/robocensus/sink/schema"
)

// signals writes a row for each signal that appeared, disappeared or changed its value.
func (c *comparison) signals(p *pair) error {
	changed, coarse := stated.Signals(&p.rows)
	c.coarse = coarse
	for _, s := range changed {
		row := schema.Change{
			Kind: "signal", Severity: change.SignalSeverity(s.Field),
			Before: s.Before, After: s.After, LineBefore: s.LineBefore, LineAfter: s.LineAfter,
		}
		if s.Agent != "" {
			row.Agent, row.Category = c.named(s.Agent)
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}
