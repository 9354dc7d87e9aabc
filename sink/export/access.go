package export

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Access is the table of sites and agents: a row for each site, with a column for each
// agent (see [summary.AccessTable]). Conditions on agent choose the columns of agents, and one on
// profile the profile.
const Access = "access"

// batchSites is the number of sites of a batch.
const batchSites = 1024

func (e *exporter) access() error {
	profile, agents := "", []string(nil)
	e.Where = slices.DeleteFunc(slices.Clone(e.Where), func(c Condition) bool {
		switch c.Column {
		case "agent":
			agents = c.Values
		case "profile":
			profile = c.Values[0]
		}
		return c.Column == "agent" || c.Column == "profile"
	})
	t, err := summary.ReadAccess(e.ctx, e.in, e.m, profile)
	if errors.Is(err, summary.ErrNoPolicies) {
		return fmt.Errorf("table %s %w: %w", Access, ErrNotThere, err)
	}
	if err != nil {
		return err
	}
	for _, name := range agents {
		if !slices.Contains(t.Agents, name) {
			return fmt.Errorf("agent %q %w: the run has %s", name, ErrNotThere, strings.Join(t.Agents, ", "))
		}
	}
	var site *summary.SiteAccess // of the row
	columns := []column{
		{"host", reflect.TypeFor[string](), func(reflect.Value) reflect.Value { return reflect.ValueOf(&site.Host).Elem() }},
		{"rank", reflect.TypeFor[*int64](), func(reflect.Value) reflect.Value { return reflect.ValueOf(site.Rank) }},
		{"origin", reflect.TypeFor[*string](),
			func(reflect.Value) reflect.Value { return reflect.ValueOf(schema.NonZero(site.Origin)) }},
	}
	for i, name := range t.Agents {
		if agents == nil || slices.Contains(agents, name) {
			columns = append(columns, column{name, reflect.TypeFor[string](),
				func(reflect.Value) reflect.Value { return reflect.ValueOf(&site.Access[i]).Elem() }})
		}
	}
	e.most = batchSites
	return e.rows(columns, func() error {
		return t.Sites(e.ctx, func(s *summary.SiteAccess) error {
			site = s
			return e.write(reflect.Value{})
		})
	})
}
