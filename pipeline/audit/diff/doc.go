// Package audit compares two runs, and checks what the user expects of a run or of
// the changes between two.
//
// [Diff] pairs the origins of both runs and writes the table changes. Most hosts do
// not change, so it reads other tables only for pairs whose row of fetches differs:
//
//	fetches of A ─► sorted by host ─┐          ┌─ tables of A ─► sorted by pair ─┐
//	                                ├─► pairs ─┤ (those that may differ)         ├─► changes
//	fetches of B ─► sorted by host ─┘          └─ tables of B ─► sorted by pair ─┘
//
// The lists of the runs may differ and be in any order. Sorting uses the disk beyond
// some megabytes. A comparison has these steps:
//
//   - differ.open decides by package past what can be compared; notes say what
//     cannot.
//   - differ.fetches and differ.join sort and pair the rows of fetches.
//   - differ.lookBack finds the state before of hosts that the first run could not read,
//     in earlier runs.
//   - differ.details reads the other tables for the pairs that may differ.
//   - comparison.pair writes the rows of a pair, one method for each kind of change.
//     A host without a state before or after that could be read has one row only.
//   - DiffResult counts the rows for the terminal and for JSON.
//
// The kind rules compares by meaning: it parses the bodies of a pair, or rebuilds the
// files from the tables groups and rules, and asks package robots for a path on which
// they differ.
//
// [Expectations] are parsed from YAML. A checker compares them with the tables of a
// run and with the rows of a comparison, and each becomes a [Promise]: kept, broken or
// unchecked. Expectations use the same readers and the same comparison by meaning as
// Diff, and are therefore in this package.
//
// To add a kind of change: give it a severity in severity.go, add it to changeKinds with
// what its rows can hold and need, write its rows in a method that comparison.pair calls,
// name it in package words, and describe it in configs/schedule/README.md and sink.Change.
//
//	diff.go             the steps of a comparison
//	diff_plan.go        what of two runs can be compared
//	diff_read.go        rows of fetches and of the other tables, as records
//	diff_code.go        the encoding of records
//	diff_texts.go       columns of texts that repeat
//	diff_sort.go        sorting records in bounded memory
//	diff_join.go        pairs of origins
//	diff_earlier.go     earlier runs, for hosts that the first run could not read
//	diff_compare.go     the rows of a pair: reachability, classes, outcome, redirect, sitemaps, text
//	diff_verdicts.go    verdicts
//	diff_groups.go      groups and crawl delays
//	diff_signals.go     signals
//	diff_rules.go       rules
//	kinds.go            the kinds of changes, and what their rows can hold
//	severity.go         severities
//	diff_result.go      the summary of a comparison
//	diff_examples.go    its examples
//	ways.go             hosts that changed in the same way, for Diff and the report
//	diff_expect.go      expectations during a comparison
//	diff_first.go       the agents and paths that a run judged
//
//	rules_compare.go    two files compared by meaning, for all agents
//	policy_pairs.go     two policies compared, each distinct pair once
//	rebuild.go          files from the tables groups and rules
//	profiles.go         agents and profiles as other files here take them
//
//	expect.go           expectations and their syntax
//	expect_valid.go     mistakes in them
//	expect_scope.go     promises of changes that none can break
//	expect_fit.go       whether a run can show what they need
//	expect_check.go     checking a run
//	expect_rows.go      checking rows of fetches, policies and verdicts
//	expect_model.go     comparing hosts with a model file
//	expect_changes.go   checking rows of changes
//	expect_seen.go      which hosts and URLs of a promise were seen
//	expect_promise.go   results
package diff
