package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// twelveCrawls are made-up crawls whose history is known. Nothing here parses a
// robots.txt: the model says what each answer means.
type twelveCrawls struct {
	sites  []*site
	crawls [12]crawl
}

// site is a host with what it answers.
type site struct {
	host, domain string
	rank         int // 0 for none
	captures     int // in each crawl: 1; 2 with a redirect from http; 3 with an older capture too
	answers      [12]string
	made         *answer // instead of these, in every crawl
}

// crawl is one crawl, with the hosts that it reached.
type crawl struct {
	id     string
	day    time.Time // of most captures
	asOf   string    // --as-of, "" for the day
	agents []entry
	hosts  map[*site]bool
}

// entry is an entry of the registry of a crawl.
type entry struct{ name, category, tokens, kind string }

// answer is what a host may answer. policy says what an agent may fetch: allow, none, a
// name for a part of the paths, "" if nobody knows.
type answer struct {
	status  int
	text    string
	star    string            // policy of the agents that the text does not name
	named   map[string]string // of those that it does
	feature []string
	field   []string
	signal  []string

	template   string
	also       []string // further templates, whose words decide for nobody
	written    []string // agents that the template shuts out
	body       []string
	preference []string
	refuses    []string // AI training, beside the agents that it shuts out
	licensed   bool     // names a licence
	remark     []string // about statements of use
}

const outageCrawl = 6 // in it, no host changes its policy, nor before the next crawl

var answers = map[string]answer{
	"open": {
		status: 200, text: "User-agent: *\nDisallow:\n\nSitemap: https://www.example.com/sitemap.xml\n",
		star: "allow", feature: []string{"group", "star_group", "rule", "sitemap"},
	},
	"closed": {status: 200, text: "User-agent: *\nDisallow: /\n", star: "none", feature: []string{"group", "star_group",
		"rule"}},
	"private": {status: 200, text: "User-agent: *\nDisallow: /private/\nCrawl-delay: 10\n", star: "private",
		feature: []string{"group", "star_group", "rule", "crawl_delay"}, field: []string{"crawl-delay"}},
	"reworded": {
		status: 200, text: "# Please keep out.\nuser-agent: *\ndisallow: /private/\n\n\ncrawl-delay: 10\n",
		star: "private", feature: []string{"group", "star_group", "rule", "crawl_delay"}, field: []string{"crawl-delay"},
	},
	"narrow": {
		status: 200, text: "User-agent: *\nDisallow: /private/\nDisallow: /*.pdf$\n",
		star: "narrow", feature: []string{"group", "star_group", "rule", "wildcard", "anchor"},
	},
	"elsewhere": {status: 200, text: "User-agent: *\nDisallow: /elsewhere/\n", star: "elsewhere", feature: []string{
		"group", "star_group", "rule"}},
	"gptbot": {
		status: 200, text: "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\nCrawl-delay: 10\n",
		star: "private", named: map[string]string{"GPTBot": "none"}, feature: []string{"group", "star_group", "rule",
			"crawl_delay"}, field: []string{"crawl-delay"},
	},
	"no-ai": {
		status: 200, text: "User-agent: CCBot\nUser-agent: GPTBot\nUser-agent: ClaudeBot\nUser-agent: Bytespider\n" +
			"User-agent: PerplexityBot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/\n",
		star: "private",
		named: map[string]string{"CCBot": "none", "GPTBot": "none", "ClaudeBot": "none", "Bytespider": "none",
			"PerplexityBot": "none"},
		feature: []string{"group", "star_group", "rule"},
	},
	"builder": {status: 200, text: "User-agent: *\nAllow: /\n", star: "allow", feature: []string{"group", "star_group",
		"rule"}},
	"builder-no-ai": {
		status: 200, text: "User-agent: CCBot\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nAllow: /\n" +
			"Content-Signal: search=yes, ai-train=no\n",
		star: "allow", named: map[string]string{"CCBot": "none", "GPTBot": "none"}, feature: []string{"group", "star_group",
			"rule"},
		field: []string{"content-signal"}, signal: []string{"content-signal search=yes", "content-signal ai-train=no"},
		preference: []string{"content-signal search allow", "content-signal ai-train disallow"}, refuses: []string{
			"content-signal"},
	},
	"managed": { // by the network before it
		status: 200, text: "# BEGIN Cloudflare Managed content\n\nUser-agent: *\nContent-signal: search=yes, ai-train=no\n" +
			"Allow: /\n\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: GPTBot\nDisallow: /\n\nUser-agent: Google-Extended\n" +
			"Disallow: /\n\n# END Cloudflare Managed Content\n\nUser-agent: Bytespider\nDisallow: /\n",
		star: "allow", named: map[string]string{"CCBot": "none", "GPTBot": "none", "Google-Extended": "none",
			"Bytespider": "none"}, feature: []string{"group", "star_group", "rule"},
		field: []string{"content-signal"}, signal: []string{"content-signal search=yes", "content-signal ai-train=no"},
		template: "cloudflare-managed", written: []string{"CCBot", "GPTBot", "Google-Extended"},
		preference: []string{"content-signal search allow", "content-signal ai-train disallow", "token ai-train disallow"},
		refuses:    []string{"content-signal"},
	},
	"usage": {
		status: 200, text: "User-agent: *\nContent-Usage: train-ai=n\nDisallow:\n", star: "allow", feature: []string{"group",
			"star_group", "rule"},
		field: []string{"content-usage"}, signal: []string{"content-usage train-ai=n"}, preference: []string{
			"content-usage ai-train disallow"}, refuses: []string{"content-usage"},
	},
	"licensed": {
		status: 200, text: "License: https://www.example.com/licence.xml\nUser-agent: *\nDisallow: /\n", star: "none",
		feature: []string{"group", "star_group", "rule"},
		field:   []string{"license"}, signal: []string{"license"}, licensed: true,
	},
	"comments": { // what used to be a 404
		status: 200, text: "# As a condition of accessing this website, you agree to abide by the\n# content signals.\n",
		star: "allow", template: "cloudflare-signals", body: []string{"only_comments"},
	},
	"google-only": {
		status: 200, text: "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nAllow: /\n",
		star: "none", named: map[string]string{"Googlebot": "allow"}, feature: []string{"group", "star_group", "rule"},
	},
	"empty":     {status: 200, star: "allow"},
	"missing":   {status: 404, text: "not here\n", star: "allow"},
	"forbidden": {status: 403, text: "no\n", star: "allow"},
	"gone":      {status: 410, text: "gone\n", star: "allow"},
	"down":      {status: 503, text: "User-agent: *\nDisallow: /\n"},
	"unchanged": {status: 304}, // a revisit record, without the text that it refers to
	"moved":     {status: 301, text: "over there\n"},
}

func (a answer) policy(agent string) (policy string, named bool) {
	if p, ok := a.named[agent]; ok {
		return p, true
	}
	return a.star, false
}

// outcome returns the outcome and the reason of an answer, by Google's rules.
func (a answer) outcome() (outcome, reason string) {
	switch {
	case a.status == 200:
		return "conditional_allow", "success"
	case a.status == 304:
		return "undefined", "revisit_unresolved"
	case a.status == 301:
		return "undefined", "redirect_unresolved"
	case a.status >= 500:
		return "full_disallow", "server_error"
	}
	return "full_allow", "client_error"
}

func classOf(policy string) string {
	switch policy {
	case "":
		return "unknown"
	case "allow":
		return "allow_all"
	case "none":
		return "disallow_all"
	}
	return "partial"
}

// wayOf says how a policy changed, "" if it did not.
func wayOf(before, after string) string {
	order := []string{"allow_all", "partial", "disallow_all"}
	a, b := slices.Index(order, classOf(before)), slices.Index(order, classOf(after))
	switch {
	case a < 0 || b < 0 || before == after:
		return ""
	case a < b, before == "private" && after == "narrow":
		return "closed"
	case a > b, before == "narrow" && after == "private":
		return "opened"
	}
	return "both" // from one part to another
}

// waysOf returns the counters of a change of a policy: what closes and opens by its
// meaning, and what is shut out and let in by its class.
func waysOf(before, after string) (ways []string) {
	way := wayOf(before, after)
	if way == "" {
		return nil
	}
	if way == "both" {
		ways = append(ways, "closed", "opened")
	}
	ways = append(ways, way)
	was, is := classOf(before) == "disallow_all", classOf(after) == "disallow_all"
	if is && !was {
		ways = append(ways, "shut_out")
	}
	if was && !is {
		ways = append(ways, "let_in")
	}
	return ways
}

// newTwelveCrawls makes the history, with as many hosts as the largest crawl has divided
// by 50,000. It is the same for the same number.
func newTwelveCrawls(largest int) *twelveCrawls {
	h := &twelveCrawls{}
	r := rand.New(rand.NewPCG(12, uint64(largest)))
	least := min(60, largest/5)
	var active, away []*site
	for c := range h.crawls {
		now := &h.crawls[c]
		// Neither the IDs nor the order of the runs is that of the dates.
		now.id = fmt.Sprintf("crawl-%c", "fbkacdlegihj"[c])
		now.day = time.Date(2014+c, time.Month(1+c*5%12), 9+c, 0, 0, 0, 0, time.UTC)
		if c%3 == 1 {
			now.asOf = now.day.Format(time.DateOnly)
		}
		now.agents = agentsOf(c)

		size := max(least, []int{2, 3, 8, 12, 20, 50, 41, 30, 36, 44, 47, 49}[c]*largest/50)
		leaving := min(len(active)/20+max(0, len(active)-size), len(active)-least*6/10)
		var gone []*site
		for range max(0, leaving) { // never the oldest ones
			i := least*6/10 + r.IntN(len(active)-least*6/10)
			gone, active = append(gone, active[i]), slices.Delete(active, i, i+1)
		}
		for range min(len(away), size/50, size-len(active)) { // some come back
			i := r.IntN(len(away))
			active, away = append(active, away[i]), slices.Delete(away, i, i+1)
		}
		away = append(away, gone...)
		for len(active) < size {
			s := newSite(r, len(h.sites))
			h.sites, active = append(h.sites, s), append(active, s)
		}
		now.hosts = make(map[*site]bool)
		for i, s := range active {
			if c == outageCrawl && i%20 == 3 {
				continue // its server was down, and nothing is stored
			}
			if c == outageCrawl && i%20 == 7 {
				s.answers[c] = "down"
			}
			now.hosts[s] = true
		}
	}
	return h
}

// agentsOf returns the registry of a crawl: agents appear, one has another entry from
// the tenth crawl on, and one is gone in the last.
func agentsOf(c int) (out []entry) {
	for _, a := range []struct {
		entry
		from, to int
	}{
		{entry{"Googlebot", "search", "", ""}, 0, 11},
		{entry{"CCBot", "ai-training", "", ""}, 0, 11},
		{entry{"Bytespider", "ai-training", "", ""}, 0, 10},
		{entry{"GPTBot", "ai-training", "", ""}, 3, 11},
		{entry{"Google-Extended", "ai-training", "", "token"}, 7, 11},
		{entry{"ClaudeBot", "ai-training", "", ""}, 7, 11},
		{entry{"PerplexityBot", "ai-search", "", ""}, 8, 11},
	} {
		if a.from <= c && c <= a.to {
			if a.name == "ClaudeBot" && c >= 9 {
				a.tokens = "[ClaudeBot, Claude-Web]"
			}
			out = append(out, a.entry)
		}
	}
	return out
}

// newSite draws a host and its answers. None changes in the crawl with the outage or in
// the one after it.
func newSite(r *rand.Rand, i int) *site {
	s := &site{domain: fmt.Sprintf("site%d.com", i), captures: 1}
	s.host = "www." + s.domain
	if r.IntN(3) == 0 || i%200 == 199 { // also the last rank of a band
		s.rank = 5 * (i + 1)
	}
	switch r.IntN(10) {
	case 0, 1:
		s.captures = 2
	case 2:
		s.captures = 3
	}
	change := []int{1, 2, 3, 4, 5, 8, 9, 10, 11}[r.IntN(9)]
	kind := r.IntN(100)
	if kind < 20 && kind%2 == 0 || kind >= 95 { // several hosts of a domain
		s.domain = fmt.Sprintf("platform%d.com", i%7)
		s.host = fmt.Sprintf("h%d.%s", i, s.domain)
	}
	for c := range s.answers {
		later := c >= change
		choose := func(before, after string) string {
			if later {
				return after
			}
			return before
		}
		name := "open"
		switch {
		case kind < 20: // a builder of sites, whose template changes in the sixth crawl
			if name = "builder"; c >= 5 && kind%4 != 1 {
				name = "builder-no-ai"
			}
			if c >= 9 {
				name = "managed"
			}
			if c == 11 && kind%4 == 1 { // which some no longer use
				name = "builder"
			}
		case kind < 40: // after GPTBot appeared
			if name = "private"; later && c >= 3 {
				name = "gptbot"
			}
		case kind < 46:
			name = choose("private", "no-ai")
		case kind < 50:
			name = choose("private", "narrow")
		case kind < 53:
			name = choose("narrow", "private")
		case kind < 56:
			name = choose("private", "elsewhere")
		case kind < 60:
			name = choose("private", "reworded")
		case kind < 64:
			name = choose("closed", "open")
		case kind < 66:
			name = "closed"
		case kind < 67:
			name = choose("closed", "licensed")
		case kind < 70:
			name = choose("open", "google-only")
		case kind < 78:
			if name = "missing"; c >= 8 && kind%2 == 0 {
				name = "comments"
			}
		case kind < 81:
			name = choose("missing", "private")
		case kind < 83:
			name = choose("open", "gone")
		case kind < 85:
			name = "forbidden"
		case kind < 88:
			name = "moved"
		case kind < 89:
			name = "down"
		case kind < 91:
			name = choose("empty", "closed")
		case kind < 93:
			name = choose("private", "unchanged")
		case kind < 95:
			name = choose("open", "usage")
		}
		s.answers[c] = name
	}
	return s
}

// capture is a stored answer. Of those of an origin the last one holds.
type capture struct {
	*site
	origin, answer string
}

// said returns what a capture has.
func (c capture) said() answer {
	if c.made != nil {
		return *c.made
	}
	return answers[c.answer]
}

// captures returns the captures of a crawl, in the order of its archives.
func (h *twelveCrawls) captures(c int, in func(*site) bool) (out []capture) {
	var again []capture
	for _, s := range h.sites {
		if !h.crawls[c].hosts[s] || !in(s) {
			continue
		}
		now := capture{s, "https://" + s.host, s.answers[c]}
		if s.captures > 1 {
			out = append(out, capture{s, "http://" + s.host, "moved"})
		}
		if s.captures > 2 { // fetched twice: the file was another at first
			again = append(again, now)
			now.answer = "elsewhere"
		}
		out = append(out, now)
	}
	return append(out, again...)
}

// everySite and inSampleOf select sites.
func everySite(*site) bool { return true }

func inSampleOf(share float64) func(*site) bool {
	return func(s *site) bool {
		sum := sha256.Sum256([]byte("sample " + s.domain))
		return float64(binary.BigEndian.Uint64(sum[:])) < share*math.Exp2(64)
	}
}
