// Package compare measures package robots against the Go packages in use today:
// same files, same questions. It has only tests and benchmarks. It is a
// separate module so that users of robots do not depend on the other packages.
//
//	go test -v .                                verdicts that differ, by package
//	GOMAXPROCS=1 go test -run '^$' -bench . .   speed on one core
//	go test -run '^$' -bench Parsers . -google DIR -nzrsky DIR
//	                                            parsing alone, beside two parsers in C++
//
// The reference is the recorded verdict of Google's parser, for agents that are
// valid product tokens. Bodies and verdicts are kept beside the repository;
// without them, everything here is skipped.
//
// The comparison favours the others: each is used in its fastest idiomatic way;
// each gets the path and query that Google's parser makes of a URL, so that
// only its reading of the file counts; and speed is measured on bodies that all
// packages accept. If a package refuses a file with an error or panics, its
// verdict counts as wrong and is also counted separately.
//
// Beside them, tests ask programs that are not Go packages, where they are installed: HTTrack,
// parsers in Python, Crawlee, the audit of Lighthouse, and spiderbar if SPIDERBAR names a
// command that asks it. Flags say about how many files (-httrack-files, -python-files,
// -node-files, -command-files), which ones (-draw-seed), and how many misses are shown
// (-draw-misses).
//
// github.com/jimsmart/grobotstxt (the port of Google's parser) is missing because it has no
// way to parse a file once for several questions, and github.com/benjaminestes/robots/v2
// because it is not available as a module. To add a package, add an entry to the list of
// contestants.
package compare
