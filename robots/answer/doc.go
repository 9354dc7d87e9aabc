// Package answer says what the answer to a request for a robots.txt means (RFC 9309,
// 2.3.1).
//
// Facts are what was observed: hops, statuses, an error, the history of the origin. Their
// Kind is the part that decides. Answers are the points on which the documents differ, and
// Read gives an Answer: an outcome with its reason. Package robots has the verdicts that
// follow from one.
//
//	facts.go      facts; the table of reasons
//	failure.go    the table of error classes
//	kind.go       the part of facts that decides
//	memory.go     the kinds of earlier answers
//	answers.go    what documents differ on
//	answer.go     what follows from facts
//	program.go    what programs do with answers
//	html.go       web pages in place of a file
//	script.go     redirects by script
//	challenge.go  walls that answer in place of a file
package answer
