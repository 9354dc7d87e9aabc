// Package records reads rows of a run's tables as records for a sorter, so that two runs
// can be compared in bounded memory. A record holds the rows of one target from one
// table.
//
//	code.go       the encoding of records
//	fetched.go    rows of fetches
//	beside.go     tables that may differ where the file does not, as parts of these
//	answers.go    rows of answers
//	documents.go  rows of documents, and of preferences that these state
//	coverage.go   rows of coverage
//	details.go    rows of the other tables
//	bodies.go     bodies
//	found.go      the records of a target, by table
//	rows.go       groups, rules, policies and sitemaps
//	signals.go    signals
//	verdicts.go   verdicts
package records
