// Package consent reads what a site says about the use of its content outside robots.txt:
// in documents at paths of their own, and in its pages. It does no I/O.
//
// Bytes decide what a document is, not its media type, and not its name: several grammars
// share the name ai.txt. What cannot be read is no consent, and no refusal either. [Read]
// reads a document of a [Kind] with its statements, which are kept and not weighed, and [Alike]
// tells a document from the page that a site serves at any path.
//
//	consent.go   kinds, documents, statements
//	tdmrep.go    tdmrep.json (W3C community group report of 10 May 2024)
//	rsl.go       licences in XML (RSL 1.0): what is one
//	terms.go     licences in XML: what they state
//	aitxt.go     ai.txt: which grammar; Spawning's, which is that of robots.txt
//	car.go       ai.txt by draft-car-ai-txt-wellknown-00
//	presence.go  documents that state little by being there: llms.txt, security.txt, …
//	page.go      HTML of a page, and its links
//	price.go     what a refusal for want of payment asks for
//	alike.go     pages that are the same but for what changes each time
//	outline.go   what is kept of a page to tell that
//	treatment.go what an identity met on a page
//	outcome.go   whether a document is there
package consent
