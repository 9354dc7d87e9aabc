// Package input opens the files of a source, on this machine or at a URL, to read each
// once from its beginning, and accounts for what of them is not a target, so that no line
// is lost silently.
//
//	open.go      opens a file, a pipe or an object; identifies it by its size and its ends
//	url.go       opens, copies and finds objects, and tells a wrong input from a failed server
//	text.go      lines of text, plain or compressed, of bounded length
//	list.go      a list of hosts or URLs: text or Parquet
//	rejected.go  Account writes rejected.csv and counts what is skipped; rejected_merge.go joins
//	             the files of shards
//
// Stored robots.txt files are those of a folder or of a tar, each named by its host, or
// called robots.txt in a folder that is:
//
//	bodies.go         the files of a folder or tar, in order
//	bodies_skip.go    a plain tar, without the files that nobody reads
//	bodies_origin.go  the host that a name stands for
//	bodies_index.go   files by their digests and origins, for the rows of an earlier run
package input
