// Package hosts reads lists of hosts: those to ask, those that filter stored captures,
// and those with ranks. Lists are text, CSV or Parquet, of any size.
//
//	list.go       List is what a run asks: its targets, and random ones of them
//	rows.go       the rows of a list, in any form; parquet.go those of Parquet
//	columns.go    the columns of a table: by their names, or by what the first line holds
//	fields.go     the fields of a line
//	look.go       holds rows back until it is clear that a list is one of hosts
//	names.go      what a text names: a host, several, or none
//	grouper.go    makes targets of rows: rows of one origin that stand together are one
//	partition.go  divides a list into the lists of shards
//	ranks.go      lists as ranks, and as a filter of stored captures
//	hashmap.go    the set of all hosts, a hash of eight bytes each
//	inspect.go    counts and identifies a list before a run
package hosts
