package recap

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
)

// answers groups the reasons of fetches by what they show, so that the answers of sites
// are separate from the effects of outages.
var answers = []struct {
	name     string
	evidence []answer.Evidence
}{
	{"answered", []answer.Evidence{answer.ShowsFile, answer.ShowsNoFile, answer.ShowsDeadRedirect, answer.NotStored}},
	{"server error", []answer.Evidence{answer.ServerFails}},
	{"could not be reached", []answer.Evidence{answer.NotReached}},
	{"no usable answer", []answer.Evidence{answer.BrokenAnswer}},
	{"unreachable for now, judged by memory", []answer.Evidence{answer.OnlyMemory}},
	{"not asked, a special address", []answer.Evidence{answer.SpecialAddress}},
	{"not asked, no route from here", []answer.Evidence{answer.NoRouteHere}},
	{"unknown", []answer.Evidence{answer.ShowsNothing}},
}

// shutOut counts the hosts that shut an agent out, those of them that name it, and
// the hosts that close a part.
type shutOut struct {
	agent, category        string
	hosts, byName, partial int64
}

// figures are the figures of the terminal, under the first profile.
type figures struct {
	targets  int64
	noun     string // what a target is: a host, or a capture of one
	stored   int64  // targets that are stored files, of which nobody knows which hosts have none
	Outcomes map[string]int64
	Reasons  map[string]int64
	Failures map[string]int64 // hosts that could not be reached, by error class
	agents   []*shutOut       // agents that any host shuts out, most hosts first

	hasTraining bool             // the registry has agents for AI training
	training    int64            // hosts that shut out at least one of them
	refusals    map[string]int64 // hosts that refuse the training of models, by way

	decided summary.Decided

	walls  map[string]int64 // hosts that a wall kept from being read, by vendor
	others map[string]int64 // hosts that let identities in on paper, by identity and what it met
}

const aiTraining = "ai-training"

func FiguresOf(profile string, targets int64, counts *summary.Counts) *figures {
	f := &figures{targets: targets, noun: "host", Outcomes: make(map[string]int64), Reasons: make(map[string]int64), Failures: make(map[string]int64), refusals: make(map[string]int64), walls: make(map[string]int64), others: make(map[string]int64)}
	agents := make(map[string]*shutOut)
	for _, row := range counts.List() {
		if row.Profile != profile && row.Profile != "" {
			continue
		}
		f.decided.Add(row.Metric, row.Key, row.N)
		switch row.Metric {
		case "outcome":
			f.Outcomes[row.Key] += row.N
		case "reason":
			f.Reasons[row.Key] += row.N
		case "source":
			if row.Key == "body" {
				f.stored += row.N
			}
		case "network_failure":
			f.Failures[row.Key] += row.N
		case "challenge":
			if vendor, _, _ := strings.Cut(row.Key, " "); vendor != summary.NoChallenge {
				f.walls[words.Challenge.Of(vendor)] += row.N
			}
		case "answer_let_in":
			f.others[row.Key] += row.N
		case "refusal":
			f.refusals[row.Key] += row.N
		case "category":
			if row.Category == aiTraining {
				f.hasTraining = true
				if row.Key == "some" || row.Key == "all" {
					f.training += row.N
				}
			}
		case "policy", "policy_explicit":
			a := agents[row.Agent]
			if a == nil {
				a = &shutOut{agent: row.Agent, category: row.Category}
				agents[row.Agent] = a
			}
			switch row.Metric + " " + row.Key {
			case "policy disallow_all":
				a.hosts += row.N
			case "policy_explicit disallow_all":
				a.byName += row.N
			case "policy partial":
				a.partial += row.N
			}
		}
	}
	for _, a := range agents {
		if a.hosts > 0 {
			f.agents = append(f.agents, a)
		}
	}
	slices.SortFunc(f.agents, func(a, b *shutOut) int {
		return cmp.Or(cmp.Compare(b.hosts, a.hosts), cmp.Compare(b.byName, a.byName), cmp.Compare(a.agent, b.agent))
	})
	return f
}

// sorted returns keys by descending count.
func sorted(counts map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// fromMemory counts the hosts that were not asked because an earlier answer is
// fresh. It is 0 without the table summary.
func fromMemory(r *pipeline.Result) (n int64) {
	for _, row := range r.Counts.List() {
		if row.Metric == "source" && row.Key == "cache" {
			n += row.N
		}
	}
	return n
}

// parts returns the rows below a group of answers: its reasons if it has several or,
// for hosts that could not be reached, the error classes.
func (f *figures) parts(evidence []answer.Evidence) (n int64, parts map[string]int64) {
	parts = make(map[string]int64)
	for reason, count := range f.Reasons {
		if count > 0 && slices.Contains(evidence, answer.Reason(reason).Evidence()) {
			n += count
			parts[words.Reason.Of(reason)] += count
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
	delete(ways, "any")
	if len(ways) == 0 || len(ways) == 1 && ways["crawler"] > 0 {
		return nil
	}
	for _, way := range sorted(ways) {
		said = append(said, words.Number(ways[way])+" "+words.Refusal.Of(way))
	}
	return said
}
