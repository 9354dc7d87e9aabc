// Package audit compares two runs and checks what was promised about one run,
// or about what changed between two.
//
// [Diff] sorts the targets of both runs by host, on disk beyond some
// megabytes, and reads the other tables only for hosts whose answer, text or
// configuration differs. It writes the table changes. [Expectations] are
// promises of the user, checked against the tables.
package audit
