// Package journal holds the documents of a run, which say what it is and which of its
// files count: the plan, the records of committed segments and shards, the manifest, and
// the records of comparisons. Package sink writes them, in an order that no crash harms
// (see there). To read a run, begin with these documents.
//
//	plan.go        what a run was asked to do; which shard has which hosts
//	settings.go    the settings in a plan, and what follows from each
//	stored.go      the kinds of stored answers that a run reads
//	same.go        how two plans differ
//	record.go      the parts of a committed segment or shard
//	warc.go        its requests and answers
//	manifest.go    plan, records and parts together, and what a complete run must name
//	head.go        a manifest without its records and parts, which are most of it
//	date.go        the date of a run, by which runs are ordered
//	comparison.go  the record of a comparison, or of a check of expectations
//	captures.go    the captures of a segment that is not committed
//	runs.go        the runs of an output folder, and their states
//	needed.go      the columns without which a run cannot be re-evaluated
//	seal.go        the digest at the end of each document
//
// A document is believed only as far as it can be checked. Its digest shows every change,
// it must be that of its run, and a path in it must be the one that package layout gives
// for the run, table and segment.
package journal
