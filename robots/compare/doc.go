// Package compare holds package robots against the Go packages that people
// use today: same files, same questions. It has tests and benchmarks only, and
// is a module of its own, so that nobody who uses robots depends on the others.
//
//	go test -v .                                who is wrong how often, and where
//	GOMAXPROCS=1 go test -run '^$' -bench . .   who is how fast, on one core
//
// The yardstick is the recorded verdict of Google's parser, for agents that
// are valid product tokens. Bodies and verdicts are kept beside the repository;
// where they are not, everything here is skipped.
//
// In favour of the others: each is used in its fastest idiomatic way; each gets
// the path and query that Google's parser makes of a URL, so that only its
// reading of the file counts; and speed is measured on the bodies that all
// packages accept. A package that refuses a file (an error) or panics has given
// no verdict, which counts as wrong, and is also counted apart.
//
// github.com/jimsmart/grobotstxt (the port of Google's parser) and
// github.com/benjaminestes/robots/v2 are not here: neither could be had as a
// module. A package is added by one entry in the list of contestants.
package compare
