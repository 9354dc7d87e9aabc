// Package configs holds what robocensus knows without being told: a registry
// of agents, a dozen URL samples, and the DuckDB views over the tables. Beside
// it, schedule/ has what starts a census every week.
package configs

import (
	_ "embed"
	"slices"
	"strings"
)

// Agents is the registry of agents, YAML.
//
//go:embed agents.yaml
var Agents []byte

// URLs is the list of URL samples, one to a line.
//
//go:embed urls.txt
var URLs []byte

//go:embed views.sql
var tableViews string

//go:embed redirects.sql
var redirectViews string

//go:embed definitions.sql
var definitionViews string

// Views is the SQL of the views that can be made where the given tables are
// there. DuckDB refuses to make a view over files that do not exist.
func Views(tables []string) string {
	head, blocks, _ := strings.Cut(tableViews+redirectViews+definitionViews, "\n-- needs: ")
	out := head + "\n"
	for block := range strings.SplitSeq(blocks, "\n-- needs: ") {
		needs, sql, _ := strings.Cut(block, "\n")
		missing := false
		for table := range strings.SplitSeq(needs, ",") {
			missing = missing || !slices.Contains(tables, strings.TrimSpace(table))
		}
		if !missing {
			out += "\n" + strings.TrimSpace(sql) + "\n"
		}
	}
	return out
}
