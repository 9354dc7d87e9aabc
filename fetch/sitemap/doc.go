// Package sitemap reads what a site lists of itself: sitemaps and their indexes
// (sitemaps.org), text, RSS and Atom, compressed or not, in the encoding that they say. What
// it reads is hostile and often damaged: one bad entry costs itself alone, damage costs what
// follows it, and no entity of a document's own is expanded.
//
//	sitemap.go  what a document is, and its entries
//	xml.go      the elements of XML, by a tokenizer that checks no nesting
//	plan.go     which sitemaps of a host are asked for, and what is kept of them
//	sample.go   the sample of what they list; distinct.go counts that
//	text.go     unpacking, encodings, and the references of XML
package sitemap
