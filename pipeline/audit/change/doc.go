// Package change describes the rows of the table changes: the kinds of changes, their
// severities, and what the columns of each kind can hold. Package diff writes such rows;
// package expect refuses an expectation that no such row can break.
//
// It also says what it means that a host closed or opened to an agent, and counts such
// hosts by the table (closing.go, and the files closing_*.go). diff, report and series count with it,
// and the SQL view policy_changes says the same.
//
// A host closed to an agent if it forbids the agent a path that it allowed before. It
// shut the agent out if it now forbids it everything. The first is the meaning of the
// rules on all paths, the second the class of the policy. So what is shut out has also
// closed, unless it was shut out before.
//
// Only agents of the registry count: of other names in a file there is no policy to
// compare.
//
// It says the same of what files state about use (view preference_changes), and whose
// words a change is: a host whose template changed has not decided anything itself. And it
// says how hosts answer identities, for robots.txt and for a page (views answer_changes and
// page_changes), which documents of consent they have and what these state (views
// document_changes and statement_changes).
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
