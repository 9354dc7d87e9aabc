package evaluate

import (
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// countNetwork counts a fetch by its source and time, and by top-level domain,
// address block and server.
func (e *Evaluator) countNetwork(row *schema.Fetch, stratum string) {
	e.counts.Add("source", stratum, row.Source)
	if row.Source == journal.FromArchive {
		e.counts.Add(journal.Captured, stratum, dayKey(row.FetchTime))
	}
	// An answer from memory has the times of an earlier run.
	timed := row.TotalMicros != nil && row.Source != "cache"
	slow := timed && *row.TotalMicros >= summary.SlowMicros
	if timed {
		e.counts.Add("total_us", stratum, summary.BinOf(*row.TotalMicros).String())
		e.examples.Slowest(*row.TotalMicros)
	}
	for _, part := range [...]struct{ metric, key string }{
		{"tld", tldKey(row.TLD)}, {"address_block", blockKey(row.RemoteAddress)}, {"server", serverKey(row.Server)},
	} {
		e.counts.Add(part.metric, stratum, part.key)
		if failed(row) {
			e.counts.Add(part.metric+"_failed", stratum, part.key)
		}
		if slow {
			e.counts.Add(part.metric+"_slow", stratum, part.key)
		}
	}
	if row.Server != nil && serverKey(row.Server) == summary.Other {
		e.examples.Add("server", summary.Other, 0, *row.Server)
	}
}

// dayKey returns the day of a capture. A day that no crawl can have counts as other,
// so that an archive cannot make a counter of every day of the calendar.
func dayKey(t time.Time) string {
	if t = t.UTC(); t.Year() < 1994 || t.Year() >= 2100 {
		return summary.Other
	}
	return t.Format(journal.DayFormat)
}

// failed reports whether an origin gave no answer or a 5xx. A redirect that leads
// nowhere is an answer, and our own refusal says nothing about the host.
func failed(row *schema.Fetch) bool {
	return row.ErrorClass != nil && answer.ErrorClass(*row.ErrorClass).Answer().IsOutage()
}

// reserved are top-level domains of RFC 2606, 6761, 6762, 7686 and 9476, and
// of ICANN's choice for private use.
var reserved = map[string]bool{
	"alt": true, "example": true, "internal": true, "invalid": true, "local": true, "localhost": true, "onion": true,
	"test": true,
}

// tldKey returns a top-level domain that is on the public suffix list, of about
// 1,500, or reserved; others count as other.
func tldKey(tld *string) string {
	if tld == nil {
		return "address"
	}
	// Some have no suffix of one label.
	if _, known := publicsuffix.PublicSuffix("a." + *tld); known || reserved[*tld] {
		return *tld
	}
	return summary.Other
}

// blockKey returns the /8 of an IPv4 address and the /12 of an IPv6 address, of
// which 512 can be routed: about the blocks in which addresses are allocated.
func blockKey(address *string) string {
	if address == nil {
		return "none"
	}
	a, err := netip.ParseAddr(*address)
	if err != nil {
		return summary.Other
	}
	a = a.Unmap().WithZone("")
	bits := 12
	if a.Is4() {
		bits = 8
	}
	block, _ := a.Prefix(bits) // bits is in range
	return block.String()
}

// servers are the known products of Server headers.
var servers = func() map[string]bool {
	known := make(map[string]bool)
	for _, name := range strings.Fields(
		`akamaighost akamainetstorage amazons3 apache apache-coyote ats awselb caddy cloudflare
		cloudfront cowboy ddos-guard envoy esf fastly github.com google gse gunicorn gws haproxy istio-envoy jetty kestrel
		lighttpd litespeed microsoft-azure-application-gateway microsoft-iis netlify nginx nginx-reuseport openresty pepyaka
		qrator sffe squarespace squid sucuri tengine tomcat uvicorn varnish vercel waitress werkzeug yunjiasu-nginx`) {
		known[name] = true
	}
	return known
}()

// serverKey returns the first product of a Server header in lower case, if known.
func serverKey(header *string) string {
	if header == nil {
		return "none"
	}
	product := *header
	if end := strings.IndexAny(product, "/ ("); end >= 0 {
		product = product[:end]
	}
	if product = strings.ToLower(product); servers[product] {
		return product
	}
	return summary.Other
}
