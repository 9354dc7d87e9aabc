// Package sink holds the tables of a census: their row types, the part files
// they are written to, and the manifest that says which parts count.
//
// A run writes one folder per table, hive-partitioned by run:
//
//	DIR/<table>/run=<ID>/part-<segment>.parquet
//	DIR/_runs/<ID>/manifest.json
//	DIR/_runs/<ID>/segments.jsonl   while the run is under way
//	DIR/_runs/<ID>/lock             while a process writes it
//	DIR/_runs/<ID>/rejected.csv
//	DIR/_runs/<ID>/summary.parquet  what the parts come to, and
//	DIR/_runs/<ID>/examples.parquet of these too, once the run is complete
//	DIR/changes/run=<ID>/against=<ID>/part-000000.parquet   of a comparison
//	DIR/views.sql
//
// The unit of commit is a [Segment]: a bounded run of targets in the order of
// the input, with one part per table. Parts are written under a name that no
// reader's glob matches (*.parquet.tmp), closed, synced and renamed together.
// Then a line that names them is appended to the journal, segments.jsonl, and
// synced: from that moment they count. When the run is complete, its manifest
// takes them all in, is replaced atomically, and the journal goes. A reader
// that follows [ReadManifest] therefore never meets half a segment, and a run
// that was interrupted, however that came, goes on where it was ([Open]).
//
// Parts are written with parquet-go, which encodes rows of plain structs
// without allocation, and read back with arrow-go, which reads single columns
// several times faster. Rows of tables without lists are taken apart here (see
// shredder). Of the time of a run on stored captures, all tables and 200
// verdicts for each, reading takes a fifth, taking flat rows apart and encoding
// their pages a third, zstd a seventh, most of it for dictionaries of hosts and
// patterns, parsing and judging a tenth, the rows of fetches and groups 6 %.
//
// Every STRING is valid UTF-8 without NUL (see [Text]): one bad string makes
// DuckDB refuse a whole column, and what the network sends is often Latin-1.
package sink
