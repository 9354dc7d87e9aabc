// Package robots says what a robots.txt means.
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
// Compare decides whether two policies mean the same for all URLs. If they do
// not, it shows the shortest URL on which they differ.
//
// The documents that describe robots.txt disagree. A Profile is one document,
// as a value whose fields are the differences. Built in are Google's current
// parser (the default, "google"), Google's documents of 2019 and 2012, the
// standard of 1996 and RFC 9309. A copy with some fields changed is a profile
// like the others.
//
// A verdict is allow, disallow or undefined. It is undefined if the document
// leaves a choice open and the permitted choices give different verdicts.
//
// Patterns, bodies and URLs are hostile input. Parsing never fails. A verdict
// costs at most a small multiple of the bytes of the file plus rules times
// bytes of the URL's path, whatever the patterns look like.
package robots
