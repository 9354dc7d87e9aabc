package export

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

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
	fields := []arrow.Field{
		{Name: "host", Type: arrow.BinaryTypes.String}, {Name: "rank", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "origin", Type: arrow.BinaryTypes.String, Nullable: true},
	}
	var shown []int
	for i, name := range t.Agents {
		if agents == nil || slices.Contains(agents, name) {
			shown, fields = append(shown, i), append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
		}
	}
	columns := arrow.NewSchema(fields, nil)
	if err := e.check(columns, &view{}); err != nil {
		return err
	}
	if err := e.begin(columns, &view{}); err != nil {
		return err
	}
	rows := array.NewRecordBuilder(memory.DefaultAllocator, columns)
	defer rows.Release()
	n := 0
	flush := func() error {
		batch := rows.NewRecordBatch()
		defer batch.Release()
		n = 0
		return e.write(batch)
	}
	err = t.Sites(e.ctx, func(s *summary.SiteAccess) error {
		rows.Field(0).(*array.StringBuilder).Append(s.Host)
		if ranks := rows.Field(1).(*array.Int64Builder); s.Rank != nil {
			ranks.Append(*s.Rank)
		} else {
			ranks.AppendNull()
		}
		if origins := rows.Field(2).(*array.StringBuilder); s.Origin != "" {
			origins.Append(s.Origin)
		} else {
			origins.AppendNull()
		}
		for k, agent := range shown {
			rows.Field(3 + k).(*array.StringBuilder).Append(s.Access[agent])
		}
		if n++; n < batchSites {
			return nil
		}
		return flush()
	})
	if err != nil {
		return err
	}
	return flush()
}
