// Package expect checks what the user expects of a run, or of the changes between two.
//
// [Parse] reads a [List] of expectations from YAML and refuses those that nothing can
// break: they would promise nothing. A [Checker] compares the list with the tables of a
// run ([List.Check]), and with the rows of a comparison as package diff writes them
// ([List.Changes]). Each expectation becomes a [Promise]: kept, broken or unchecked. A
// promise is kept only if a row that breaks it would have been found.
//
//	expect.go    expectations and their syntax
//	valid.go     mistakes in them
//	scope.go     promises of changes that none can break
//	fit.go       whether a run can show what they need
//	check.go     checking a run
//	rows.go      checking rows of fetches, policies and verdicts
//	answers.go   checking answers to further identities
//	coverage.go  checking how much of what hosts list agents may fetch
//	model.go     comparing hosts with a model file
//	shown.go     what a comparison of two runs shows
//	changes.go   checking rows of changes
//	seen.go      which hosts and URLs of a promise were seen
//	first.go     the agents and paths that a run judged
//	promise.go   results
package expect
