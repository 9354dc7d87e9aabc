package diff

import (
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// planCoverage decides whether it is compared how much of what hosts list agents may fetch.
// Only runs that were told to read sitemaps have it.
func (d *differ) planCoverage() {
	with := func(m *past.Run) bool { return slices.Contains(m.Tables, "coverage") }
	if !slices.ContainsFunc(d.Runs[:], with) {
		return
	}
	lack, other := d.lacking(with), d.Between.Sitemaps()
	switch {
	case lack != "":
		d.Unlisted = lack + " no such table"
	case !d.SameReading:
		d.Unlisted = "the first profile reads which sitemaps a file names"
	case other != "":
		d.Unlisted = other
	default:
		d.beside[records.OfCoverage] = true
		return
	}
	d.note("coverage is not compared: %s", d.Unlisted)
}

// isListed reports whether both runs know what the host of a pair lists.
func (d *differ) isListed(p *pair) bool {
	return d.beside[records.OfCoverage] && p.sides[0] != nil && p.sides[1] != nil && len(p.sides[0].Coverage()) > 0 &&
		len(p.sides[1].Coverage()) > 0
}

// coverage writes a row for each agent that may fetch another share of what the host lists,
// unless the row of the policy's class says it.
func (c *comparison) coverage(p *pair) error {
	if !c.d.beside[records.OfCoverage] || p.sides[0].Alike(p.sides[1], records.OfCoverage) {
		return nil
	}
	was := make(map[records.PolicyKey]records.Covered)
	for _, x := range p.sides[0].Coverage() {
		was[x.Key()] = x
	}
	texts := c.d.names.Texts()
	for _, now := range p.sides[1].Coverage() {
		before, ok := was[now.Key()]
		if !ok || !c.d.compares(now.Key(), p) || !change.CoverageChanged(before.Pages, now.Pages) {
			continue
		}
		agent, profile := texts[now.Agent], texts[now.Profile]
		row := schema.Change{
			Kind: "coverage", Agent: &agent, Category: c.category(agent), Profile: &profile,
			Before: new(change.Coverage(before.Pages)), After: new(change.Coverage(now.Pages)),
			LineBefore: schema.NonZero(before.Line), LineAfter: schema.NonZero(now.Line),
		}
		row.Severity = change.CoverageSeverity(*row.Before, *row.After)
		if class := (classes2{texts[before.Class], texts[now.Class]}); class.changed() &&
			class[1] != summary.ClassNames[robots.Partial] {
			if c.d.checker != nil {
				row.Host = c.base.Host
				c.d.checker.Covered(&row, classRow(agent, row.Category, profile, class))
			}
			continue
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}
