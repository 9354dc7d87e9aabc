// Package change describes the rows of the table changes: the kinds of changes, their
// severities, and what the columns of each kind can hold. Package diff writes such rows;
// package expect refuses an expectation that no such row can break.
//
// To add a kind of change:
//
//   - kinds.go: its entry in [All], with the narrowest [Form] of each value: by it
//     expectations are refused. Own, if hosts of one template do not share it. Beside, if it
//     says nothing about the file; otherwise it hides changes of the text.
//   - severity.go: a function, if it is not always minor; its row in severity_test.go.
//   - package diff: a method that comparison.pair calls, at the place of the entry in [All].
//     If hosts that a run could not read have such changes, pair calls it before it returns
//     early. The row of the first run is then pair.outage, and sides[0] may be that of an
//     earlier run.
//   - If it compares a column of fetches: records.Fetched and settle; otherwise a host that
//     differs only in it counts as unchanged. If it compares a new table: package records;
//     a table that differs where the file does not is one of records.Beside.
//     If no verdict follows from the table, leave it out of whole (newComparison); otherwise
//     text is never cosmetic in runs without it.
//   - examples.go of package diff, if an example for each pair of values helps.
//   - its rows in the models of tests: planted_test.go (with values that no other kind can
//     have, or plant them for that kind too), runs_test.go and the script of diff_test.go of
//     package diff; a new table where tests there name some.
//   - package words: KindMeans, and ValuesOf if its values are words of a column.
//   - package expect: seen.go, if an expectation can name a URL of it. shown.go, if the runs
//     may not be compared for another reason than Tables, Reading and Policy tell: its
//     expectations would be kept, as no row breaks them. sees in changes.go, if hosts
//     that a run could not read have such changes.
//   - schema.Change; go test ./sink -run Dictionary -update writes the rest.
//   - configs/schedule/README.md: its row in the table of kinds and in that of promises, and
//     the sentence on first profiles that differ, if it is compared then too.
package change
