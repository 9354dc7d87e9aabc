package summary

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/consent"
)

// What a robots.txt says to an agent, beside what a server does.
const (
	PaperOpen    = "open"
	PaperPartly  = "partly"
	PaperShutOut = "shut_out"
	PaperNothing = "nothing" // there is no file, or no group of it is for the agent
	PaperUnknown = "unknown"
)

// Papers lists them.
var Papers = []string{PaperOpen, PaperPartly, PaperShutOut, PaperNothing, PaperUnknown}

// LetsIn reports whether a paper does not shut an agent out.
func LetsIn(paper string) bool {
	return paper == PaperOpen || paper == PaperPartly || paper == PaperNothing
}

// PaperOf returns what a class says.
func PaperOf(c robots.Class) string {
	return map[robots.Class]string{robots.AllowAll: PaperOpen, robots.Partial: PaperPartly,
		robots.DisallowAll: PaperShutOut}[c]
}

// incomparable is the treatment, in the keys of counters, of an identity that was asked where
// the control was not served.
const incomparable = "incomparable"

// once ends the keys of hosts that did not serve the control when it asked again: so they may
// treat any visitor.
const once = " once"

// PracticeKey returns the key of the metric page_met for what an identity met on a page.
func PracticeKey(identity string, isControl bool, paper, treatment string, controlServed, servedOnce bool) string {
	if isControl {
		identity = Control + identity
	} else if !controlServed && treatment != string(consent.PageNotAsked) {
		treatment = incomparable
	}
	key := identity + " " + paper + " " + treatment
	if servedOnce {
		key += once
	}
	return key
}

// Practice is what identities met on pages, in hosts.
type Practice struct {
	Identity string
	Control  bool
	Paper    string
	By       map[string]int64 // by treatment
	// Of the hosts that are compared, by whether they turned the identity away, the control when
	// it asked again, both or neither.
	Both, Away, Once, Neither int64
}

// Add counts hosts by a key.
func (p *Practice) Add(key string, n int64) {
	rest, isOnce := strings.CutSuffix(key, once)
	treatment := rest[strings.LastIndexByte(rest, ' ')+1:]
	if p.By == nil {
		p.By = make(map[string]int64)
	}
	p.By[treatment] += n
	away := consent.Treatment(treatment).TurnsAway()
	switch {
	case treatment == incomparable, treatment == string(consent.PageNotAsked), p.Control:
	case away && isOnce:
		p.Both += n
	case away:
		p.Away += n
	case isOnce:
		p.Once += n
	default:
		p.Neither += n
	}
}

// Compared returns the hosts that are compared.
func (p *Practice) Compared() int64 { return p.Both + p.Away + p.Once + p.Neither }

// TurnedAway returns those of them that turned the identity away.
func (p *Practice) TurnedAway() int64 { return p.Both + p.Away }

// PracticeOf returns what identities met, by the counters of the metric page_met by key, for each
// identity and paper: the controls first, then by name.
func PracticeOf(counts map[string]int64) (all []*Practice) {
	by := make(map[[2]string]*Practice)
	for key, n := range counts {
		name, rest, _ := strings.Cut(key, " ")
		paper, _, _ := strings.Cut(rest, " ")
		p := by[[2]string{name, paper}]
		if p == nil {
			p = &Practice{Identity: strings.TrimPrefix(name, Control), Control: strings.HasPrefix(name, Control), Paper: paper}
			by[[2]string{name, paper}] = p
			all = append(all, p)
		}
		p.Add(key, n)
	}
	slices.SortFunc(all, func(a, b *Practice) int {
		if a.Control != b.Control {
			return map[bool]int{true: -1, false: 1}[a.Control]
		}
		return cmp.Or(cmp.Compare(a.Identity, b.Identity),
			slices.Index(Papers, a.Paper)-slices.Index(Papers, b.Paper))
	})
	return all
}
