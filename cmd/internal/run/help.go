package run

import "github.com/robocensus/robocensus/sink/journal"

var runHelp = `Asks every HOST, or every host in FILE, for its robots.txt and writes the tables
to DIR. It asks nobody, but reads stored answers, with
` + listed(journal.SourceFlags(nil), "or") + `.

FILE is a list of hosts, origins or URLs: one per line, or CSV, TSV or Parquet
with the columns host, rank, url or host_rev (a Tranco list works as it is), or one
called Website URL, Address, Top pages or the like; --column names any other.
Plain, .gz or .zst; - is standard input. Lines that are not hosts go to
DIR/_runs/ID/rejected.csv; if most lines are none, nobody is asked without --force.

After Ctrl-C, a full disk or a crash, continue with --resume: it does not ask a host
again once it has answered, and the tables are those of an undisturbed run.

Exit codes: 0 done, 1 done and an expectation is broken or cannot be checked, 64
usage, 65 bad input, 69 no host could be reached, 74 I/O, 75 ended by SIGTERM, this
machine is cut off, or another run has the --state, 130 ended by Ctrl-C.

robocensus help run says more: about sources, outages, archives, shards and object
stores, and what --json and --lines print.`

const runExamples = `  robocensus run example.com www.example.org --out out
  robocensus run --hosts tranco.csv --limit 10000 --out out
  robocensus run --warc 'crawl/*.warc.gz' --ranks tranco.csv --out out`

// runDetails follow the flags in the help of run.
const runDetails = `Hosts
  A bare host is asked over https, and over http if https gives no answer. Adjacent
  rows of one origin that have URLs become samples of that origin alone. A bare host and
  an origin of it are one host, of which the first row counts, or adjacent URLs. A line
  with several hosts is several hosts. A name without a dot is a host with --allow-private,
  with a scheme (http://intranet), or in a list without any dot whose header says host or
  is named by --column.

  The first 1,000 rows of a list (20 of a pipe, if they are good) decide whether it is one:
  if most of them name no host, the run ends before it asks anyone, unless --force is given.

An earlier run
  An earlier run that has kept its bodies is re-evaluated under any profiles as if it
  had been made under them, with its memory (--state) and its probes, and with the URLs
  that only some of its hosts have. What it did not ask for stays unknown: a redirect
  beyond those that it followed is redirect_unresolved, and a body has no more bytes
  than it kept. Its labels, its answers to identities and the pages that its hosts list
  are taken over; its documents are not, and a note says so.

Interruptions and outages
  A second Ctrl-C stops at once, without waiting for the hosts in flight (--grace).
  If this machine is cut off from the network, the run waits and asks again; it records
  no failure from that time. It stops after --outage-patience, or after 30 seconds if
  it never reached a host; --resume continues it.

Archives
  An archive at an https URL is asked for once (up to three times with --last-capture,
  or if it has revisit records whose originals are to be found in it),
  when its turn comes, and no faster than --archive-rate: all readers wait when its
  server answers 403, 429 or 503. A transfer that breaks continues at the byte where it
  broke. An archive that is named again, by another path, link or spelling, is read
  once. --resume does not read an archive again whose targets are all in the tables,
  unless some of it was rejected.

  With --sitemaps, the sitemaps of a robots.txt are found in all archives that are given,
  whatever program wrote them and in whatever order; of several captures of a sitemap the
  nearest in time to that of the robots.txt counts, and so at each redirect. A revisit
  record has the body of its original. The files are read twice for it, and some 240 bytes
  of disk are taken for a capture; so they are files of this machine whose records are
  compressed each by itself, and not in shards. An index of captures finds sitemaps in
  archives at URLs too. What robots.txt closes to robocensus is not read, as if it were
  asked for. A sitemap that no archive holds is uncaptured; a host whose robots.txt no
  archive holds has none. Files of --warc-out have the sitemaps that their run has read,
  and those alone. With --documents and --front-page, what these ask for is found in the
  same way. No archive holds a path that cannot exist, so that nobody knows whether a host
  gives the same for anything: each document found has the remark no_control.

An index of captures
  With --cdx, only the records that the index names are asked for, by their bytes, with
  one request for records that lie together. Lines that name no record of a robots.txt,
  or the same one again, are rejected, and so are those whose record is damaged or of
  another URL. Rows are in the order of archive and place; --limit takes the first of it.
  Without lengths in the index, 64 KiB are asked for, and more if a record is longer.

  An index without a line that names its columns, as grep leaves it, has those that hold
  a date, a URL, an offset and an archive. JSON may be objects or rows, one to a line or
  in an array. Of Parquet, url or url_host_name, warc_filename and warc_record_offset are
  needed, and fetch_time with --last-capture; rows of another subset than robotstxt, by a
  column or the path, are left out and counted, and so are row groups that by their
  statistics have none of the hosts of --hosts.

  A revisit record has the body of its original: at the place that its line names, in
  indexes of 12 to 14 columns and of pywb, or among the captures of all lines, by URL and
  date, by URL and digest, or by digest. It is one more request. If the original cannot
  be found or had, the answer is revisit_unresolved.

Names in a list or an index
  A list of --warc-paths or an index of --cdx may be a stranger's. With --warc-base it
  names only what is below that folder or URL, in any spelling; links below a folder are
  followed. Without, a list may name any file, an index those below the working folder,
  and both https URLs; an object store only if a flag names it, and a server with a
  special address, such as one of this machine, only if a flag names it or with
  --allow-private.

Shards
  A run of --shards N is made by N processes, one --shard each, and is complete when
  all are; see robocensus plan. What differs from the plan of the run is an error.
  Of a plain tar of --bodies, a shard reads its own files and the headers of the others;
  a compressed tar, and one at a URL, is read as a whole by each.

Object stores and URLs
  DIR may be a folder in an object store: s3://bucket/folder. The run is then made on
  this machine, in --spool, and sent when it is complete. Inputs may be URLs too, s3://
  or https://. The query of a URL, such as the signature of a signed one, is in no file
  and no message: what is left of the URL names the input. Keys, region and endpoint
  are found as AWS's own tools find them: in AWS_ACCESS_KEY_ID, AWS_PROFILE,
  AWS_REGION, and AWS_ENDPOINT_URL for other stores that speak S3.

Output of --json
  A run that completes prints one object

    {"run", "folder", "state", "hosts", "captures", "rejected", "seconds", "earlier",
     "profile", "outcomes", "reasons", "failures", "walls", "read", "unmatched", "rows",
     "expectations"}

  with hosts by outcome, reason and error class under the first profile, and rows by
  table. A host behind a wall has the outcome undefined and the reason challenge, whatever
  its status says, and counts in walls by vendor; read is the number of hosts that were
  read. Only a run over archives has captures, which its figures count; it has hosts
  where that is cheap. If the run was resumed, seconds is the time of the last process,
  and earlier the number of hosts that were asked or judged before it, otherwise 0. A
  run that was already complete has no seconds, earlier, outcomes, reasons, failures,
  walls or read.
  Beside stored answers, unmatched is the number of hosts of --hosts that have none; it
  is absent if not all answers were read. A shard prints

    {"run", "folder", "state", "shard", "shards", "uncommitted", "won", "hosts", "rejected"}

  with hosts and rejected null if another process made the shard. A run that
  fails prints nothing to standard output. Progress and notes go to standard error.

Output of --lines
  Each host is printed as an object on a line of its own as soon as it has answered or
  failed, in no order, and the summary goes to standard error:

    {"seq", "host", "origin", "rank", "outcome", "reason", "status", "error_class", "challenge",
     "bytes", "groups", "rules", "closed"}

  with the values of the tables under the first profile; challenge is the vendor of a
  wall that answered, so that the host is unread; groups and rules are null where no file
  was read; closed lists the agents that are shut out. A resumed run prints the hosts that
  were not committed, some for a second time. If the reader closes the pipe, the run
  ends; --resume continues it.

More examples
  robocensus run --hosts tranco.csv --limit 10000 --out out --lines | jq -r 'select(.closed != []) | .host'
  zcat hosts.gz | robocensus run --hosts - --out out --schemes https
  robocensus run --warc-paths https://data.commoncrawl.org/crawl-data/CC-MAIN-2026-43/robotstxt.paths.gz \
      --warc-base https://data.commoncrawl.org/ --sample 0.01 --run 2026-43 --out out
  robocensus run --cdx robots-2019.cdxj.gz --warc-base s3://archive/warcs/ --run 2019 --out out
  robocensus run --from-run out/_runs/20261120T101500Z --agents mine.yaml --out out
  cd out && duckdb -init views.sql`
