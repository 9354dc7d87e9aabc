// Package words translates values of the tables into English.
//
// A [Vocabulary] maps the enumerated values of a column to words; [Percent], [Number]
// and [Count] format figures. The terminal, comparisons and the report all use them,
// so that a value has the same words everywhere. A value without words may come from
// the network, and is escaped.
//
//   - words.go: the words for values
//   - identities.go: those for what hosts answer to identities
//   - figures.go: numbers, shares and lists
//   - sentences.go: what agrees with a count
package words

import (
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/visible"
)

// Vocabulary maps the values of a column or counter to words.
type Vocabulary map[string]string

// Of returns the words for a value. A value without words, which may come from the
// network or from a stranger's tables, is returned with spaces for underscores and with
// escapes for what would act on a terminal.
func (v Vocabulary) Of(value string) string {
	if text, ok := v[value]; ok {
		return text
	}
	return visible.Text(strings.ReplaceAll(value, "_", " "))
}

// Outcome has words for outcomes. A full disallow is the effect of an outage, not a
// statement of the site.
var Outcome = Vocabulary{
	"conditional_allow": "the rules decide",
	"full_allow":        "everything allowed, no rules",
	"full_disallow":     "closed by an outage",
	"undefined":         "undefined",
}

// Reason has words for the reasons of fetches.
var Reason = vocabulary(append([]answer.Reason{answer.Challenged, answer.Throttled, answer.Payment, answer.Refused},
	answer.Reasons...))

// Page has words for a body that is a page of HTML where a robots.txt should be.
const Page = "a page of HTML in place of a robots.txt"

// Answer has words for what an answer shows: its reason, of an answer that is a page or none, and
// how it turns us away, "" if it does not. Whoever turns us away has not said that there is no file.
func Answer(reason, turned answer.Reason, page bool) string {
	switch {
	case page && reason == answer.Success:
		return Page
	case turned == "", reason == answer.Challenged:
		return Reason.Of(string(reason))
	case reason == answer.ClientError, reason == answer.ServerError:
		return Reason.Of(string(turned))
	}
	return Reason.Of(string(turned)) + "; " + Reason.Of(string(reason))
}

// Challenge has words for the vendors of walls.
var Challenge = Vocabulary{
	"cloudflare": "Cloudflare",
	"aws-waf":    "AWS WAF",
	"akamai":     "Akamai",
	"datadome":   "DataDome",
	"imperva":    "Imperva",
	"human":      "HUMAN",
	"generic":    "vendor not known",
}

// ErrorClass has words for error classes.
var ErrorClass = vocabulary(answer.ErrorClasses)

func vocabulary[T interface {
	~string
	Words() string
}](values []T) Vocabulary {
	v := make(Vocabulary)
	for _, value := range values {
		v[string(value)] = value.Words()
	}
	return v
}

// Class has words for the classes of policies and groups.
var Class = Vocabulary{
	"allow_all":    "open",
	"disallow_all": "shut out",
	"partial":      "partly closed",
	"empty":        "no rules",
	"unknown":      "unknown (not read)",
}

// Match has words for how an agent matches its group.
var Match = Vocabulary{
	"own":      "by name",
	"fallback": "by another crawler's name",
	"star":     "by *",
	"none":     "no group",
}

// Feature has words for the features of files.
var Feature = Vocabulary{
	"group":       "a group",
	"rule":        "an allow or disallow rule",
	"wildcard":    "a wildcard (*) in a rule",
	"anchor":      "an end anchor ($) in a rule",
	"star_group":  "a group for all (*)",
	"joined":      "a group that another reader may split in two",
	"crawl_delay": "a crawl delay",
	"sitemap":     "a sitemap",
}

// LineClass has words for the classes of lines.
var LineClass = Vocabulary{
	"extension":     "extension",
	"unknown_field": "unknown field",
	"typo":          "misspelt field",
	"key_prefix":    "field with more behind its name",
	"missing_colon": "missing colon",
	"spaced_colon":  "space before the colon",
	"orphan_rule":   "rule before any group",
	"no_field":      "line without a field",
	"too_long":      "line too long",
	"nul":           "NUL byte",
	"truncated":     "line cut at the size limit",
	"sitemap_value": "sitemap that is quoted, or more than one",
	"comment":       "comment",
	"not_portable":  "line that another parser reads otherwise",
	"lighthouse":    "line that Lighthouse's audit calls an error",
}

// SitemapHost has words for what hosts list in sitemaps.
var SitemapHost = Vocabulary{
	"lists":      "pages of their own",
	"others":     "pages of other sites alone",
	"nothing":    "sitemaps without pages",
	"closed":     "closed to this census by a robots.txt",
	"no_answer":  "sitemaps cannot be had",
	"none":       "no sitemap",
	"uncaptured": "sitemaps are not in the archives",
	"spared":     "not asked for sitemaps, as their hosts are busy or want to be left alone",
}

// AskedForSitemaps says which hosts a figure about sitemaps is of, by how many list what.
func AskedForSitemaps(listing map[string]int64) string {
	if listing[summary.ListsClosed] > 0 {
		return "asked for sitemaps or closed to this census"
	}
	return "asked for sitemaps"
}

// SitemapKind has words for kinds of sitemaps.
var SitemapKind = Vocabulary{
	"urlset": "list in XML",
	"index":  "index",
	"text":   "text",
	"rss":    "RSS",
	"atom":   "Atom",
	"none":   "none",
}

// SitemapOutcome has words for what comes of requests for sitemaps.
var SitemapOutcome = Vocabulary{
	"ok":          "whole",
	"damaged":     "damaged",
	"absent":      "not there",
	"refused":     "refused",
	"unavailable": "no answer, or an error",
	"disallowed":  "closed to this census by a robots.txt",
	"elsewhere":   "redirected to another domain",
	"uncaptured":  "not in the archives",
	"spared":      "not asked for, as its host is busy or wants to be left alone",
}

// SitemapFault has words for what is wrong with sitemaps that robots.txt names.
var SitemapFault = Vocabulary{
	"dead":    "it is not there",
	"empty":   "it lists nothing",
	"outside": "it lists pages of other sites alone",
	"closed":  "robots.txt closes it to this census",
}

// ClosedCause has words for the kinds of rules that close listed pages.
var ClosedCause = Vocabulary{
	"any":        "closed by any rule",
	"everything": "by a rule for everything (/)",
	"folder":     "by a folder",
	"path":       "by another path",
	"wildcard":   "by a wildcard (* or $)",
	"query":      "by a query (?)",
	"no_rule":    "without a rule",
}

// Kind returns the name of a kind of change, that of the table changes with spaces, so
// that the terminal, the page and the table call it by one name.
func Kind(kind string) string { return visible.Text(strings.ReplaceAll(kind, "_", " ")) }

// KindMeans says what changes in each kind of change.
var KindMeans = Vocabulary{
	"policy_class": "whether an agent is shut out, partly closed or open",
	"verdict":      "the verdict on a URL of the run",
	"rules":        "what the rules for an agent mean on some path",
	"preference":   "what the file, or a document of consent, states about a use of the content",
	"outcome":      "what the answer means for crawlers",
	"group":        "which names have a group, and what it allows",
	"signal":       "a signal or another extension with a format",
	"sitemap":      "a sitemap line",
	"crawl_delay":  "a crawl delay",
	"redirect":     "where the robots.txt redirects to",
	"answer":       "what the host answers to an identity",
	"page":         "what an identity meets on a page",
	"document":     "whether the host has a document of consent",
	"coverage":     "how much of what the host lists in its sitemaps an agent may fetch",
	"reachability": "whether the host can be reached, and why not",
	"host_new":     "hosts that the earlier run does not have",
	"host_gone":    "hosts that the later run does not have",
	"text":         "the text alone",
}

// ValuesOf has words for the values before and after a change, by its kind.
var ValuesOf = map[string]Vocabulary{
	"policy_class": Class, "group": Class, "outcome": Outcome, "host_new": Outcome, "host_gone": Outcome,
	"reachability": Reason, "rules": effect, "preference": Stance, "answer": answered,
	"page": PageTreatment, "document": documented,
}

// Value has words for a value before or after a change of a kind; known is false if there are
// none.
func Value(kind, value string) (text string, known bool) {
	if allowed, sampled, ok := change.ParseCoverage(value); ok && kind == "coverage" {
		if text = Percent(allowed, sampled); sampled < Few {
			text = Number(allowed)
		}
		return text + " of " + Count(sampled, "listed page"), true
	}
	text, known = ValuesOf[kind][value]
	return text, known
}

// effect has words for the effects of changed rules.
var effect = Vocabulary{
	"closes":    "closes a part",
	"opens":     "opens a part",
	"both":      "closes a part, opens another",
	"undecided": "undecided",
}

// Category has words for the categories of agents.
var Category = Vocabulary{
	"search":       "search engines",
	"ai-training":  "AI training",
	"ai-search":    "AI search",
	"ai-assistant": "AI assistants",
	"ai-data":      "data for AI",
	"seo":          "SEO",
	"archive":      "archives",
	"preview":      "link previews",
	"ads":          "advertising",
	"social":       "social networks",
	"other":        "others",
}

// Body has words for the oddities of bodies.
var Body = Vocabulary{
	"bom":       "begins with a byte order mark",
	"not_utf8":  "is not UTF-8",
	"html":      "is HTML",
	"truncated": "reaches the size limit",

	"only_comments": "has comments and no record",
}

// Refusal has words for the ways in which a file refuses the training of models.
var Refusal = Vocabulary{
	"crawler":        "by shutting out a crawler",
	"token":          "by shutting out a policy token",
	"content-signal": "by a content signal",
	"content-usage":  "by a usage preference",
	"terms":          "perhaps, by the terms of a licence",
}

// Mechanism has words for the ways to state a preference about use.
var Mechanism = Vocabulary{
	"content-signal":  "Content-Signal",
	"content-usage":   "Content-Usage",
	"license":         "License",
	"token":           "policy token",
	"header":          "header of the front page",
	"meta":            "HTML of the front page",
	"tdmrep":          "TDMRep",
	"rsl":             "RSL",
	"ai.txt-spawning": "ai.txt in Spawning's grammar",
	"ai.txt-car":      "ai.txt by draft-car",
	"trust.txt":       "trust.txt",
}

// DocumentOutcome has words for what came of a document.
var DocumentOutcome = Vocabulary{
	"present":     "there",
	"absent":      "not there",
	"soft_404":    "the page for anything",
	"invalid":     "something else",
	"refused":     "refused",
	"unreachable": "no answer",
	"not_asked":   "not asked for",
	"uncaptured":  "in no archive",
}

// documented has words for whether a host has a document, before and after a change.
var documented = Vocabulary{
	"present": DocumentOutcome["present"], "absent": DocumentOutcome["absent"], "invalid": DocumentOutcome["invalid"],
	"refused": DocumentOutcome["refused"], "other_text": "with another text",
}

// Stance has words for what a file states about a use.
var Stance = Vocabulary{
	"allow":     "permits it",
	"disallow":  "refuses it",
	"priced":    "asks for money",
	"partial":   "depends on the path",
	"undecided": "depends on the path, by other lines",
}

// Use has words for the uses of content.
var Use = Vocabulary{
	"ai-train": "AI training",
	"ai-input": "input to AI",
	"search":   "search",
}

// SignalReach has words for whom the content signals of a file bind at best.
var SignalReach = Vocabulary{
	"all": "all agents (a group for *)", "several": "several agents, by name", "one": "one agent alone",
	"nobody": "nobody (before all groups)",
}

// PreferenceRemark has words for what is wrong with statements about use.
var PreferenceRemark = Vocabulary{
	"conflict":      "statements that contradict each other",
	"orphan":        "statement before any group",
	"not_parsed":    "dictionary that does not parse",
	"no_statement":  "line without a statement",
	"old_label":     "label of an earlier draft",
	"unknown_label": "unknown label",
	"unknown_token": "unknown token of purpose (__usage_…)",
	"unknown_value": "value that neither permits nor refuses",
	"repeated":      "label that the line repeats",
	"not_url":       "licence or policy that is not a URL",
	"too_long":      "header too long to be read",

	// Of other documents.
	"rule":               "no rule",
	"value":              "value that says nothing",
	"order":              "never reached: an earlier rule says otherwise",
	"absolute":           "URL in the place of a path",
	"path":               "no path",
	"closed_list":        "not in the list of what is permitted",
	"self_contradiction": "permitted and prohibited",
	"payment_type":       "unknown type of payment",
	"token":              "with a token",
	"other_origin":       "of another origin",
	"not_associated":     "nobody names the document",
	"default":            "default of its specification",
	"conditional":        "but for some paths",
	"contradiction":      "yes and no",
}
