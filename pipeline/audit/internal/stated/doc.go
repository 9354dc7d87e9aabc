// Package stated compares what two files of a host state to an agent, beside the paths
// that they close: about use, in which lines, and in whose words.
//
// [Files] answers questions about statements. A statement is for an agent if its group
// names the agent, or if a policy token binds the agent. What two files state about a use
// may differ in its lines although the words of the tables are the same, and thousands of
// agents may follow the same groups: each [Question] is answered once for all of them.
//
// [Signals] pairs the signals of two files by agent, field, path and key.
//
//	files.go      two files
//	file.go       the groups and statements of one
//	words.go      in whose words they differ
//	signals.go    signals
package stated
