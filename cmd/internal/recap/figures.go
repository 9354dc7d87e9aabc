package recap

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/summary"
)

// answers groups the reasons of fetches by what they show, so that the answers of sites
// are separate from the effects of outages.
var answers = []struct {
	name     string
	evidence []answer.Evidence
}{
	{"answered", []answer.Evidence{answer.ShowsFile, answer.ShowsErrorBody, answer.ShowsNoFile,
		answer.ShowsDeadRedirect, answer.NotStored, answer.TurnsAway, answer.BehindWall}},
	{"server error", []answer.Evidence{answer.ServerFails}},
	{"could not be reached", []answer.Evidence{answer.NotReached}},
	{"no usable answer", []answer.Evidence{answer.BrokenAnswer}},
	{"unreachable for now, judged by memory", []answer.Evidence{answer.OnlyMemory}},
	{"not asked, a special address", []answer.Evidence{answer.SpecialAddress}},
	{"not asked, no route from here", []answer.Evidence{answer.NoRouteHere}},
	{"unknown", []answer.Evidence{answer.ShowsNothing}},
}

// figures are the figures of the terminal, under the first profile.
type figures struct {
	targets  int64
	noun     string           // what a target is: a host, or a capture of one
	stored   int64            // targets that are stored files, of which nobody knows which hosts have none
	Outcomes map[string]int64 // of the hosts that no wall hides
	Reasons  map[string]int64 // that say what the hosts show, with a wall, and what turns us away, under its own
	Failures map[string]int64 // hosts that could not be reached, by error class
	agents   []counters.Fate  // those that any host shuts out, most hosts first

	hasTraining bool             // the registry has agents for AI training
	training    int64            // hosts that shut out at least one of them
	refusals    map[string]int64 // hosts that refuse the training of models, by way

	decided *summary.Decided
	pages   int64 // hosts that answered with a page of HTML in place of a robots.txt

	Walls      map[string]int64 // hosts that a wall kept from being read, by vendor
	documented map[string]int64 // hosts asked for documents, by the places where they refuse AI training
	otherwise  map[string]int64 // hosts with something else in place of a document, by its name
	// hosts by what they list in sitemaps, by what is wrong with sitemaps that they name, and
	// those that close to an agent a page that they list
	listing, faults, listedClosed map[string]int64
	pagesOf                       map[string]int64 // hosts that list pages, by agent

	others map[string]int64 // hosts that let identities in on paper, by identity and what it met
	met    map[string]int64 // hosts asked for a page, by identity, what robots.txt says, and what it met
	// hosts by what came of the request for the front page, and those read by what its header states,
	// and whether it refuses AI training
	front, stated, refused map[string]int64
}

// Read returns the number of targets that were read.
func (f *figures) Read() int64 { return f.decided.Read() }

func FiguresOf(profile string, targets int64, counts *summary.Counts) *figures {
	sums := counters.Of(counts)
	by := func(metric string) map[string]int64 { return sums.By(metric, profile, counters.Key) }
	decided := sums.Decided(profile)
	f := &figures{
		targets: targets, noun: "host", stored: by("source")["body"], Outcomes: decided.Outcomes(),
		Reasons: decided.Named(), Failures: by("network_failure"),
		refusals: by("refusal"), decided: decided, pages: sums.Pages(profile), Walls: sums.Walls(profile),
		others: by("answer_let_in"), met: by("page_met"),
	}
	f.listing, f.faults = by("sitemap_host"), by("sitemap_fault")
	f.front, f.stated, f.refused = by("front_page"), by("page_preference"), by("page_refusal")
	f.documented, f.otherwise = by("document_refusal"), make(map[string]int64)
	for key, n := range by("document") {
		if name, isInvalid := strings.CutSuffix(key, " "+string(consent.Invalid)); isInvalid {
			f.otherwise[name] += n
		}
	}
	agentOf := func(l counters.Label) string { return l.Agent }
	f.listedClosed, f.pagesOf = make(map[string]int64), sums.By("coverage", profile, agentOf)
	for agent, keys := range sums.Pivot("listed_closed", profile, agentOf) {
		f.listedClosed[agent] = keys["any"]
	}
	training := sums.Pivot("category", profile, func(l counters.Label) string { return l.Category })[counters.Headline]
	f.hasTraining, f.training = training != nil, training["some"]+training["all"]
	f.agents = slices.DeleteFunc(sums.Fates(profile), func(a counters.Fate) bool { return a.Closed == 0 })
	slices.SortStableFunc(f.agents, func(a, b counters.Fate) int {
		return cmp.Or(cmp.Compare(b.Closed, a.Closed), cmp.Compare(b.ByName, a.ByName))
	})
	return f
}

// fromMemory counts the hosts that were not asked because an earlier answer is
// fresh. It is 0 without the table summary.
func fromMemory(r *pipeline.Result) int64 {
	return counters.Of(r.Counts).By("source", "", counters.Key)["cache"]
}

// parts returns the rows below a group of answers: its reasons if it has several or,
// for hosts that could not be reached, the error classes.
func (f *figures) parts(evidence []answer.Evidence) (n int64, parts map[string]int64) {
	parts = make(map[string]int64)
	for reason, count := range f.Reasons {
		if count > 0 && slices.Contains(evidence, answer.Reason(reason).Evidence()) {
			n += count
			if reason == string(answer.Success) && f.pages > 0 {
				parts[words.Page] += f.pages
				count -= f.pages
			}
			if count > 0 {
				parts[words.Reason.Of(reason)] += count
			}
		}
	}
	switch {
	case evidence[0] == answer.NotReached:
		clear(parts)
		for class, count := range f.Failures {
			parts[words.ErrorClass.Of(class)] += count
		}
	case len(evidence) == 1 && len(evidence[0].Reasons()) == 1:
		clear(parts)
	}
	return n, parts
}

// refusing lists the ways in which hosts refuse the training of models; none if all do so by
// shutting out a crawler.
func (f *figures) refusing() (said []string) {
	ways := maps.Clone(f.refusals)
	delete(ways, summary.AnyRefusal)
	delete(ways, summary.ByTerms)
	if len(ways) == 0 || len(ways) == 1 && ways["crawler"] > 0 {
		return nil
	}
	for _, way := range counters.Ranked(ways) {
		said = append(said, words.Number(ways[way])+" "+words.Refusal.Of(way))
	}
	return said
}
