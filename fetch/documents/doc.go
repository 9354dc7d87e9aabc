// Package documents asks hosts for the documents in which they say, beside robots.txt, what
// may be done with their content, and tells which of them are there. Package consent reads
// what they say.
//
// It also asks for one page of a host under each further identity, and tells what each met:
// what the server does, beside what robots.txt says.
//
//	documents.go   the list of documents
//	plan.go        what a host is asked for
//	found.go       what came of it
//	page_plan.go   what identities ask, of whom, and when not
//	page_found.go  what came of it
package documents
