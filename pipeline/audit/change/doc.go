// Package change describes the rows of the table changes: the kinds of changes, their
// severities, and what the columns of each kind can hold. Package diff writes such rows;
// package expect refuses an expectation that no such row can break.
//
// To add a kind of change:
//
//   - kinds.go: its entry in [All], with the narrowest [Form] of each value: by it
//     expectations are refused. Own, if hosts of one template do not share it. Beside, if it
//     says nothing of the file: else it hides a change of the text.
//   - severity.go: a function, if it is not always minor; its row in severity_test.go.
//   - package diff: a method that comparison.pair calls, at the place of the entry in [All],
//     and before pair returns early, if a host has it that a run could not read. Of such a
//     host pair.outage is the row of the first run, and sides[0] may be an earlier run's.
//   - a column of fetches: records.Fetched, and settle, else a host that differs in it alone
//     counts as the same. A new table of a run: package records, and not in whole
//     (newComparison), if no verdict follows from it: else text is never cosmetic without it.
//   - examples.go of package diff, if an example for each pair of values helps.
//   - its rows in the models of tests: planted_test.go (with values that no other kind can
//     have, or plant them for that kind too), runs_test.go and the script of diff_test.go of
//     package diff; a new table where tests there name some.
//   - package words: KindMeans, and ValuesOf if its values are words of a column.
//   - package expect: seen.go, if an expectation can name a URL of it. shown.go, if the runs
//     may not be compared for another reason than Tables, Reading and Policy tell: its
//     expectations would be kept, as no row breaks them. sees in changes.go, if hosts have it
//     that a run could not read.
//   - schema.Change; go test ./sink -run Dictionary -update writes the rest.
//   - configs/schedule/README.md: its row in the table of kinds and in that of promises;
//     the kinds that are compared whatever the first profiles are, if it is one.
package change
