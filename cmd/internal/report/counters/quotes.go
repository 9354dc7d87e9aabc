package counters

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/sink/views"
	"github.com/robocensus/robocensus/sink/visible"
)

// StratumOrder orders strata by their first rank, those without one last.
const StratumOrder = "try_cast(split_part(stratum, '-', 1) AS BIGINT) NULLS LAST"

// QuoteAll quotes names of registries or files for SQL, as a list.
func QuoteAll(names []string) string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = quoteVisible(name)
	}
	return strings.Join(out, ", ")
}

// quoteVisible quotes a text of a registry or a file for SQL. A character that does
// not show, or that reverses text, is written by its number.
func quoteVisible(s string) string {
	var out strings.Builder
	for _, r := range s {
		if text := string(r); visible.Text(text) != text {
			fmt.Fprintf(&out, "' || chr(%d) || '", r)
		} else {
			out.WriteString(strings.ReplaceAll(text, "'", "''"))
		}
	}
	return "'" + out.String() + "'"
}

// SumIf returns a column that sums the counters for which condition holds.
func SumIf(condition, name string) string {
	return fmt.Sprintf("coalesce(sum(count) FILTER (%s), 0)::BIGINT AS %s", condition, name)
}

// SumKeys returns a column for each key, which sums its counters.
func SumKeys(keys ...string) string {
	var out []string
	for _, key := range keys {
		out = append(out, SumIf("key = "+views.Quote(key), key))
	}
	return strings.Join(out, ",\n  ")
}

// Digits returns n as a cell.
func Digits(n int64) string { return fmt.Sprint(n) }
