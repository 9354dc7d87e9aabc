package views

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
)

// listOf returns the view of the complete runs with their dates. It is a list, because
// DuckDB would have to read every manifest.
func listOf(runs []*journal.Manifest) string {
	var out strings.Builder
	out.WriteString("\n-- The complete runs, by date.\nCREATE OR REPLACE VIEW history.runs AS SELECT * FROM (VALUES")
	if len(runs) == 0 {
		out.WriteString("\n  (NULL::VARCHAR, NULL::TIMESTAMPTZ)) r(run, date) WHERE run IS NOT NULL;\n")
		return out.String()
	}
	for i, m := range runs {
		if i > 0 {
			out.WriteString(",")
		}
		fmt.Fprintf(&out, "\n  (%s, TIMESTAMPTZ %s)", Quote(m.Run),
			Quote(m.Date.UTC().Format("2006-01-02 15:04:05.999999+00")))
	}
	out.WriteString(") r(run, date);\n")
	return out.String()
}
