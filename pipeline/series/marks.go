package series

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// commentsSince is the day on which Cloudflare announced that it serves a robots.txt of
// comments alone for sites that have none. In 2025 the hosts that have a robots.txt, and
// those whose rules decide, became more for that reason alone.
var commentsSince = time.Date(2025, 9, 24, 0, 0, 0, 0, time.UTC)

// markComments marks the first run after that day, if more hosts have such a file in it
// than in the run before.
func (p *pointMaker) markComments() {
	for i := 1; i < len(p.runs); i++ {
		before, after := p.runs[i-1], p.runs[i]
		if !before.Date.Before(commentsSince) || after.Date.Before(commentsSince) {
			continue
		}
		share := func(r *countedRun) float64 {
			all := r.all.of(All)
			return float64(all.counts[id{metric: "body", key: "only_comments"}].n) / float64(max(1, all.sizes[baseHosts].n))
		}
		if was, is := share(before), share(after); is > was {
			p.result.Marks = append(p.result.Marks, Mark{after.ID(), "meaning_changed", "", fmt.Sprintf(
				"since autumn 2025 Cloudflare serves a robots.txt of comments alone for sites that have none, and their rules "+
					"decide: %.1f%% of the hosts have such a file, after %.1f%%", 100*is, 100*was)})
		}
	}
}

// outage is the difference between the shares of unknown policies of two runs that is
// worth a warning.
const outage = 0.02

// warnOfOutages warns of runs in which more hosts, or fewer, did not say what their
// policies are. Such a host is in the denominator of shares of hosts, so that these
// change although no policy did.
func (p *pointMaker) warnOfOutages() {
	if len(p.Profiles) == 0 {
		return
	}
	profile := p.Profiles[0]
	for i := 1; i < len(p.runs); i++ {
		var shares [2]float64
		var walls, others [2]float64
		for k, r := range p.runs[i-1 : i+1] {
			walls[k], others[k] = r.hidden(profile)
			shares[k] = walls[k] + others[k]
		}
		known := slices.Contains(p.runs[i-1].Profiles, profile) && slices.Contains(p.runs[i].Profiles, profile)
		if known && len(p.pairs[i].All()) == 0 && math.Abs(shares[1]-shares[0]) >= outage {
			if isBack := i > 1 && shares[0] > shares[1] &&
				slices.ContainsFunc(p.result.Marks, func(m Mark) bool {
					return m.Run == p.runs[i-1].ID() &&
						(m.Kind == "outage" || m.Kind == "walls")
				}); isBack {
				continue // the warning about the outage says it
			}
			p.result.warn("the policies of %.1f%% of the hosts are unknown in run %s, and of %.1f%% in run %s: shares of "+
				"all hosts shift for that reason alone, those of hosts whose rules decide (base files) only as far as the "+
				"hosts that are down differ from others",
				100*shares[1], p.runs[i].ID(), 100*shares[0], p.runs[i-1].ID())
			k := 1 // the run that is hit
			if shares[0] > shares[1] {
				k = 0
			}
			// Which of both hides more there; both, if each alone is worth a warning.
			byWalls, byOthers := walls[k]-walls[1-k], others[k]-others[1-k]
			if byWalls >= min(byOthers, outage) && byWalls > 0 {
				p.markHidden(i-1+k, "walls",
					"walls: they hide the policies of %.1f%% of the hosts, of %.1f%% in a neighbouring run", walls[k], walls[1-k])
			}
			if byOthers > min(byWalls, outage) && byOthers > 0 {
				p.markHidden(i-1+k, "outage", "an outage: the policies of %.1f%% of the hosts are unknown, of %.1f%% in a "+
					"neighbouring run", others[k], others[1-k])
			}
		}
	}
}

// markHidden marks a run that does not show the policies of a share of the hosts, once.
func (p *pointMaker) markHidden(run int, kind, text string, share, neighbour float64) {
	mark := Mark{p.runs[run].ID(), kind, "", fmt.Sprintf(text, 100*share, 100*neighbour)}
	if !slices.ContainsFunc(p.result.Marks, func(m Mark) bool { return m.Run == mark.Run && m.Kind == mark.Kind }) {
		p.result.Marks = append(p.result.Marks, mark)
	}
}

func (r *Result) warn(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
