// Package sink writes the tables of a census: the part files that hold their rows, and
// which of them count. Package schema defines the rows, and journal the plan, records and
// manifest that name the parts; rowio, summary, verify and export read them. Package
// captures keeps what a stopped run has fetched.
//
// A run writes one folder per table, hive-partitioned by run:
//
//	DIR/<table>/run=<ID>/part-<segment>.parquet
//	DIR/_runs/<ID>/plan.json                    the configuration, when the run starts; long ones compressed
//	DIR/_runs/<ID>/segments/<segment>.json      the record of a committed segment
//	DIR/_runs/<ID>/segments/<segment>.<table>.parquet   its counters and examples, until the run is complete
//	DIR/_runs/<ID>/captures/<segment>           captures of an uncommitted segment
//	DIR/_runs/<ID>/warc/<segment>.warc.gz       requests and answers of a segment, if kept, until the run is complete
//	DIR/_runs/<ID>/manifest.json                plan, records and parts, once the run is complete
//	DIR/_runs/<ID>/rejected.csv
//	DIR/_runs/<ID>/lock                         while a process writes the run
//	DIR/_runs/<ID>/expectations.csv, expectations.json   broken expectations, and their record
//	DIR/_runs/<ID>/against/<ID>.json            the record of a comparison
//	DIR/changes/run=<ID>/against=<ID>/part-0000000000.parquet, expectations.csv
//	DIR/views.sql
//
// A [Place] says where a run is made. A segment of a run in a folder counts in that folder
// once it is committed. A shard, and a run in an object store, is made in a spool, as an
// ordinary run in a folder of its own, and is committed to the run as one segment:
//
//	shard of the source ─► run in the spool ─► parts joined, one per table ─► record
//
// Its files have -<attempt> after the number. Until the run is complete, it also has
//
//	DIR/_runs/<ID>/lists/<shard>-<attempt>.csv.zst   the list of a planned shard
//	DIR/_runs/<ID>/segments/<shard>-<attempt>.rejected.csv
//	DIR/_runs/<ID>/heartbeats/<shard>.json      how far a shard is
//	DIR/_runs/<ID>/spool/                       uncommitted shards, unless they lie elsewhere
//
// The unit of commit is a [Segment]: a bounded number of consecutive targets of the
// input, with one part per table. Parts are written under temporary names, synced
// and renamed. Then the segment's [journal.Record], which names them, is written if it
// does not exist: from that moment they count. A program that lists the folder of a table
// may see parts before their record; the views of complete runs never do. No part or
// record is written twice or appended to, so resuming a run ([Open]) lists its
// records and removes the files that none of them names.
//
// Counters add up over segments, and the examples of a run are chosen from those of
// its segments, so the tables summary and examples have one part for the whole run.
// Until the run is complete, their rows are beside the records, where no reader of
// the tables counts them twice. [Run.Complete] adds them up, writes the manifest if
// it does not exist, and removes them.
//
// Plans, records and manifests end with their own digest. A record also contains the
// digest of its plan, the manifest those of its records. Package verify checks all of
// them, and every file that they name, against each other. A path in one of them is
// opened only if package layout gives the same one for the run, table and segment
// (see package store for links).
//
// Parts are written with parquet-go, which encodes rows of plain structs without
// allocation, after package shred has split flat rows into columns. Package
// rowio reads them into structs, a column at a time, and cells of files of other writers as
// texts. Package export makes Arrow batches of such structs.
//
// Every STRING is valid UTF-8 without NUL (see schema.Text): one bad string makes DuckDB
// refuse a whole column, and text from the network is often Latin-1.
package sink
