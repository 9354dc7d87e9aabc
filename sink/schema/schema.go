// Package schema defines the rows of the tables: a type for each table, whose comments
// are the documentation of its columns (see README.md of package sink).
//
//	schema.go     how to add a column; versions
//	tables.go     how to add a table; what follows from its name
//	fetches.go    answers
//	files.go      groups, rules and other lines; bodies
//	agents.go     policies, verdicts and agents
//	uses.go       statements about use
//	templates.go  texts that products wrote
//	answers.go    answers to further identities
//	figures.go    counters, examples, changes, points of series
//	text.go       texts and cells as Parquet holds them
//	types.go      files whose columns have the types of rows
package schema

// To add a column:
//
//   - its field in a row type (fetches.go to figures.go), in the place that it has in the
//     table. The comment says its unit, what null means, and an example; go test ./sink -run
//     Dictionary -update copies it to README.md, and views.sql takes it from there.
//   - its value, where package evaluate makes the row (audit for changes). A header that no
//     capture has yet: the list above Headers in fetch/capture.go first.
//   - targetOf in pipeline/source/earlier/row.go, for a column of fetches that holds a
//     fact of the capture: a test misses it otherwise, and asks for a capture that has it.
//   - sink/journal/needed.go: Later, or SchemaVersion if readers cannot take its absence
//     for null; needed, if re-evaluating a run needs it; madeAnew, if it follows from these.
//   - configs/*.sql, if a derived view shows it. The views of tables take every
//     column by themselves.
//   - Foreign of its table (tables.go), if it holds what a host wrote; values in package
//     verify, if it is enumerated.
//   - the types in sink/sink_test.go and sink/duckdb/tables_test.go.

// SchemaVersion changes when a column is added or removed, or changes its name, type
// or meaning. Package verify compares the columns of parts with the row types
// exactly, and runs of another version are neither verified, resumed nor compared.
const SchemaVersion = 2

// BinsVersion changes when an edge of the bins of distributions does (see package
// summary): counts of different bins do not add up.
const BinsVersion = 1
