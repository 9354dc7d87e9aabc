package series

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/summary"
)

// figures numbers the figures of a run, so that a vector becomes a list of numbers.
// Number 0 stands for the host itself, the next ones for a file under each profile, and
// then one for a text.
type figures struct {
	h          *hostReader
	ids        []id
	numbers    map[id]int32
	policy     [][len(summary.ClassNames)]int32 // by profile × agents + agent
	explicit   [][len(summary.ClassNames)]int32
	categories []string
	categoryOf []int                      // by agent
	category   [][len(categoryKeys)]int32 // by profile × categories + category
	dense      map[*band]*dense
	list       []int32 // reused by of
	closing    []ofCategory
	contents   map[id]int32 // numbers of figures about contents; it does not change
	refusing   *refusing
	scratch    []int32 // reused by cluster
	touched    []int32
}

// ofCategory counts how a host treats the agents of a category.
type ofCategory struct{ agents, closed, unknown int }

// categoryKeys are the keys of the metric category in a series.
var categoryKeys = [...]string{"all", "some", "none", "unknown", closesAny}

// closesAny is the key of hosts that close all agents of a category or some. It is not
// in summary, because it is the sum of two that are.
const closesAny = "any"

// dense holds the tallies of a band by number. The sums of clusters are nil without
// clusters.
type dense struct {
	n                            []int64
	squares, withHosts, withBase []float64
	perHosts, perBase            []float64
	clusters                     []int64 // that have such hosts
}

func newFigures(h *hostReader) *figures {
	f := &figures{h: h, numbers: make(map[id]int32), dense: make(map[*band]*dense)}
	f.ids = make([]id, 2+len(h.profiles)) // sizes have no id
	seen := make(map[string]bool)
	for _, agent := range h.agents {
		seen[h.run.Category[agent]] = true
	}
	f.categories = slices.Sorted(maps.Keys(seen))
	for _, agent := range h.agents {
		f.categoryOf = append(f.categoryOf, slices.Index(f.categories, h.run.Category[agent]))
	}
	f.closing = make([]ofCategory, len(f.categories))
	for _, profile := range h.profiles {
		for _, agent := range h.agents {
			var policy, explicit [len(summary.ClassNames)]int32
			for c, class := range summary.ClassNames {
				policy[c] = f.number(id{"policy", agent, h.run.Category[agent], profile, class})
				explicit[c] = f.number(id{"policy_explicit", agent, h.run.Category[agent], profile, class})
			}
			f.policy, f.explicit = append(f.policy, policy), append(f.explicit, explicit)
		}
		for _, category := range f.categories {
			var numbers [len(categoryKeys)]int32
			for k, key := range categoryKeys {
				numbers[k] = f.number(id{"category", "", category, profile, key})
			}
			f.category = append(f.category, numbers)
		}
	}
	f.numberContents()
	return f
}

// texts is the number of the hosts that have a file.
func (f *figures) texts() int32 { return int32(1 + len(f.h.profiles)) }

func (f *figures) number(k id) int32 {
	n, ok := f.numbers[k]
	if !ok {
		n = int32(len(f.ids))
		f.numbers[k], f.ids = n, append(f.ids, k)
	}
	return n
}

// isFile is the outcome of a host whose rules decide, as an index in outcomes.
const isFile = 1

// of returns the numbers of the figures that count a host with a vector. The list is
// valid until the next call.
func (f *figures) of(vector string) []int32 {
	h, list := f.h, append(f.list[:0], 0)
	walled := vector[len(h.profiles)] > 0
	for p := range h.profiles {
		if h.hasRules(vector, p) {
			list = append(list, int32(1+p))
		}
	}
	head := h.head()
	if vector[head-4] > 0 {
		list = append(list, f.texts())
	}
	list = append(list, f.number(id{metric: "targets"}))
	if h.first {
		list = append(list, f.number(id{metric: "reason", profile: h.run.FirstProfile(),
			key: string(answer.Shown(answer.Reasons[vector[head-3]], walled))}))
	}
	status := "none"
	if n := binary.LittleEndian.Uint16([]byte(vector[head-2 : head])); n > 0 {
		status = strconv.Itoa(int(n))
	}
	list = append(list, f.number(id{metric: "status", key: status}))
	for p, profile := range h.profiles {
		switch {
		case vector[p] > 0 && walled:
			list = append(list, f.number(id{metric: "outcome", profile: profile, key: string(answer.Undefined)}))
		case vector[p] > 0:
			list = append(list, f.number(id{metric: "outcome", profile: profile, key: outcomes[vector[p]]}))
		}
		clear(f.closing)
		for a := range h.agents {
			b := vector[head+p*len(h.agents)+a]
			if b&classSet == 0 {
				continue
			}
			class := b &^ (classSet | explicitBit)
			list = append(list, f.policy[p*len(h.agents)+a][class])
			if b&explicitBit != 0 {
				list = append(list, f.explicit[p*len(h.agents)+a][class])
			}
			c := &f.closing[f.categoryOf[a]]
			c.agents++
			switch int(class) {
			case int(robots.DisallowAll):
				c.closed++
			case summary.ClassUnknown:
				c.unknown++
			}
		}
		for k, c := range f.closing {
			if c.agents > 0 {
				numbers := &f.category[p*len(f.categories)+k]
				list = append(list, numbers[c.key()])
				if c.closed > 0 && c.unknown == 0 {
					list = append(list, numbers[slices.Index(categoryKeys[:], closesAny)])
				}
			}
		}
	}
	first := head + max(0, slices.Index(h.profiles, h.run.FirstProfile()))*len(h.agents)
	f.list = f.addContents(list, vector[first:], vector[h.size():])
	return f.list
}

// key returns an index in categoryKeys, by the rule of the metric category.
func (c ofCategory) key() int {
	switch {
	case c.unknown > 0:
		return 3
	case c.closed == 0:
		return 2
	case c.closed == c.agents:
		return 0
	}
	return 1
}

// denseOf returns the tallies of a band.
func (f *figures) denseOf(b *band) *dense {
	d := f.dense[b]
	if d == nil {
		d = new(dense)
		f.dense[b] = d
	}
	if more := len(f.ids) - len(d.n); more > 0 {
		d.n = append(d.n, make([]int64, more)...)
		if f.h.Clustered {
			d.clusters = append(d.clusters, make([]int64, more)...)
			for _, sums := range []*[]float64{&d.squares, &d.withHosts, &d.withBase, &d.perHosts, &d.perBase} {
				*sums = append(*sums, make([]float64, more)...)
			}
		}
	}
	return d
}

// count adds n hosts, whose figures are list, to a stratum.
func (f *figures) count(p population, stratum string, list []int32, n int64) {
	d := f.denseOf(p.of(stratum))
	for _, k := range list {
		d.n[k] += n
	}
}

// settle moves the tallies to their bands.
func (f *figures) settle() {
	for b, d := range f.dense {
		for number, n := range d.n {
			t, s := simple(n), simpleSizes(n)
			if f.h.Clustered {
				t = tally{n, d.squares[number], d.withHosts[number], d.withBase[number], d.perHosts[number], d.perBase[number]}
				s = sizes{n, d.squares[number], d.clusters[number]}
			}
			switch {
			case number == 0:
				b.sizes[baseHosts] = s
			case number <= len(f.h.profiles):
				b.sizes[filesOf(f.h.profiles[number-1])] = s
			case number == int(f.texts()):
				b.sizes[baseTexts] = s
			case n > 0:
				b.counts[f.ids[number]] = t
			}
		}
	}
}

// countClusters counts the hosts by registered domain.
func (h *hostReader) countClusters() {
	slices.SortFunc(h.hosts, func(a, b clusterHost) int {
		return cmp.Or(cmp.Compare(a.domain, b.domain), cmp.Compare(a.band, b.band), cmp.Compare(a.vector, b.vector))
	})
	single := make(map[group]int64)
	for i := 0; i < len(h.hosts); {
		j := i + 1
		for j < len(h.hosts) && h.hosts[j].domain == h.hosts[i].domain {
			j++
		}
		if j == i+1 {
			single[h.hosts[i].group]++
		} else {
			h.countCluster(h.hosts[i:j])
		}
		i = j
	}
	for g, n := range single {
		list := h.figures.of(h.texts[g.vector])
		for _, p := range h.populations(g) {
			for _, name := range []string{h.bandNames[g.band], All} {
				h.figures.singles(h.figures.denseOf(p.of(name)), list, n)
			}
		}
	}
}

// countCluster counts a domain, whose hosts are sorted by band.
func (h *hostReader) countCluster(hosts []clusterHost) {
	count := func(p population, hosts []clusterHost) {
		if len(hosts) == 0 {
			return
		}
		h.figures.cluster(p.of(All), hosts)
		for i := 0; i < len(hosts); {
			j := i + 1
			for j < len(hosts) && hosts[j].band == hosts[i].band {
				j++
			}
			h.figures.cluster(p.of(h.bandNames[hosts[i].band]), hosts[i:j])
			i = j
		}
	}
	count(h.run.all, hosts)
	if h.Panel {
		without := func(inPanel bool) []clusterHost {
			return slices.DeleteFunc(slices.Clone(hosts), func(c clusterHost) bool { return c.twice || c.panel == inPanel })
		}
		count(h.run.panel, without(false))
		count(h.run.others, without(true))
	}
}

// singles adds n domains of one host each.
func (f *figures) singles(d *dense, list []int32, n int64) {
	for _, k := range list {
		d.n[k] += n
		d.clusters[k] += n
		d.squares[k] += float64(n)
		d.withHosts[k] += float64(n)
		d.perHosts[k] += float64(n)
		if f.inBase(k, list) {
			d.withBase[k] += float64(n)
			d.perBase[k] += float64(n)
		}
	}
}

// inBase reports whether a host with the figures list is in the base of a figure.
func (f *figures) inBase(k int32, list []int32) bool {
	base := f.baseOf(k)
	return base > 0 && slices.Contains(list[:min(len(list), 2+len(f.h.profiles))], base)
}

// baseOf returns the number of the base of a figure beside all hosts: the files under its
// profile, or the texts. It is 0 for none.
func (f *figures) baseOf(k int32) int32 {
	switch {
	case k <= f.texts():
		return k
	case slices.Contains(metrics[f.ids[k].metric].bases, baseTexts):
		return f.texts()
	}
	return int32(1 + slices.Index(f.h.profiles, f.ids[k].profile))
}

// cluster adds a domain of several hosts.
func (f *figures) cluster(b *band, hosts []clusterHost) {
	f.touched = f.touched[:0]
	for i := 0; i < len(hosts); {
		j := i + 1
		for j < len(hosts) && hosts[j].vector == hosts[i].vector {
			j++
		}
		list := f.of(f.h.texts[hosts[i].vector])
		if more := len(f.ids) - len(f.scratch); more > 0 {
			f.scratch = append(f.scratch, make([]int32, more)...)
		}
		for _, k := range list {
			if f.scratch[k] == 0 {
				f.touched = append(f.touched, k)
			}
			f.scratch[k] += int32(j - i)
		}
		i = j
	}
	d := f.denseOf(b)
	for _, k := range f.touched {
		y, base := float64(f.scratch[k]), 0.0
		if of := f.baseOf(k); of > 0 {
			base = float64(f.scratch[of])
		}
		d.n[k] += int64(f.scratch[k])
		d.squares[k] += y * y
		d.withHosts[k] += y * float64(len(hosts))
		d.perHosts[k] += addend(y * y / float64(len(hosts)))
		if base > 0 {
			d.withBase[k] += y * base
			d.perBase[k] += addend(y * y / base)
		}
		d.clusters[k]++
	}
	for _, k := range f.touched {
		f.scratch[k] = 0
	}
}

// addend rounds a number to 28 binary places. Sums of such numbers are exact, as those
// of whole numbers are, so that they do not depend on the order of the clusters, which
// differs from process to process, for up to 2^25 hosts.
func addend(x float64) float64 { return math.Round(x*(1<<28)) / (1 << 28) }
