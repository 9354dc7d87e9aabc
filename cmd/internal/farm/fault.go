package farm

import (
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultFormat is the reference of the faults file, for people.
//
//go:embed faults.txt
var FaultFormat string

// Faults say which hosts misbehave, and how. The nil value leaves all alone.
type Faults struct {
	file  string
	exact map[string]*entry
	globs []*entry
}

// entry is one key of the file with its alternatives.
type entry struct {
	pattern string
	match   *regexp.Regexp // nil for a plain name
	alts    []alternative
}

// alternative is what some hosts of an entry do, request after request.
type alternative struct {
	from, to float64 // share of the hosts, as a band of [0, 1)
	scheme   [2]bool // by index of scheme
	steps    []*fault
}

const (
	overHTTP  = 0
	overHTTPS = 1
)

// place is a point in the exchange, in order of time.
type place int

const (
	nowhere place = iota
	inHandshake
	atStart
	inHeader
	inBody
)

// cut is an end that comes too early.
type cut struct {
	how string // reset, close or hang
	at  place
}

// fault is what a host does with one request. The zero value does what is
// right.
type fault struct {
	line     int
	times    int // requests this step lasts
	statuses []int
	reason   *string
	version  string
	headers  []header

	headerCount int
	headerBytes int
	redirect    string
	hops        int
	body        *string
	bodyFrom    string
	pad         int
	encoding    string
	bomb        *bomb
	interim     []int
	interimOnly bool
	paths       []pathFault

	delay     time.Duration
	bodyDelay time.Duration
	cut       cut
	truncate  int // -1: nothing is cut off
	drip      drip
	framing   string
	raw       *string
	http09    bool
	tls       string
}

type header struct{ name, value string }

type pathFault struct {
	match *regexp.Regexp
	fault *fault
}

// drip slows down sending: so many bytes at a time.
type drip struct {
	bytes int
	every time.Duration
	from  place
}

// pick returns what host does with its nth request over scheme; n counts
// from 0. nil means what is right.
func (e *entry) pick(host string, scheme, n int) (f *fault, since int) {
	if e == nil {
		return nil, 0
	}
	u := -1.0
	for i := range e.alts {
		a := &e.alts[i]
		if a.to > 0 {
			if u < 0 {
				u = unit(hash(0, e.pattern+"\x00"+host))
			}
			if u < a.from || u >= a.to {
				continue
			}
		}
		if !a.scheme[scheme] {
			continue
		}
		for _, step := range a.steps[:len(a.steps)-1] {
			if n < step.times {
				return step, n
			}
			n -= step.times
		}
		return a.steps[len(a.steps)-1], n
	}
	return nil, 0
}

// find returns the entry that decides for name, bare being the name without
// a port; nil if none does.
func (f *Faults) find(name, bare string) *entry {
	if f == nil {
		return nil
	}
	for _, key := range [...]string{name, bare} {
		if e := f.exact[key]; e != nil {
			return e
		}
	}
	for _, e := range f.globs {
		if e.match.MatchString(bare) {
			return e
		}
	}
	return nil
}

// check reports a body_from that names none of hosts.
func (f *Faults) check(hosts Hosts) error {
	if f == nil {
		return nil
	}
	entries := slices.Concat(slices.Collect(maps.Values(f.exact)), f.globs)
	for _, e := range entries {
		for _, a := range e.alts {
			steps := slices.Clone(a.steps)
			for _, step := range a.steps {
				for _, path := range step.paths {
					steps = append(steps, path.fault)
				}
			}
			for _, step := range steps {
				from := step.bodyFrom
				_, found := hosts[from]
				if found || from == "" || strings.Contains(from, "{") || from == "*" && len(hosts) > 0 {
					continue
				}
				return fmt.Errorf("%s:%d: body_from: no file for host %q", f.file, step.line, from)
			}
		}
	}
	return nil
}

// status returns the one for the nth request of a step, or 0 for the one
// that is right.
func (f *fault) status(n int) int {
	if f == nil || len(f.statuses) == 0 {
		return 0
	}
	return f.statuses[min(n, len(f.statuses)-1)]
}

// forPath returns what is done with a request for another path than
// /robots.txt, nil for the 404 that is right.
func (f *fault) forPath(path string) *fault {
	if f == nil {
		return nil
	}
	for _, p := range f.paths {
		if p.match.MatchString(path) {
			return p.fault
		}
	}
	return nil
}

// glob compiles a pattern in which an asterisk is any run of characters.
func glob(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^(?s:" + strings.Join(parts, "(.*?)") + ")$")
}

// expand fills in {host} and {1}, {2}….
func (h *host) expand(text string) string {
	if !strings.Contains(text, "{") {
		return text
	}
	pairs := []string{"{host}", h.bare}
	if h.entry != nil && h.entry.match != nil {
		for i, run := range h.entry.match.FindStringSubmatch(h.bare) {
			if i > 0 {
				pairs = append(pairs, "{"+strconv.Itoa(i)+"}", run)
			}
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
