package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/views"
)

// figuresName is the query that gives the figures of the data sheet from the tables.
const figuresName = queriesFolder + "/datasheet.sql"

// mostValues bounds the values of a column that are counted one by one: a run writes a
// dozen, but somebody else may have written the part.
const mostValues = 1000

// countingTable returns the table of a published run that gives the hosts, or the hosts by a
// column of fetches; "" for none.
func countingTable(m *journal.Manifest, column string) string {
	switch {
	case slices.Contains(m.Tables, "fetches") && !slices.Contains(m.Without, "fetches."+column):
		return "fetches"
	case slices.Contains(m.Tables, "summary"):
		return "summary"
	}
	return ""
}

// countedColumns are the columns of fetches by which the data sheet counts hosts.
var countedColumns = []string{"outcome", "challenge", "error_class"}

// countsWalls reports whether a published run says which hosts a wall kept from being read.
// Without, nobody can tell, and outcomes are those of the status.
func countsWalls(m *journal.Manifest) bool {
	return countingTable(m, "challenge") == countingTable(m, "outcome")
}

// counted has the columns of fetches by which hosts are counted.
type counted struct {
	Outcome    *string `parquet:"outcome"`
	Challenge  *string `parquet:"challenge"`
	ErrorClass *string `parquet:"error_class"`
}

func (c *counted) by(column string) *string {
	switch column {
	case "outcome":
		return c.Outcome
	case "challenge":
		return c.Challenge
	}
	return c.ErrorClass
}

// hostsBy counts the hosts of a published run by a column of fetches, nil if no table
// gives them. A host behind a wall has no outcome.
func hostsBy(ctx context.Context, in store.Store, m *journal.Manifest, column string) (map[string]int64, error) {
	of := make(map[string]int64)
	switch countingTable(m, column) {
	case "fetches":
		what := rowio.Selection{Columns: []string{column}}
		byWall := column == "outcome" && countsWalls(m)
		if byWall {
			what.Columns = append(what.Columns, "challenge")
		}
		err := rowio.Of(ctx, in, m.PartsOf("fetches"), what, func(batch []counted) error {
			for i := range batch {
				row := &batch[i]
				value := row.by(column)
				if value == nil || byWall && row.Challenge != nil {
					continue
				}
				if _, known := of[*value]; !known && len(of) == mostValues {
					value = new("others")
				}
				of[*value]++
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	case "summary":
		counts, err := summary.Read(ctx, in, m)
		if err != nil {
			return nil, err
		}
		for _, c := range counts.List() {
			switch vendor, _, _ := strings.Cut(c.Key, " "); {
			case c.Profile != "" && c.Profile != m.FirstProfile():
			case c.Metric == column && column != "challenge":
				of[c.Key] += c.N
			case c.Metric == column && vendor != summary.NoChallenge:
				of[vendor] += c.N
			case c.Metric == "challenge_outcome" && column == "outcome":
				of[c.Key] -= c.N
			}
		}
	default:
		return nil, nil
	}
	maps.DeleteFunc(of, func(_ string, n int64) bool { return n == 0 })
	return of, nil
}

// figures returns one query with a row for each figure of the data sheet, which counts
// rows wherever the published tables have them.
func (p *dataSet) figures() string {
	var union []string
	add := func(format string, args ...any) { union = append(union, fmt.Sprintf(format, args...)) }
	for _, table := range p.Selection.tables {
		hasParts := func(m *journal.Manifest) bool { return len(m.PartsOf(table)) > 0 }
		if table == layout.Changes && len(p.Changes) > 0 || slices.ContainsFunc(p.Published, hasParts) {
			add("SELECT NULL, 'rows', '%s', count(*) FROM history.%s", table, table)
		}
	}
	for _, m := range p.Published {
		manifest := layout.RunFile(m.Run, layout.ManifestName)
		add("SELECT '%s', 'rejected', NULL, rejected FROM read_json('%s', columns = {rejected: 'BIGINT'})",
			m.Run, manifest)
		if len(m.Skipped) > 0 {
			add("SELECT '%s', 'skipped', unnest(map_keys(skipped)), unnest(map_values(skipped))"+
				" FROM read_json('%s', columns = {skipped: 'MAP(VARCHAR, BIGINT)'})", m.Run, manifest)
		}
		for _, column := range countedColumns {
			switch countingTable(m, column) {
			case "fetches":
				where := ""
				if column == "outcome" && countsWalls(m) {
					where = " AND challenge IS NULL"
				}
				add("SELECT '%s', '%s', %s, count(*) FROM history.fetches"+
					" WHERE run = '%[1]s' AND %[3]s IS NOT NULL%s GROUP BY ALL", m.Run, column, column, where)
			case "summary":
				key, count, where := "key", "count", "metric = 'error_class'"
				switch profile := " AND profile = " + views.Quote(m.FirstProfile()); column {
				case "outcome":
					count = "CASE metric WHEN 'outcome' THEN count ELSE -count END"
					where = "metric IN ('outcome', 'challenge_outcome')" + profile
				case "challenge":
					key, where = "split_part(key, ' ', 1)", "metric = 'challenge'"+profile
				}
				add("SELECT '%s', '%s', %s, sum(%s)::BIGINT FROM history.summary"+
					" WHERE run = '%[1]s' AND %[5]s GROUP BY %[3]s HAVING sum(%[4]s) > 0", m.Run, column, key, count, where)
			}
		}
	}
	return "-- The figures of DATASHEET.md, from the tables: the rows of each table, and what each run lacks. skipped " +
		"and\n" +
		"-- rejected are lines of the input, outcome and error_class are hosts. Run it in the folder of the data set.\n" +
		"WITH figures(run, figure, key, n) AS (\n" + strings.Join(union, "\nUNION ALL ") +
		"\n)\nFROM figures ORDER BY run NULLS FIRST, figure, n DESC, key\n"
}
