// Package documents asks hosts for the documents in which they say, beside robots.txt, what
// may be done with their content, and tells which of them are there. Package consent reads
// what they say.
//
//	documents.go  the list of documents
//	plan.go       what a host is asked for
//	found.go      what came of it
package documents
