// Package configs holds what robocensus knows without being told: a registry
// of agents, a dozen URL samples, and the DuckDB views over the tables. Beside
// it, schedule/ has what starts a census every week.
package configs

import _ "embed"

// Agents is the registry of agents, YAML.
//
//go:embed agents.yaml
var Agents []byte

// URLs is the list of URL samples, one to a line.
//
//go:embed urls.txt
var URLs []byte

// Views is how views.sql begins: schemas and macros.
//
//go:embed views.sql
var Views string

//go:embed redirects.sql
var redirectViews string

//go:embed definitions.sql
var definitionViews string

// DerivedViews is the SQL of views over those of the tables. It names no
// schema: each schema has these views over its own tables.
var DerivedViews = redirectViews + definitionViews
