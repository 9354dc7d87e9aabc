// Package change describes the rows of the table changes: the kinds of changes, their
// severities, and what the columns of each kind can hold. Package diff writes such rows;
// package expect refuses an expectation that no such row can break.
//
// To add a kind of change:
//
//   - kinds.go: its entry in [All], with the narrowest [Form] of each value: by it
//     expectations are refused. Own, if hosts of one template do not share it.
//   - severity.go: a function, if it is not always minor; its row in severity_test.go.
//   - package diff: a method that comparison.pair calls, at the place of the entry in [All];
//     a new table of a run also in package records. examples.go, if an example for each pair
//     of values helps.
//   - its rows in the models of tests: planted_test.go and runs_test.go of package diff.
//   - package words: KindMeans, and ValuesOf if its values are words of a column.
//   - package expect: seen.go, if an expectation can name a URL of it.
//   - schema.Change; go test ./sink -run Dictionary -update writes the rest.
//   - configs/schedule/README.md: its row in the table of kinds and in that of promises.
package change
