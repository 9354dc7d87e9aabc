package summary

import (
	"strconv"

	"github.com/robocensus/robocensus/sink/schema"
)

// SitemapKinds are the values of sitemap_files.kind; package fetch/sitemap makes them.
var SitemapKinds = []string{"urlset", "index", "text", "rss", "atom", "none"}

// SitemapOutcomes are the values of sitemap_files.outcome.
var SitemapOutcomes = []string{SitemapOK, SitemapDamaged, SitemapAbsent, SitemapRefused, SitemapUnavailable,
	SitemapDisallowed, SitemapElsewhere, SitemapUncaptured, SitemapSpared}

const (
	SitemapOK          = "ok"
	SitemapDamaged     = "damaged"
	SitemapAbsent      = "absent"
	SitemapRefused     = "refused"
	SitemapUnavailable = "unavailable"
	SitemapDisallowed  = "disallowed"
	SitemapElsewhere   = "elsewhere"
	SitemapUncaptured  = "uncaptured"
	SitemapSpared      = "spared" // its origin wants to be left alone, or is asked by too many others
)

// AskedFor reports whether a sitemap was asked for, or archives were searched for it: a
// robots.txt may close it, or its origin be spared, or only where it redirects to.
func AskedFor(f *schema.SitemapFile) bool {
	return f.FetchTime != nil || f.Outcome != SitemapDisallowed && f.Outcome != SitemapSpared
}

// Keys of the metric sitemap_host: what a host lists, the first that holds.
const (
	HostLists   = "lists"     // pages of its own
	ListsOthers = "others"    // pages of other origins alone
	ListsNobody = "nothing"   // sitemaps without pages
	ListsClosed = "closed"    // a robots.txt closes its sitemaps
	ListsDead   = "no_answer" // they cannot be had
	ListsNone   = "none"      // there are none
	// the archives do not hold them
	ListsUncaptured = "uncaptured"
	// nobody was asked for them: such a host counts among none that were
	ListsSpared = "spared"
)

// AskedForSitemaps returns the number of hosts that were asked for sitemaps, or would have been if
// no robots.txt closed them, of the counts of sitemap_host by key.
func AskedForSitemaps(listing map[string]int64) (hosts int64) {
	for key, n := range listing {
		if key != ListsSpared {
			hosts += n
		}
	}
	return hosts
}

// Keys of the metric sitemap_fault: what is wrong with a sitemap that robots.txt names.
const (
	FaultDead    = "dead"    // it is not there, or is no sitemap
	FaultEmpty   = "empty"   // it lists nothing
	FaultOutside = "outside" // it lists pages of other origins alone
	FaultClosed  = "closed"  // the file that names it closes it
)

// Bands of the share of the listed pages that are closed, the keys of the metric
// coverage_closed after the class of the policy.
const (
	ClosesNone = "none"
	ClosesFew  = "under_1"   // above 0 and below 1 %
	ClosesSome = "to_half"   // from 1 to 50 %
	ClosesMost = "over_half" // above 50 %
	ClosesAll  = "all"
)

// ClosedBands lists the bands.
var ClosedBands = []string{ClosesNone, ClosesFew, ClosesSome, ClosesMost, ClosesAll}

// ClosedBand returns the band of a host that closes some of its listed pages to an agent.
func ClosedBand(disallowed, sampled int32) string {
	switch {
	case disallowed == 0:
		return ClosesNone
	case disallowed == sampled:
		return ClosesAll
	case 100*disallowed < sampled:
		return ClosesFew
	case 2*disallowed <= sampled:
		return ClosesSome
	}
	return ClosesMost
}

// CoverageKey returns the key of the metric coverage: the percentage of the listed pages
// that an agent may fetch, rounded down.
func CoverageKey(allowed, sampled int32) string { return strconv.Itoa(int(100 * allowed / sampled)) }

// Causes of pages that are listed and closed, the keys of the metric listed_closed: the kind
// of the rule that closes them.
const (
	CauseAll      = "everything" // Disallow: /
	CauseWildcard = "wildcard"   // a pattern with * or $
	CauseQuery    = "query"      // one with ?
	CauseFolder   = "folder"     // one that ends with a slash
	CausePath     = "path"       // any other
	CauseNoRule   = "no_rule"    // no rule: the answer closes the host
)

// Causes lists the causes.
var Causes = []string{CauseAll, CauseFolder, CausePath, CauseWildcard, CauseQuery, CauseNoRule}
