// Package change describes the rows of the table changes: the kinds of changes, their
// severities, and what the columns of each kind can hold. Package diff writes such rows;
// package expect refuses an expectation that no such row can break.
//
// To add a kind of change: give it a severity in severity.go, and add it to [All] with
// what its rows can hold and need.
package change
