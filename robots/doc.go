// Package robots says what a robots.txt means.
//
// One question has one call, [Allowed]. For more, the package has the steps behind it.
//
// It consists of pure functions of bytes: no network, files, clock or log. It
// works in four steps. Each can be repeated under another profile without
// fetching anything again:
//
//	Facts   -> Profile.Answer   what the answer to the request means (RFC 9309, 2.3.1)
//	body    -> File.Parse       lines, groups, rules, remarks (2.2)
//	File    -> Judge.Load       one policy for each agent (2.2.1)
//	Policy  -> Policy.Judge     the verdict on a URL, and the rule behind it (2.2.2)
//
// Package answer has the facts and what follows from them, package usage the lines about
// use, package template the texts that products write.
//
// Compare decides whether two policies mean the same for all URLs. If they do
// not, it shows a URL on which they differ, mostly the shortest.
//
// The documents that describe robots.txt disagree. A Profile is one document,
// as a value whose fields are the differences. Built in are Google's current
// parser (the default, "google"), Google's documents of 2019 and 2012, the
// standard of 1996 and RFC 9309; and the dialects: the parsers that crawlers run, exact
// to the verdict. A copy with some fields changed is a profile
// like the others. SPECIFICATION.md, beside this file, says clause by clause what
// each of them means, and where that stands.
//
// A verdict is allow, disallow or undefined. It is undefined if the document
// leaves a choice open and the permitted choices give different verdicts.
//
// Patterns, bodies and URLs are hostile input. Parsing never fails. A verdict
// costs at most a small multiple of the bytes of the file plus rules times
// bytes of the URL's path, whatever the patterns look like.
//
// Profiles:
//
//	profile.go       the fields; how to add one, or a profile
//	yaml.go          fields outside their groups
//	profiles.go      the values of the profiles
//
// Dialects, the profiles of parsers that crawlers run. Package dialect has what they read
// otherwise:
//
//	dialect.go       which profiles are dialects
//	sorted.go        queries that are sorted before rules are asked
//	programs.go     the profiles of programs, beside those of their parsers
//	parsers.go       the values of their fields
//	groups.go        groups and ranks of rules
//	follow.go        which group an agent follows
//	odd.go           rules that match as no document's do
//	asked.go         a policy over all URLs, as far as paths show it
//
// Files:
//
//	file.go          what parsing finds
//	digest.go        groups as normalized
//	lines.go         where lines end
//	parse.go         lines
//	record.go        fields of lines, groups
//	field.go         names of fields, misspelled ones
//	extension.go     fields that decide nothing: crawl-delay, signals
//	pattern.go       rules and their patterns, whose escapes internal/rewrite compares
//	reading.go       choices that a profile leaves open
//
// Verdicts:
//
//	allowed.go       one question about one file
//	agent.go         crawlers and their tokens
//	names.go         groups by token
//	judge.go         the policies of a file
//	delay.go         the crawl-delay of an agent
//	policy.go        what of a file applies to an agent
//	ruleset.go       the rules of a group, compiled; which of them matches
//	compile.go       how they are compiled
//	patterns.go      patterns of other documents
//	match.go         patterns and paths
//	target.go        URLs
//	verdict.go       conflicts of rules; reasons
//	outcome.go       answers that decide without rules
//	class.go         a policy over all URLs
//	reach.go         how many agents a line about use binds
//	uses.go          what may be done with what is fetched
//	reach.go         how many agents a line about use binds
//	stance.go        the same over all URLs
//	stance_search.go what only several patterns show together
//
// Comparison of policies:
//
//	compare.go       how two policies relate
//	relate.go        answers that need no search, or only a part of one
//	language.go      policies as package internal/automaton, which searches, takes them
//	pairs.go         many pairs, within a bound on the work
//	pairs_store.go   what they gave, from file to file
//	probe.go         paths that rules name
//	probe_forms.go   paths on which forms of a path, or ranks of rules, part
//	written.go       policies that have the same rules, one by one
//	alike.go         others whose rules show that they mean the same
//	inert.go         patterns that match the same in all forms
//	apart.go         the others, each by itself
//	dots.go          paths with dot segments
//	monotone.go      rules that cannot change a verdict
package robots
