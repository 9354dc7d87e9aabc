package series

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// pointMaker makes the points of a series.
type pointMaker struct {
	Config
	runs   []*countedRun
	pairs  []*neighbours // of a run and the one before it; nil for the first
	result *Result
	strata []string
	shared map[string]*string // texts of cells
}

func newPointMaker(c Config, runs []*countedRun, r *Result) *pointMaker {
	p := &pointMaker{Config: c, runs: runs, result: r, strata: strata(runs, c.Strata), shared: make(map[string]*string),
		pairs: make([]*neighbours, len(runs))}
	for i, run := range runs {
		all := run.all.of(All)
		about := Run{Run: run.ID(), Date: run.Date, Source: run.Source, Hosts: all.sizes[baseHosts].n}
		if len(c.Profiles) > 0 && slices.Contains(run.Profiles, c.Profiles[0]) {
			n := all.sizes[filesOf(c.Profiles[0])].n
			about.Files = &n
		}
		if i > 0 {
			p.pairs[i] = newNeighbours(runs[i-1], run, c.Profiles)
			about.Breaks = p.pairs[i].All()
			r.Marks = append(r.Marks, p.pairs[i].marks(c.Profiles)...)
			if before := runs[i-1]; before.Date.Equal(run.Date) {
				r.warn("runs %s and %s have the same date: choose one of them with --runs", before.ID(), run.ID())
			}
		}
		r.Runs = append(r.Runs, about)
	}
	if r.Panel == nil && slices.ContainsFunc(r.Runs, func(run Run) bool { return run.Source == journal.FromArchive }) {
		r.warn("an archive may have several captures of a host, and each of them counts: --panel says how many")
	}
	p.warnOfOutages()
	p.markComments()
	return p
}

// points makes all points, sorted by series, then by date.
func (p *pointMaker) points() {
	for _, set := range []struct {
		name string
		of   func(*countedRun) population
	}{
		{All, func(r *countedRun) population { return r.all }},
		{"panel", func(r *countedRun) population { return r.panel }},
		{"others", func(r *countedRun) population { return r.others }},
	} {
		if set.of(p.runs[0]) != nil {
			p.population(set.name, set.of)
		}
	}
	p.movements()
	p.changes()
	p.remark()
}

// figures returns the figures that any run has, without the categories of agents,
// which may change.
func (p *pointMaker) figures(of func(*countedRun) population) []id {
	seen := make(map[id]bool)
	for _, r := range p.runs {
		for k := range of(r).of(All).counts {
			if k.profile != "" && !slices.Contains(p.Profiles, k.profile) {
				continue
			}
			if k.agent != "" {
				k.category = ""
			}
			seen[k] = true
			every := map[string][]string{"policy": summary.ClassNames[:], "category": categoryKeys[:],
				"coverage_closed": summary.ClosedBands}
			for _, key := range every[k.metric] {
				k.key = key
				seen[k] = true
			}
		}
	}
	list := make([]id, 0, len(seen))
	for k := range seen {
		list = append(list, k)
	}
	slices.SortFunc(list, compareIDs)
	return list
}

func compareIDs(a, b id) int {
	return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.category, b.category), cmp.Compare(a.agent, b.agent),
		cmp.Compare(a.profile, b.profile), cmp.Compare(a.key, b.key))
}

func (p *pointMaker) population(name string, of func(*countedRun) population) {
	weighted := p.Weights != nil && (p.Config.Strata == nil || slices.Contains(p.Config.Strata, Weighted))
	for _, k := range p.figures(of) {
		rule := metrics[k.metric]
		bases := rule.bases
		if slices.Contains(rule.files, k.key) {
			bases = append(slices.Clip(bases), baseFiles)
		}
		for _, base := range bases {
			for _, stratum := range p.strata {
				for i, r := range p.runs {
					p.point(i, k, name, stratum, base, of(r)[stratum])
				}
			}
			if weighted && k.metric != "targets" {
				for i, r := range p.runs {
					p.weighted(i, k, name, base, of(r))
				}
			}
		}
	}
}

// labelled returns a figure with the category of its agent in a run. It reports false
// if the run does not have the agent, the category or the profile: then there is
// nothing to count, and not a count of 0.
func (p *pointMaker) labelled(r *countedRun, k id) (id, bool) {
	if k.profile != "" && !slices.Contains(r.Profiles, k.profile) {
		return k, false
	}
	if with := metrics[k.metric].with; with != "" && !r.Counted[with] {
		return k, false
	}
	if k.agent != "" {
		category, ok := r.Category[k.agent]
		k.category = category
		return k, ok
	}
	return k, k.category == "" || slices.Contains(slices.Collect(maps.Values(r.Category)), k.category)
}

// baseOf returns the key of a base in band.sizes.
func (p *pointMaker) baseOf(k id, base string) string {
	switch base {
	case baseFiles:
		return filesOf(k.profile)
	case baseAsked, baseCompared:
		return baseFor(k.key, base)
	}
	return base
}

func (p *pointMaker) point(i int, k id, population, stratum, base string, b *band) {
	k, ok := p.labelled(p.runs[i], k)
	if !ok || b == nil || population != All && !p.runs[i].byHost[k.metric] {
		return
	}
	size, n := b.sizes[p.baseOf(k, base)], b.counts[k]
	if k.metric == "targets" { // the share of the stratum
		if all := p.runs[i].all[All]; stratum != All || population != All {
			size = all.sizes[baseHosts]
		}
	}
	row := p.row(i, k, population, stratum, base, n.n, size.n)
	if size.n > 0 && k.metric != "targets" {
		hosts := b.sizes[baseHosts]
		e, method := wilson(float64(n.n), float64(size.n)), "wilson"
		if p.isClustered(i, k) {
			method = "clustered"
			e, _ = ratio([]stratumSums{sumsOf(1, n, size, hosts, base)})
			row.Clusters = &hosts.clusters
		}
		p.estimated(row, e, method, float64(size.n), hosts)
	}
	p.add(row, i, k, stratum)
}

// weighted adds the point of all hosts, with each stratum weighted by its hosts in
// the population.
func (p *pointMaker) weighted(i int, k id, population, base string, of population) {
	k, ok := p.labelled(p.runs[i], k)
	if !ok || population != All && !p.runs[i].byHost[k.metric] {
		return
	}
	var parts []stratumSums
	var n tally
	var size, hosts sizes
	for stratum, weight := range p.Weights {
		b := of[stratum]
		if weight == 0 || b == nil || b.sizes[baseHosts].n == 0 {
			continue
		}
		y, s, h := b.counts[k], b.sizes[p.baseOf(k, base)], b.sizes[baseHosts]
		if !p.isClustered(i, k) {
			y, s, h = simple(y.n), simpleSizes(s.n), simpleSizes(h.n)
		}
		parts = append(parts, sumsOf(weight/float64(h.n), y, s, h, base))
		n, size, hosts = n.plus(y), size.plus(s), hosts.plus(h)
	}
	slices.SortFunc(parts, func(a, b stratumSums) int {
		return cmp.Or(cmp.Compare(a.weight, b.weight), cmp.Compare(a.x, b.x), cmp.Compare(a.y, b.y))
	}) // so that sums of floats do not depend on the order of a map
	row := p.row(i, k, population, Weighted, base, n.n, size.n)
	if e, ok := ratio(parts); ok {
		method := "stratified"
		if p.isClustered(i, k) {
			method, row.Clusters = "clustered", &hosts.clusters
		}
		p.estimated(row, e, method, float64(size.n), hosts)
	}
	p.add(row, i, k, Weighted)
}

// isClustered reports whether the interval of a figure of a run allows for clusters: the
// pass over hosts counts it.
func (p *pointMaker) isClustered(i int, k id) bool { return p.Clustered && p.runs[i].byHost[k.metric] }

func sumsOf(weight float64, n tally, size, hosts sizes, base string) stratumSums {
	xy, yyx := n.withHosts, n.perHosts
	if base != baseHosts {
		xy, yyx = n.withBase, n.perBase
	}
	return stratumSums{
		weight: weight, y: float64(n.n), x: float64(size.n), yy: n.squares, xy: xy, xx: size.squares, yyx: yyx,
		clusters: float64(hosts.clusters), based: float64(size.clusters),
	}
}

func (p *pointMaker) row(i int, k id, population, stratum, base string, count, denominator int64) *schema.Point {
	m := p.runs[i].Manifest
	return &schema.Point{
		Metric: k.metric, Population: population, Stratum: stratum, Agent: p.text(k.agent), Category: p.text(k.category),
		Profile: p.text(k.profile), Key: p.text(k.key), Run: m.Run, Date: m.Date, Base: base, Count: count,
		Denominator: denominator,
	}
}

// text returns a cell; equal ones share it.
func (p *pointMaker) text(s string) *string {
	if s == "" {
		return nil
	}
	if p.shared[s] == nil {
		p.shared[s] = &s
	}
	return p.shared[s]
}

func (p *pointMaker) estimated(row *schema.Point, e estimate, method string, n float64, hosts sizes) {
	row.Share, row.Low, row.High, row.Method = &e.share, &e.low, &e.high, p.text(method)
	if method != "wilson" && e.effect > 0 {
		row.DesignEffect = &e.effect
	}
	var caution []string
	if n < enoughHosts {
		caution = append(caution, "few_hosts")
	}
	if e.share < rarest || e.share > 1-rarest || e.counted < enoughCounted {
		caution = append(caution, "rare")
	}
	if method == "clustered" && hosts.clusters < enoughClusters {
		caution = append(caution, "few_clusters")
	}
	if method == "clustered" && hosts.even() < enoughEven {
		caution = append(caution, "uneven_clusters")
	}
	row.Caution = p.text(strings.Join(caution, ","))
}

// add appends a point. The runs of a figure are added in order.
func (p *pointMaker) add(row *schema.Point, i int, k id, stratum string) {
	if row.Share == nil && row.Denominator > 0 {
		share := float64(row.Count) / float64(row.Denominator)
		row.Share = &share
	}
	if i > 0 {
		// Only of these two runs: a break between earlier ones does not make this step
		// less comparable, and the line begins anew after it.
		why := p.pairs[i].whyNot(k, stratum)
		comparable := why == ""
		row.Comparable, row.WhyNot = &comparable, p.text(why)
	}
	p.result.Points = append(p.result.Points, *row)
}

// remark adds warnings about the weights.
func (p *pointMaker) remark() {
	if p.Weights == nil {
		return
	}
	for _, stratum := range p.strata {
		if _, ok := p.Weights[stratum]; stratum != All && !ok {
			p.result.warn("--weights has no stratum %s: its hosts do not count in weighted figures", stratum)
		}
	}
	for _, stratum := range slices.Sorted(maps.Keys(p.Weights)) {
		for _, r := range p.runs {
			if b := r.all[stratum]; b == nil || b.sizes[baseHosts].n == 0 {
				p.result.warn("run %s has no host in the stratum %s of --weights: its weighted figures are those of the other "+
					"strata", r.ID(), stratum)
			}
		}
	}
}
