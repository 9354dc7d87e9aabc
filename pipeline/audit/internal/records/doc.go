// Package records reads rows of a run's tables as records for a sorter, so that two runs
// can be compared in bounded memory. A record holds the rows of one target from one
// table.
//
//	code.go       the encoding of records
//	fetched.go    rows of fetches
//	answers.go    rows of answers, as a part of these
//	details.go    rows of the other tables
//	bodies.go     bodies
//	found.go      the records of a target, by table
//	rows.go       groups, rules, policies and sitemaps
//	signals.go    signals
//	verdicts.go   verdicts
package records
