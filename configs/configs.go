// Package configs embeds the defaults of robocensus: a registry of agents, a list
// of URL samples, and the DuckDB views over the tables. The folder schedule starts
// a census every week.
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

// Views is the beginning of views.sql: schemas and macros.
//
//go:embed views.sql
var Views string

//go:embed redirects.sql
var redirectViews string

//go:embed definitions.sql
var definitionViews string

// DerivedViews is the SQL of the views over the views of the tables. It names no
// schema, so that it can run once in each.
var DerivedViews = redirectViews + definitionViews
