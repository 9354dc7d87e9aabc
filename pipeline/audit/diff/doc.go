// Package diff compares two runs and writes the table changes.
//
// [Runs] pairs the origins of both runs. Most hosts do not change, so it reads other
// tables only for pairs whose row of fetches differs:
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
//   - [Result] counts the rows for the terminal and for JSON.
//
// The kind rules compares by meaning: package meaning parses the bodies of a pair, or
// rebuilds the files from the tables groups and rules, and finds a path on which they
// differ. Package expect checks each pair and each row against what the user expects.
//
// Package change says how to add a kind of change.
//
//	diff.go       the steps of a comparison
//	hosts.go      a comparison of some hosts, without writing
//	plan.go       what of two runs can be compared
//	join.go       pairs of origins
//	earlier.go    earlier runs, for hosts that the first run could not read
//	compare.go    the rows of a pair: reachability, classes, outcome, redirect, sitemaps, text
//	verdicts.go   verdicts
//	groups.go     groups and crawl delays
//	signals.go    signals, by agent, field, path and key
//	rules.go      rules
//	preferences.go  preferences about use
//	stated.go     what both files state about use, and in which lines
//	words.go     whose words a change is
//	answers.go    what hosts answer to identities, for robots.txt and for a page
//	documents.go  which documents of consent hosts have, and what these state
//	coverage.go   how much of what hosts list agents may fetch
//	expect.go     expectations during a comparison
//	result.go     the summary of a comparison
//	examples.go   its examples
//	ways.go       hosts that changed in the same way, for the summary and the report
package diff
