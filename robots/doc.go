// Package robots says what a robots.txt means.
//
// It holds the meaning and nothing else: pure functions of bytes, without
// network, files, clock or log. The work goes in four steps, and each can be
// repeated under another profile without fetching anything again:
//
//	Facts   -> Profile.Answer   what the answer to the request means (RFC 9309, 2.3.1)
//	body    -> File.Parse       lines, groups, rules, remarks (2.2)
//	File    -> Judge.Load       one policy for each agent (2.2.1)
//	Policy  -> Policy.Judge     the verdict on a URL, and the rule behind it (2.2.2)
//
// Compare says of two policies whether they mean the same for all URLs, and
// where not, shows the shortest one.
//
// The documents that describe robots.txt disagree, and each generation is a
// Profile: a value whose fields are the differences. Google's parser of today
// (the default, "google"), Google's documents of 2019 and 2012, the standard
// of 1996 and RFC 9309 are built in; a copy with some fields changed is a
// profile like the others.
//
// A verdict is allow, disallow or undefined. Undefined says that the document
// leaves a choice open and that the permitted choices give different verdicts;
// where all choices agree, that is the verdict.
//
// Patterns, bodies and URLs are hostile input. Parsing never fails, and a
// verdict costs at most a small multiple of the bytes of the file plus rules
// times bytes of the URL's path, whatever the patterns look like.
package robots
