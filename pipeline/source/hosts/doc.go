// Package hosts reads lists of hosts: those to ask, those that filter stored captures,
// and those with ranks. Lists are text, CSV or Parquet, of any size.
//
//	list.go       List is what a run asks: its targets, and random ones of them
//	rows.go       the rows of a list, in any form; parquet.go those of Parquet
//	grouper.go    makes targets of rows: rows of one origin that stand together are one
//	partition.go  divides a list into the lists of shards
//	ranks.go      lists as ranks, and as a filter of stored captures
//	hashmap.go    the set of all hosts, a hash of eight bytes each
//	inspect.go    counts and identifies a list before a run
package hosts
