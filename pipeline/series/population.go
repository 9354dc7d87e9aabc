package series

import (
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
)

// population is a set of hosts of a run, by stratum.
type population map[string]*band

// band holds the figures of the hosts of a stratum. sizes are the hosts of the
// stratum, by base.
type band struct {
	sizes  map[string]sizes // by base; files also by profile, see filesOf
	counts map[id]tally
}

func (p population) of(stratum string) *band {
	if p[stratum] == nil {
		p[stratum] = &band{sizes: make(map[string]sizes), counts: make(map[id]tally)}
	}
	return p[stratum]
}

func (b *band) size(base string, n int64) { b.sizes[base] = b.sizes[base].plus(simpleSizes(n)) }

// sumUp adds the strata up to All. The sums of squares of clusters do not add up,
// because a cluster may have hosts in several strata: the pass over hosts sets those.
func (p population) sumUp() {
	sum := p.of(All)
	for stratum, b := range p {
		if stratum == All || isLabel(stratum) {
			continue
		}
		for base, n := range b.sizes {
			sum.sizes[base] = sum.sizes[base].plus(n)
		}
		for k, n := range b.counts {
			sum.counts[k] = sum.counts[k].plus(n)
		}
	}
}

// decidedOf says of which hosts and profile a [summary.Decided] is.
type decidedOf struct{ stratum, profile string }

// decided returns the one of a stratum under a profile.
func (r *countedRun) decided(stratum, profile string) *summary.Decided {
	k := decidedOf{stratum, profile}
	if r.decides[k] == nil {
		r.decides[k] = new(summary.Decided)
	}
	return r.decides[k]
}

// shown counts the hosts by what they show under a profile. A host behind a wall shows
// nothing, whatever outcome and reason its status has: its outcome is undefined, and its
// reason the wall.
func (b *band) shown(profile string, d *summary.Decided) {
	b.size(filesOf(profile), d.Rules())
	for reason, n := range d.Reasons() {
		b.counts[id{metric: "reason", profile: profile, key: reason}] = simple(n)
	}
	outcomes := d.Outcomes()
	if n := d.Unknown() - d.Outcome(answer.FullDisallow); n > 0 {
		outcomes[string(answer.Undefined)] = n
	}
	for outcome, n := range outcomes {
		b.counts[id{metric: "outcome", profile: profile, key: outcome}] = simple(n)
	}
}

// hidden returns the shares of the hosts whose policy is unknown under a profile: behind a
// wall, and for any other reason, such as an outage.
func (r *countedRun) hidden(profile string) (walls, others float64) {
	var walled, unknown int64
	for k, d := range r.decides {
		if k.profile == profile && !isLabel(k.stratum) {
			walled, unknown = walled+d.Walled(), unknown+d.Unknown()
		}
	}
	hosts := float64(max(1, r.all.of(All).sizes[baseHosts].n))
	return float64(walled) / hosts, float64(unknown-walled) / hosts
}
