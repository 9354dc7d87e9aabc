// Package meaning compares two robots.txt files by what they mean for agents, and not
// by their text: do their rules give any path another verdict, and which?
//
// A [File] is a body, or is rebuilt from the tables groups and rules, which hold what
// most profiles read. [Compare] asks for the agents of a registry, and then for every
// other name that both files have. [Pairs] compares single policies.
package meaning
