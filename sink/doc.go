// Package sink holds the tables of a census: their row types, the part files
// they are written to, and the manifest that says which parts count.
//
// A run writes one folder per table, hive-partitioned by run:
//
//	DIR/<table>/run=<ID>/part-<segment>.parquet
//	DIR/_runs/<ID>/manifest.json
//	DIR/_runs/<ID>/rejected.csv
//	DIR/views.sql
//
// The unit of commit is a [Segment]: a bounded run of targets in the order of
// the input, with one part per table. Parts are written under a name that no
// reader's glob matches (*.parquet.tmp), closed, synced and renamed together;
// the manifest then names them and is replaced atomically. A reader that
// follows the manifest therefore never meets half a segment.
//
// Parts are written with parquet-go, which encodes rows of plain structs
// without allocation, and read back with arrow-go, which reads single columns
// several times faster.
//
// Every STRING is valid UTF-8 without NUL (see [Text]): one bad string makes
// DuckDB refuse a whole column, and what the network sends is often Latin-1.
package sink
