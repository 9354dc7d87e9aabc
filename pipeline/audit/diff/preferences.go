package diff

import (
	"maps"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// planPreferences finds the agents to which files may state other things although no host
// changed: the runs know other labels, or bind the agents by other policy tokens.
func (d *differ) planPreferences() {
	d.Unstated = make(map[string]string)
	if !slices.Contains(d.tables, records.Policies) {
		return
	}
	labels := d.Between.Labels()
	if labels != "" {
		d.note("%s: what files state about use is not compared", labels)
	}
	var bound []string
	for _, name := range slices.Sorted(maps.Keys(d.Runs[1].Category)) {
		if _, both := d.Runs[0].Category[name]; !both {
			continue
		}
		why := d.Between.States(name)
		if why == "" {
			continue
		}
		d.Unstated[name] = why
		if labels == "" && !d.Redefined[name] { // planAgents has noted it
			bound = append(bound, name)
		}
	}
	if len(bound) > 0 {
		d.note("other policy tokens bind %s, or mean something else: what files state to them about use is not compared",
			past.Some(bound, 5))
	}
}

// preferences writes a row for each use of which a file states something else to an agent,
// unless the agent is shut out in one of the runs: there nothing is stated, as the row of
// its class says.
func (c *comparison) preferences(p *pair) error {
	if !c.d.SameReading {
		return nil // the tables show statements and groups as the first profile reads them
	}
	names := c.d.names
	unknown, shut := summary.ClassNames[summary.ClassUnknown], summary.ClassNames[robots.DisallowAll]
	for i := range c.both {
		two, class := c.both[i].rows, c.both[i].class
		now := &two[1]
		if two[0].Stances == now.Stances && now.Stances == [usage.NumUses]uint64{} {
			continue // as of nearly all files
		}
		agent := names.Text(now.Agent)
		if c.d.Unstated[agent] != "" || !c.d.compares(now.Key(), p) || class[0] == unknown || class[1] == unknown {
			continue
		}
		for use := range usage.Use(usage.NumUses) {
			row := c.preferenceRow(two, use)
			switch {
			case row == nil:
			case class[0] != shut && class[1] != shut:
				if err := c.emit(*row); err != nil {
					return err
				}
			case c.d.checker != nil:
				row.Host = c.base.Host
				c.d.checker.Covered(row, classRow(agent, row.Category, *row.Profile, class))
			}
		}
	}
	return nil
}

// preferenceRow returns the row of a use, nil if the file states the same about it. If
// that depends on the path before and after, the row is undecided where the statements
// differ on which it rests.
func (c *comparison) preferenceRow(two [2]records.Policy, use usage.Use) *schema.Change {
	names := c.d.names
	agent, profile := names.Text(two[1].Agent), names.Text(two[1].Profile)
	row := &schema.Change{
		Kind: "preference", Agent: &agent, Category: c.category(agent), Profile: &profile, Use: new(use.String()),
		Before: names.Optional(two[0].Stances[use]), After: names.Optional(two[1].Stances[use]),
	}
	before, after := schema.OrZero(row.Before), schema.OrZero(row.After)
	same := before == after
	// The tables show the first profile's reading of statements and groups.
	if same && (after != robots.StancePartial.String() || !slices.Contains(c.d.tables, records.Preferences)) {
		return nil
	}
	question := c.files.about(two, use)
	if same {
		if c.files.sameBasis(question) {
			return nil
		}
		row.After = new(change.RulesUndecided)
	}
	row.Severity = change.PreferenceSeverity(schema.OrZero(row.Before), schema.OrZero(row.After))
	row.LineBefore, row.LineAfter = c.files.lines(question, before, after)
	c.setWords(row)
	if template, known := c.files.words(question); known {
		row.Template = template
	}
	return row
}
