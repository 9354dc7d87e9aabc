package main

import (
	"fmt"
	"slices"
	"strconv"
)

// figure identifies a point of a series.
type figure struct{ metric, population, stratum, agent, category, profile, key, run, base string }

// counted is what a point says.
type counted struct {
	count, denominator int
	comparable         string // "", true or false
}

// tallied holds the counts of a set of captures. The figures in it have neither run nor
// base.
type tallied struct {
	sizes  map[string]int // by base
	counts map[figure]int
}

const profile = "google"

// tally counts captures, as a user would by hand.
func tally(captures []capture, agents []entry) *tallied {
	t := &tallied{make(map[string]int), make(map[figure]int)}
	for _, c := range captures {
		a := c.said()
		outcome, reason := a.outcome()
		t.sizes["hosts"]++
		t.counts[figure{metric: "targets"}]++
		t.counts[figure{metric: "challenge", key: "none"}]++ // no wall is in the model
		away := "none"                                       // no other answer of the model turns a census away
		if a.status == 403 {
			away = "refused"
		}
		t.counts[figure{metric: "turned_away", key: away}]++
		t.counts[figure{metric: "outcome", profile: profile, key: outcome}]++
		t.counts[figure{metric: "reason", profile: profile, key: reason}]++
		t.counts[figure{metric: "status", key: strconv.Itoa(a.status)}]++
		if a.status == 200 {
			t.sizes["files"]++
			t.sizes["texts"]++
			for metric, keys := range map[string][]string{"feature": a.feature, "field": a.field, "signal": a.signal,
				"body": a.body, "preference": a.preference} {
				for _, key := range keys {
					t.counts[figure{metric: metric, key: key}]++
				}
			}
		}
		for _, template := range append(slices.Clone(a.also), a.template) {
			if template != "" {
				t.counts[figure{metric: "template", key: template}]++
			}
		}
		ways := slices.Clone(a.refuses)
		closed, of, unknown := make(map[string]int), make(map[string]int), false
		for _, agent := range agents {
			policy, named := a.policy(agent.name)
			class := classOf(policy)
			t.counts[figure{metric: "policy", agent: agent.name, category: agent.category, profile: profile, key: class}]++
			if named {
				t.counts[figure{metric: "policy_explicit", agent: agent.name, category: agent.category, profile: profile,
					key: class}]++
			}
			if slices.Contains(a.written, agent.name) {
				t.counts[figure{metric: "policy_template", agent: agent.name, category: agent.category, profile: profile,
					key: a.template}]++
			}
			if class == "disallow_all" && agent.category == "ai-training" && (named || agent.kind != "token") {
				ways = append(ways, map[string]string{"": "crawler", "token": "token"}[agent.kind])
			}
			of[agent.category]++
			if class == "disallow_all" {
				closed[agent.category]++
			}
			unknown = unknown || class == "unknown"
		}
		if len(ways) == 0 && a.licensed {
			t.counts[figure{metric: "refusal", profile: profile, key: "terms"}]++
		}
		if len(ways) > 0 {
			slices.Sort(ways)
			for _, way := range append(slices.Compact(ways), "any") {
				t.counts[figure{metric: "refusal", profile: profile, key: way}]++
			}
		}
		for category, n := range of {
			f := figure{metric: "category", category: category, profile: profile}
			switch {
			case unknown:
				f.key = "unknown"
			case closed[category] == 0:
				f.key = "none"
			case closed[category] == n:
				f.key = "all"
			default:
				f.key = "some"
			}
			t.counts[f]++
			if f.key == "all" || f.key == "some" {
				f.key = "any"
				t.counts[f]++
			}
		}
	}
	return t
}

// basesOf returns the bases of the shares of a figure.
func basesOf(f figure) []string {
	switch f.metric {
	case "policy_explicit":
		return []string{"files"}
	case "feature", "field", "signal", "body", "preference", "template":
		return []string{"hosts", "texts"}
	case "refusal", "policy_template":
		return []string{"hosts", "files"}
	case "policy", "category":
		if slices.Contains([]string{"disallow_all", "partial", "all", "some", "any"}, f.key) {
			return []string{"hosts", "files"}
		}
	}
	return []string{"hosts"}
}

// strataNames are the bands of rank that the model uses.
var strataNames = []string{"all", "1-1000", "1001-10000", "10001-100000", "100001-1000000", "1000001-10000000",
	"unranked"}

func stratumName(rank int) string {
	if rank == 0 {
		return "unranked"
	}
	last := 1000
	for _, name := range strataNames[1:] {
		if rank <= last {
			return name
		}
		last *= 10
	}
	return ""
}

// expect returns every point of the series over some crawls, of the sites that in
// accepts, and the number of hosts of the panel. runs are the IDs of the runs.
func (h *twelveCrawls) expect(chosen []int, runs []string, in func(*site) bool, panel bool) (points map[figure]counted,
	panelHosts int) {
	points = make(map[figure]counted)
	everywhere := make(map[*site]bool)
	for _, s := range h.sites {
		everywhere[s] = in(s) && !slices.ContainsFunc(chosen, func(c int) bool { return !h.crawls[c].hosts[s] })
		if everywhere[s] {
			panelHosts++
		}
	}
	populations := map[string]func(*site) bool{"all": in}
	if panel {
		populations["panel"] = func(s *site) bool { return everywhere[s] }
		populations["others"] = func(s *site) bool { return in(s) && !everywhere[s] }
	}
	for name, chooses := range populations {
		var by []map[string]*tallied // by run, then stratum
		figures := make(map[figure]bool)
		for _, c := range chosen {
			groups := map[string][]capture{"all": nil}
			for _, one := range h.captures(c, chooses) {
				groups["all"] = append(groups["all"], one)
				stratum := stratumName(one.rank)
				groups[stratum] = append(groups[stratum], one)
			}
			of := make(map[string]*tallied)
			for stratum, captures := range groups {
				of[stratum] = tally(captures, h.crawls[c].agents)
			}
			for f := range of["all"].counts {
				if f.agent != "" {
					f.category = "" // that of the run
				}
				figures[f] = true
				for _, key := range map[string][]string{"policy": {"partial", "allow_all", "disallow_all", "unknown"},
					"category": {"all", "some", "any", "none", "unknown"}}[f.metric] {
					f.key = key
					figures[f] = true
				}
			}
			by = append(by, of)
		}
		for f := range figures {
			if name != "all" && (f.metric == "challenge" || f.metric == "turned_away") {
				continue // not counted by host
			}
			for i, c := range chosen {
				f, ok := h.labelled(f, c)
				if !ok {
					continue
				}
				for stratum, t := range by[i] {
					for _, base := range basesOf(f) {
						p := f
						p.population, p.stratum, p.run, p.base = name, stratum, runs[i], base
						want := counted{t.counts[f], t.sizes[base], h.comparable(f, chosen, i)}
						if f.metric == "targets" { // a share of all hosts
							want.denominator = len(h.captures(c, in))
						}
						points[p] = want
					}
				}
			}
		}
	}
	if panel {
		for i, c := range chosen[1:] {
			var entered, left, now, before int
			for _, s := range h.sites {
				a, b := in(s) && h.crawls[chosen[i]].hosts[s], in(s) && h.crawls[c].hosts[s]
				if a {
					before++
				}
				if b {
					now++
				}
				if a && !b {
					left++
				}
				if b && !a {
					entered++
				}
			}
			points[figure{metric: "entered", population: "all", stratum: "all", run: runs[i+1], base: "hosts"}] = counted{
				entered, now, "true"}
			points[figure{metric: "left", population: "all", stratum: "all", run: runs[i+1], base: "before"}] = counted{
				left, before, "true"}
		}
	}
	return points, panelHosts
}

// labelled returns a figure with the category of its agent in a crawl, and whether that
// crawl can count it.
func (h *twelveCrawls) labelled(f figure, c int) (figure, bool) {
	if f.agent == "" && f.category == "" {
		return f, true
	}
	for _, a := range h.crawls[c].agents {
		if f.agent != "" && a.name == f.agent {
			f.category = a.category
			return f, true
		}
		if f.agent == "" && a.category == f.category {
			return f, true
		}
	}
	return f, false
}

// comparable says whether a figure can be compared with that of the run before.
func (h *twelveCrawls) comparable(f figure, chosen []int, i int) string {
	if i == 0 {
		return ""
	}
	if f.metric == "refusal" && slices.Contains([]string{"crawler", "token", "any", "terms"}, f.key) {
		f.category = "ai-training" // whose agents it counts
	}
	of := func(c int) (out []entry) {
		for _, a := range h.crawls[c].agents {
			if f.agent != "" && a.name == f.agent || f.agent == "" && f.category != "" && a.category == f.category {
				out = append(out, a)
			}
		}
		return out
	}
	return strconv.FormatBool(slices.Equal(of(chosen[i-1]), of(chosen[i])))
}

// expectChanges adds the changes between neighbours. It returns the number of origins
// whose state before is from an earlier crawl.
func (h *twelveCrawls) expectChanges(points map[figure]counted) (earlier int) {
	var by [len(h.crawls)]map[figure]int
	var both [len(h.crawls)]int
	figures := make(map[figure]bool)
	for _, key := range []string{"closed", "shut_out", "opened", "let_in", "both", "reworded", "undecided"} {
		figures[figure{metric: "change", population: "all", stratum: "all", key: key, base: "both"}] = true
	}
	var last [len(h.crawls)]map[string]answer // by origin; what cannot be read has no policy
	for c := range h.crawls {
		last[c] = make(map[string]answer)
		for _, one := range h.captures(c, everySite) {
			last[c][one.origin] = one.said()
		}
	}
	for c := 1; c < len(h.crawls); c++ {
		by[c] = make(map[figure]int)
		for origin, a := range last[c-1] {
			b := last[c][origin]
			// An outage hides nothing: the latest crawl before it that read the file counts.
			k := c - 1
			for ; k > 0 && a.star == "" && b.star != ""; k-- {
				a = last[k-1][origin]
			}
			if a.star == "" || b.star == "" {
				continue
			}
			if k < c-1 {
				earlier++
			}
			both[c]++
			ways := make(map[string]bool)
			for _, agent := range h.crawls[c].agents {
				if !slices.ContainsFunc(h.crawls[c-1].agents, func(x entry) bool { return x.name == agent.name }) {
					continue
				}
				p, _ := a.policy(agent.name)
				q, _ := b.policy(agent.name)
				for _, way := range waysOf(p, q) {
					ways[way] = true
					by[c][figure{metric: "change", population: "all", stratum: "all", agent: agent.name, profile: profile, key: way,
						base: "both"}]++
				}
			}
			// A host closes if it closes to an agent, and does both if it also opens to one.
			ways["both"] = ways["closed"] && ways["opened"]
			ways["reworded"] = !ways["closed"] && !ways["opened"] && b.text != a.text && b.text == answers["reworded"].text &&
				a.text == answers["private"].text
			for way, is := range ways {
				if is {
					by[c][figure{metric: "change", population: "all", stratum: "all", key: way, base: "both"}]++
				}
			}
		}
		for f := range by[c] {
			figures[f] = true
		}
	}
	for f := range figures {
		for c := 1; c < len(h.crawls); c++ {
			_, is := h.labelled(f, c)
			_, was := h.labelled(f, c-1)
			if !is || !was {
				continue // nobody knows what an agent of one registry did
			}
			p, _ := h.labelled(f, c)
			p.run = h.crawls[c].id
			points[p] = counted{by[c][f], both[c], h.comparable(f, []int{c - 1, c}, 1)}
		}
	}
	return earlier
}

func (f figure) String() string {
	return fmt.Sprintf("%s %s of %s: %s %s %s %s, of %s", f.run, f.metric, f.population, f.stratum, f.agent, f.category,
		f.key, f.base)
}
