// Package automaton compares two policies on all paths of URLs. It reads the path byte by
// byte with the rules of both at once, and asks after each byte what they say of a path that
// ends there.
//
// A pattern with stars has as many states as it has bytes. The patterns without stars
// together form a tree. Each way in which rules settle conflicts is a few questions, each
// of which a ladder answers: which of its rules that match ranks highest?
//
// Two policies become a language, rule by rule; a search walks its states breadth first
// and in byte order, so that the first path that it finds is the shortest.
//
// Building:
//
//	language.go   the forms of a path, patterns and ladders of two policies
//	voice.go      the rules of one reading of a policy
//	ladder.go     kinds of rules, in order of rank
//	star.go       patterns with a * inside
//
// Walking:
//
//	search.go     states, and paths to them
//	automaton.go  what a byte changes
//	verdict.go    what the policies say in a state
//	alphabet.go   bytes that matter
//	plain.go      paths without needless escapes
//	prospect.go   what can still follow
//
// Where a dialect rewrites the path, the automaton reads symbols, as package rewrite does:
//
//	symbols.go    what a symbol changes, and which matter
//	reader.go     which symbols follow each other, and what they become
//	tables.go     all of that for one state of the rewriters
package automaton
