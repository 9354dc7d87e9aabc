package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
)

// figuresName is the query that gives the figures of the data sheet from the tables.
const figuresName = queriesFolder + "/datasheet.sql"

// counted returns the table of a published run that gives the hosts by a column of
// fetches, or "".
func counted(m *sink.Manifest, column string) string {
	switch {
	case slices.Contains(m.Tables, "fetches") && !slices.Contains(m.Without, "fetches."+column):
		return "fetches"
	case slices.Contains(m.Tables, "summary"):
		return "summary"
	}
	return ""
}

// figures returns one query with a row for each figure of the data sheet. The sheet
// takes its figures from manifests and counters; the query counts rows wherever the
// published tables have them.
func (p *publisher) figures() string {
	var union []string
	add := func(format string, args ...any) { union = append(union, fmt.Sprintf(format, args...)) }
	for _, table := range p.selection.tables {
		if table == layout.Changes && len(p.changes) > 0 || slices.ContainsFunc(p.runs, func(m *sink.Manifest) bool { return len(m.PartsOf(table)) > 0 }) {
			add("SELECT NULL, 'rows', '%s', count(*) FROM history.%s", table, table)
		}
	}
	for i, m := range p.runs {
		manifest := layout.RunFile(m.Run, layout.ManifestName)
		add("SELECT '%s', 'rejected', NULL, rejected FROM read_json('%s', columns = {rejected: 'BIGINT'})", m.Run, manifest)
		if len(m.Skipped) > 0 {
			add("SELECT '%s', 'skipped', unnest(map_keys(skipped)), unnest(map_values(skipped)) FROM read_json('%s', columns = {skipped: 'MAP(VARCHAR, BIGINT)'})", m.Run, manifest)
		}
		if !slices.Contains(p.Runs[i].Tables, "summary") {
			continue // the sheet has no more figures
		}
		for _, column := range []string{"outcome", "error_class"} {
			switch counted(m, column) {
			case "fetches":
				add("SELECT '%s', '%s', %s, count(*) FROM history.fetches WHERE run = '%[1]s' AND %[3]s IS NOT NULL GROUP BY ALL", m.Run, column, column)
			case "summary":
				add("SELECT '%s', '%s', key, sum(count)::BIGINT FROM history.summary WHERE run = '%[1]s' AND metric = '%[2]s' AND profile IS NOT DISTINCT FROM %s GROUP BY ALL",
					m.Run, column, map[string]string{"outcome": "'" + strings.ReplaceAll(m.Profiles[0], "'", "''") + "'", "error_class": "NULL"}[column])
			}
		}
	}
	return "-- The figures of DATASHEET.md, from the tables: the rows of each table, and what each run lacks. skipped and\n" +
		"-- rejected are lines of the input, outcome and error_class are hosts. Run it in the folder of the data set.\n" +
		"WITH figures(run, figure, key, n) AS (\n" + strings.Join(union, "\nUNION ALL ") + "\n)\nFROM figures ORDER BY run NULLS FIRST, figure, n DESC, key\n"
}
