// Package sink writes the tables of a census: their row types, the part files
// that hold them, and the records that say which parts count. Packages scan,
// summary, verify and export, below it, read them.
//
// A run writes one folder per table, hive-partitioned by run:
//
//	DIR/<table>/run=<ID>/part-<segment>.parquet
//	DIR/_runs/<ID>/plan.json                    what is asked, when the run begins
//	DIR/_runs/<ID>/segments/<segment>.json      the record of a committed segment
//	DIR/_runs/<ID>/segments/<segment>.<table>.parquet   its counters and examples, until the run is complete
//	DIR/_runs/<ID>/manifest.json                all of it, once the run is complete
//	DIR/_runs/<ID>/rejected.csv
//	DIR/_runs/<ID>/lock                         while a process writes the run
//	DIR/_runs/<ID>/expectations.csv, expectations.json   what is broken, and the record of that
//	DIR/_runs/<ID>/against/<ID>.json            the record of a comparison
//	DIR/changes/run=<ID>/against=<ID>/part-<0>.parquet, expectations.csv
//	DIR/views.sql
//
// The unit of commit is a [Segment]: a bounded run of targets in the order of
// the input, with one part per table. Parts are written under temporary names,
// synced and renamed together. Then the segment's [Record], which names them,
// is written if it is absent: from that moment they count. Nothing is written
// twice and nothing is appended to, so that resuming a run ([Open]) is to list
// its records and to remove what none of them names.
//
// Counters add up over segments, and examples of a few hosts are chosen from
// them, so the tables summary and examples have one part for the whole run. Until
// the run is complete they lie beside the records, where no reader of the tables
// counts them twice. [Run.Complete] takes what they come to, writes the manifest
// if it is absent, and removes them.
//
// Plan, records and manifest end with their own digest, and name the digests of
// what they belong to: a record that of the plan, the manifest those of the
// records. Package verify checks all of them, and every file that they name,
// against each other. A path that one of them names is opened only if it is the one
// that run, table and segment give (see package store for links).
//
// Parts are written with parquet-go, which encodes rows of plain structs
// without allocation, after package shred has taken flat rows apart. They are
// read back with arrow-go (see package scan), which reads single columns several
// times faster.
//
// Every STRING is valid UTF-8 without NUL (see [Text]): one bad string makes
// DuckDB refuse a whole column, and what the network sends is often Latin-1.
package sink
