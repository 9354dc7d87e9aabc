// Package configs embeds the defaults of robocensus, as bytes: a registry of agents,
// labels of preferences about use, templates of files, marks of walls, documents of consent, a
// list of URL samples, and SQL for DuckDB views over the tables.
//
// Package views combines the SQL with the views of the tables: views.sql comes first,
// the derived views last, once in each schema. The folders schedule (a census every
// week) and deploy (runs on many machines) are not embedded.
package configs

import "embed"

// Agents is the registry of agents, YAML.
//
//go:embed agents.yaml
var Agents []byte

// Uses is the list of labels of preferences about use, YAML.
//
//go:embed uses.yaml
var Uses []byte

// Templates is the list of templates of files, YAML.
//
//go:embed templates.yaml
var Templates []byte

// Challenges is the list of marks of walls among answers, YAML.
//
//go:embed challenges.yaml
var Challenges []byte

// CDNs is the list of marks of networks that deliver answers for others, YAML.
//
//go:embed cdns.yaml
var CDNs []byte

// Documents is the list of documents of consent, YAML.
//
//go:embed documents.yaml
var Documents []byte

// URLs is the list of URL samples, one per line.
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

//go:embed changes.sql
var changeViews string

// SeriesViews is the end of views.sql: views over all complete runs.
//
//go:embed series.sql
var SeriesViews string

// Queries holds the cookbook: the queries behind published figures, in the folder
// queries.
//
//go:embed queries/*.sql
var Queries embed.FS

// DerivedViews is the SQL of the views over the views of the tables. It names no
// schema, so that it can run once in each.
var DerivedViews = redirectViews + definitionViews + changeViews
