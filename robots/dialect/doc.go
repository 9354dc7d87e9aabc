// Package dialect reads as the parsers do that crawlers run. Its fields are what these
// parsers do and no document says; a profile has them beside its own (SPECIFICATION.md,
// dialects). Package robots makes of what it reads the groups, rules and verdicts of any
// other profile.
//
//	fields.go   the fields, and their values
//	tape.go     lines that all dialects find alike
//	records.go  other lines, and the fields of all
//	names.go    which name of a file an agent follows
//	common.go   names of which an agent's token has only a part
//	forms.go    the ways in which the pattern of a rule matches
//	order.go    rules of one length, as a sort leaves them
//
// What becomes of the escapes of patterns and URLs is in internal/rewrite.
package dialect
