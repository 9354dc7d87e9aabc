package audit

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// Hosts that have their files from one template change in the same way. What
// names the host itself may differ, and so may its sitemaps.

// A wayOfPair is a hash of the changes of the pair under way.
type wayOfPair struct {
	hash  maphash.Hash
	begun bool
}

// ownKinds are of the host itself, and no template's.
var ownKinds = []string{"sitemap", "redirect", "reachability", "host_new", "host_gone", "text"}

func (w *wayOfPair) add(row *sink.Change) {
	if slices.Contains(ownKinds, row.Kind) || row.Kind == "rules" && row.Agent == nil {
		return
	}
	w.begun = true
	for i, s := range []*string{&row.Kind, row.Agent, row.Profile, row.URL, row.Before, row.After} {
		switch {
		case s == nil:
		case i < 3:
			w.hash.WriteString(*s)
		default:
			w.hash.WriteString(strings.ReplaceAll(*s, row.Host, "\x01"))
		}
		w.hash.WriteByte(0)
	}
	for _, line := range []*int32{row.LineBefore, row.LineAfter} {
		if line != nil {
			w.hash.WriteString(strconv.Itoa(int(*line)))
		}
		w.hash.WriteByte(0)
	}
}

// end is the way in which the pair changed, 0 for none that hosts share.
func (w *wayOfPair) end() uint64 {
	if !w.begun {
		return 0
	}
	way := max(1, w.hash.Sum64())
	w.hash.Reset()
	w.begun = false
	return way
}

// ways count the hosts that changed in the same way.
type ways struct {
	counts   map[uint64]int64
	examples map[uint64]*DiffExample // of those that several hosts share
}

// Bounds of the ways that are told apart, and of those that several hosts share.
// Beyond, hosts that change in yet another way are not told together.
const (
	maxWays     = 1 << 18
	maxTogether = 1 << 14
)

// count counts a host by the gravest of its changes.
func (w *ways) count(best *DiffExample) {
	if best.way == 0 {
		return
	}
	if w.counts == nil {
		w.counts, w.examples = make(map[uint64]int64), make(map[uint64]*DiffExample)
	}
	n := w.counts[best.way]
	if n == 0 && len(w.counts) >= maxWays {
		return
	}
	if w.counts[best.way]++; n == 1 && len(w.examples) < maxTogether {
		w.examples[best.way] = best
	}
}

// hosts is how many changed as an example did.
func (w *ways) hosts(e *DiffExample) int64 { return max(1, w.counts[e.way]) }

// commonest are the ways that most hosts share.
func (w *ways) commonest() []DiffExample {
	out := []DiffExample{}
	for _, e := range w.examples {
		e.Hosts = w.hosts(e)
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b DiffExample) int {
		return cmp.Or(cmp.Compare(b.Hosts, a.Hosts), gravity(&a, &b), strings.Compare(a.Host, b.Host))
	})
	return out[:min(len(out), maxExamples)]
}
