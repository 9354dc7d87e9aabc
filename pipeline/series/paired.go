package series

import (
	"math"
	"slices"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Two runs that have a host in common say twice whether a figure counts it, and a host seldom
// changes. A host that one of them could not read has said nothing. Where the same hosts are
// compared, only those count that changed: gained hosts are counted by the later run alone,
// lost ones by the earlier. Whether the share moved is asked of these by McNemar's exact test
// (Q. McNemar, Psychometrika 12, 1947, 153); the interval is [summary.PairedShares]. Hosts of
// one domain count as independent here: with --clustered, runs are compared as if they were
// apart, which claims less.

// pairs counts hosts that two runs have, by whether a figure counts them.
type pairs struct{ both, gained, lost, none int64 }

func (p pairs) hosts() int64 { return p.both + p.gained + p.lost + p.none }

// difference returns the share of the later run less that of the earlier one, and its
// interval for a quantile of the normal distribution.
func (p pairs) difference(quantile float64) (d, low, high float64) {
	return summary.PairedShares(p.both, p.gained, p.lost, p.none, quantile)
}

// chance returns the probability that at least as many more hosts changed one way than the
// other, if both ways were as likely.
func (p pairs) chance() float64 {
	n := float64(p.gained + p.lost)
	logOf := func(k float64) float64 {
		x, _ := math.Lgamma(n + 1)
		y, _ := math.Lgamma(k + 1)
		z, _ := math.Lgamma(n - k + 1)
		return x - y - z - n*math.Ln2
	}
	sum := 0.0
	for k := float64(min(p.gained, p.lost)); k >= 0; k-- {
		term := math.Exp(logOf(k))
		if sum += term; term < sum*1e-12 {
			break
		}
	}
	return min(1, 2*sum)
}

// pairing holds, for each host of the panel and each run, which figures count it.
type pairing struct {
	ids     []id
	numbers map[id]uint16 // in ids
	sets    map[string]uint32
	texts   []string   // sets: numbers of two bytes, ascending
	runs    [][]uint32 // by host of the panel: noAnswer, severalAnswers, ruleless, or a set
	bands   [][]uint8  // the same, indexes of names
	names   []string
}

// States of a host in a run beside sets of figures. A host with several answers, of several
// origins or captures, has no pair, and neither has one without rules that decide.
const (
	noAnswer = iota
	severalAnswers
	ruleless
	firstSet
)

func newPairing(runs, hosts int) *pairing {
	p := &pairing{names: bandNames, numbers: make(map[id]uint16), sets: make(map[string]uint32)}
	for range runs {
		p.runs, p.bands = append(p.runs, make([]uint32, hosts)), append(p.bands, make([]uint8, hosts))
	}
	return p
}

// isPaired reports whether the movement of a figure is of interest (see moves).
func isPaired(k id, profile string) bool {
	switch k.metric {
	case "policy":
		return k.key == "disallow_all" && k.profile == profile
	case "category":
		return k.key == closesAny && k.profile == profile
	}
	return k.metric == "signal"
}

// set returns the number of the set of figures that count a host.
func (p *pairing) set(ids []id, list []int32, profile string) uint32 {
	var numbers []uint16
	for _, at := range list {
		k := ids[at]
		if !isPaired(k, profile) {
			continue
		}
		if k.agent != "" {
			k.category = "" // which may change
		}
		n, known := p.numbers[k]
		if !known {
			n = uint16(len(p.ids))
			p.numbers[k], p.ids = n, append(p.ids, k)
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	text := make([]byte, 0, 2*len(numbers))
	for _, n := range numbers {
		text = append(text, byte(n>>8), byte(n))
	}
	set, known := p.sets[string(text)]
	if !known {
		set = uint32(firstSet + len(p.texts))
		p.sets[string(text)], p.texts = set, append(p.texts, string(text))
	}
	return set
}

// add notes which figures count a host in a run.
func (p *pairing) add(run, host int, band uint8, set uint32) {
	if state := &p.runs[run][host]; *state != noAnswer {
		*state = severalAnswers
	} else {
		*state, p.bands[run][host] = set, band
	}
}

// between returns the pairs of two runs: a function from figures, of the hosts that are in
// the stratum in both.
func (p *pairing) between(before, after int, stratum string) func(k id) pairs {
	band := slices.Index(p.names, stratum) // -1 for all
	counts := make(map[[2]uint32]int64)
	hosts := int64(0)
	for i, a := range p.runs[before] {
		b := p.runs[after][i]
		if a < firstSet || b < firstSet || band >= 0 && (int(p.bands[before][i]) != band || int(p.bands[after][i]) != band) {
			continue
		}
		hosts++
		counts[[2]uint32{a, b}]++
	}
	of := make([]pairs, len(p.ids))
	each := func(set uint32, then func(n int)) {
		for text := p.texts[set-firstSet]; len(text) > 0; text = text[2:] {
			then(int(text[0])<<8 | int(text[1]))
		}
	}
	for sets, n := range counts {
		each(sets[0], func(k int) { of[k].lost += n })
		each(sets[1], func(k int) { of[k].gained += n })
		if sets[0] == sets[1] {
			each(sets[0], func(k int) { of[k].both += n; of[k].lost -= n; of[k].gained -= n })
			continue
		}
		in := make(map[int]bool)
		each(sets[0], func(k int) { in[k] = true })
		each(sets[1], func(k int) {
			if in[k] {
				of[k].both, of[k].lost, of[k].gained = of[k].both+n, of[k].lost-n, of[k].gained-n
			}
		})
	}
	return func(k id) pairs {
		n, known := p.numbers[k]
		if !known {
			return pairs{none: hosts}
		}
		out := of[n]
		out.none = hosts - out.both - out.gained - out.lost
		return out
	}
}

// idOf returns the figure of a point, as pairs know it.
func idOf(p *schema.Point) id {
	k := id{p.Metric, schema.OrZero(p.Agent), schema.OrZero(p.Category), schema.OrZero(p.Profile), schema.OrZero(p.Key)}
	if k.agent != "" {
		k.category = ""
	}
	return k
}
