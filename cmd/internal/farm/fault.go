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

// FaultFormat is the reference of the faults file, as help text.
//
//go:embed faults.txt
var FaultFormat string

// Faults selects the hosts that misbehave, and how. A nil *Faults selects none.
type Faults struct {
	file  string
	exact map[string]*entry
	globs []*entry
}

// entry is a key of the faults file with its alternatives.
type entry struct {
	pattern string
	match   *regexp.Regexp // nil for a plain name
	alts    []alternative
}

// alternative is the sequence of faults for some hosts of an entry.
type alternative struct {
	from, to float64 // share of the hosts, as an interval in [0, 1); to is 0 without a share
	scheme   [2]bool // the schemes that it applies to, by index
	steps    []*fault
}

const (
	overHTTP  = 0
	overHTTPS = 1
)

// place is a point in the exchange, in chronological order.
type place int

const (
	nowhere place = iota
	inHandshake
	atStart
	inHeader
	inBody
)

// cut ends the exchange early.
type cut struct {
	how string // reset, close or hang
	at  place
}

// fault is how a host answers a request.
type fault struct {
	line     int // line of the faults file
	times    int // requests before the next step
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
	as          []agentFault

	delay     time.Duration
	bodyDelay time.Duration
	cut       cut
	truncate  int // bytes of the body to send; -1: all
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

// agentFault is the answer to user agents that contain a text.
type agentFault struct {
	text  string
	fault *fault
}

// drip slows down sending to bytes per every.
type drip struct {
	bytes int
	every time.Duration
	from  place
}

// pick returns the fault for host's nth request over scheme, counted from 0,
// or nil for a correct answer. since is the index of the request within the
// fault's step.
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

// find returns the entry for a host, or nil: that of name, which may have a
// port, else that of bare, which has none, else the first glob that matches
// bare.
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

// check returns an error if a body_from names a host that is not in hosts.
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
					for _, agent := range path.fault.as {
						steps = append(steps, agent.fault)
					}
				}
				for _, agent := range step.as {
					steps = append(steps, agent.fault)
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

// status returns the status for the nth request of a step, or 0 for the
// status of a correct answer.
func (f *fault) status(n int) int {
	if f == nil || len(f.statuses) == 0 {
		return 0
	}
	return f.statuses[min(n, len(f.statuses)-1)]
}

// forPath returns the fault for a path other than /robots.txt, or nil for a
// plain 404.
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

// forAgent returns the fault for a user agent, f if it has none of its own.
func (f *fault) forAgent(agent string) *fault {
	if f == nil {
		return nil
	}
	for _, a := range f.as {
		if strings.Contains(agent, a.text) {
			return a.fault
		}
	}
	return f
}

// glob compiles a pattern in which an asterisk matches any run of characters.
func glob(pattern string) *regexp.Regexp {
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^(?s:" + strings.Join(parts, "(.*?)") + ")$")
}

// expand replaces {host} with the host's name, and {1}, {2}… with what the
// asterisks of its entry's pattern match.
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
