package diff

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Ways groups hosts that changed in the same way, as hosts do whose files come from
// one template. Two hosts changed in the same way if they have the same rows of
// changes, apart from the host's own name, from line numbers and from the kinds in
// change.OwnKinds.
type Ways struct {
	known  map[uint64]*way
	shared int // ways of several hosts

	// State of the current host.
	hash     maphash.Hash
	examples exampleSet // for the rows that hash covers
}

// A way is one set of changes.
type way struct {
	hosts        int64
	host, origin string // the best-ranked host
	rank         *int64
	lines        [2]*int32 // of its most severe row
	example      *Example  // nil for one host
}

// Bounds of memory. Once they are reached, hosts that change in a new way are not
// grouped.
const (
	maxWays       = 1 << 18
	maxSharedWays = 1 << 14
)

// isShared reports whether a change counts for the way in which a host changed. A
// row of kind rules without an agent only says that something is undecided.
func isShared(kind string, agent *string) bool {
	return !slices.Contains(change.OwnKinds, kind) && !(kind == "rules" && agent == nil)
}

// Add adds a row of the current host. Rows of a host come in the order of the table
// changes.
func (w *Ways) Add(row *schema.Change) {
	if !isShared(row.Kind, row.Agent) {
		return
	}
	if w.examples == nil {
		w.examples = make(exampleSet)
	}
	w.examples.add(row)
	for i, s := range []*string{&row.Kind, row.Agent, row.Profile, row.Use, row.Identity, row.Document, row.Template,
		row.URL, row.Before, row.After} {
		switch {
		case s == nil:
		case i < 7:
			w.hash.WriteString(*s)
		default:
			// No text in a table has this byte, which is not valid in UTF-8.
			w.hash.WriteString(strings.ReplaceAll(*s, row.Host, "\xff"))
		}
		w.hash.WriteByte(0)
	}
}

// EndOfHost counts the current host and returns the most severe of the rows that it shares
// with others of its way; nil if it has none. Hosts come in the order of the table changes.
func (w *Ways) EndOfHost() *Example {
	if len(w.examples) == 0 {
		return nil
	}
	best := w.examples.worst()
	best.way = max(1, w.hash.Sum64())
	w.hash.Reset()
	clear(w.examples)
	x := w.known[best.way]
	switch {
	case x == nil && len(w.known) < maxWays:
		if w.known == nil {
			w.known = make(map[uint64]*way)
		}
		w.known[best.way] = &way{hosts: 1, host: best.Host, origin: best.Origin, rank: best.Rank,
			lines: [2]*int32{best.LineBefore, best.LineAfter}}
		return best
	case x == nil:
		return best
	}
	x.hosts++
	better := summary.CompareRanks(best.Rank, x.rank) < 0
	if better {
		x.host, x.origin, x.rank = best.Host, best.Origin, best.Rank
	}
	if x.example == nil && w.shared < maxSharedWays {
		w.shared++
		x.example = best.on(x)
	} else if x.example != nil && better {
		x.example = best
	}
	return best
}

// on returns the example as it is on the best-ranked host of its way. A way keeps no
// example of its first host, since most ways have no second one.
func (e *Example) on(x *way) *Example {
	if e.Origin == x.origin {
		return e
	}
	out := *e
	out.Host, out.Origin, out.Rank, out.LineBefore, out.LineAfter = x.host, x.origin, x.rank, x.lines[0], x.lines[1]
	for _, s := range []**string{&out.URL, &out.Before, &out.After} {
		if *s != nil {
			*s = new(strings.ReplaceAll(**s, e.Host, x.host))
		}
	}
	return &out
}

// hosts returns the number of hosts that changed as an example did.
func (w *Ways) hosts(e *Example) int64 {
	if x := w.known[e.way]; x != nil {
		return x.hosts
	}
	return 1
}

// ofSeveral returns the number of ways in which several hosts changed.
func (w *Ways) ofSeveral() (n int64) {
	for _, x := range w.known {
		if x.example != nil {
			n++
		}
	}
	return n
}

// Commonest returns the ways in which several hosts changed, most common first, each
// with the most severe change on its best-ranked host.
func (w *Ways) Commonest() []Example {
	out := []Example{}
	for _, x := range w.known {
		if x.example != nil {
			x.example.Hosts = x.hosts
			out = append(out, *x.example)
		}
	}
	slices.SortFunc(out, func(a, b Example) int {
		return cmp.Or(cmp.Compare(b.Hosts, a.Hosts), byWeight(&a, &b), strings.Compare(a.Host, b.Host))
	})
	return out[:min(len(out), MaxExamples)]
}
