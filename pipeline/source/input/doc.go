// Package input opens the files of a source, on this machine or at a URL, to read each
// once from its beginning.
//
//	open.go  opens a file, a pipe or an object; identifies it by its size and its ends
//	url.go   opens, copies and finds objects, and tells a wrong input from a failed server
//	text.go  lines of text, plain or compressed, of bounded length
package input
