package hosts

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/rejected"
	"github.com/robocensus/robocensus/pipeline/target"
)

// maxOwnURLs bounds the URL samples of one origin, beside [target.MaxPathBytes].
const maxOwnURLs = 100_000

// grouper turns rows into targets. Adjacent rows of one origin are one target; later
// rows of an origin are rejected.
type grouper struct {
	schemes []string
	shard   target.Shard
	sample  float64
	reject  func(line int64, text, reason string) error
	remark  func(line int64, text, reason string) error // notes something about an accepted line
	emit    func(target.Target) error

	rows       int64 // read, of all shards
	elsewhere  int64 // of these, of other shards
	notSampled int64 // of these, of this shard but not in the sample

	seen  Origins
	asked map[string]bool // the current target's URLs
	now   target.Target
	open  bool
}

// take reads one row.
func (g *grouper) take(r row) error {
	g.rows++
	if r.seq == 0 {
		r.seq = g.rows
	}
	candidates, sample, why := g.read(r)
	if why != "" {
		if !g.shard.IsFirst() {
			return nil
		}
		return g.reject(r.line, r.text, why)
	}
	if !r.planned && !g.shard.Has(candidates[0].Host) {
		g.elsewhere++
		return g.flush()
	}
	if !target.InSample(candidates[0].Host, g.sample) {
		g.notSampled++
		return g.flush()
	}
	if r.badRank {
		if err := g.remark(r.line, r.text, "bad_rank: not a whole number from 1; the host is asked without"); err != nil {
			return err
		}
	}
	if g.open && !r.parted && g.now.Candidates[0] == candidates[0] {
		return g.join(r, candidates, sample)
	}
	// A row of another origin ends the target, even one that is rejected below: a
	// shard does not know whether another shard rejects a row.
	if err := g.flush(); err != nil {
		return err
	}
	if !g.seen.Add(candidates[0]) {
		if sample != "" {
			return g.reject(r.line, r.text, "not_adjacent")
		}
		return g.reject(r.line, r.text, "duplicate")
	}
	g.now = target.Target{Seq: r.seq, Input: strings.Clone(r.given()), Rank: r.rank, Candidates: candidates, Lines: 1}
	g.open = true
	if len(g.asked) > 1000 {
		g.asked = nil // a map never shrinks
	}
	clear(g.asked)
	if sample != "" {
		g.add(sample)
	}
	return nil
}

// read returns the origins that a row names and its sample, "" for none, or why the
// row is rejected.
func (g *grouper) read(r row) (candidates []fetch.Origin, sample, why string) {
	if r.err != "" {
		return nil, "", r.err
	}
	if r.given() == "" {
		return nil, "", "no_host: the row names no host"
	}
	candidates, sample, err := candidatesOf(r.given(), g.schemes)
	if err != nil {
		return nil, "", rejected.ReasonOf(err)
	}
	switch {
	case r.url == "" || r.host == "":
		return candidates, sample, ""
	case strings.HasPrefix(r.url, "/"):
		return candidates, r.url, ""
	}
	own, sample, err := candidatesOf(r.url, g.schemes)
	if err != nil {
		return nil, "", rejected.ReasonOf(err)
	}
	named := candidates[0]
	if own[0].Host != named.Host || len(candidates) == 1 && own[0].Port != named.Port && own[0].WithScheme(named.Scheme) != named ||
		strings.Contains(r.host, "://") && own[0] != named {
		return nil, "", "outside_origin: the row's URL is not of the row's host"
	}
	return own, sample, ""
}

// join adds a row to the current target.
func (g *grouper) join(r row, candidates []fetch.Origin, sample string) error {
	switch {
	case sample == "" || g.asked[sample]:
		return g.reject(r.line, r.text, "duplicate")
	case len(g.now.Paths) >= maxOwnURLs:
		return g.reject(r.line, r.text, fmt.Sprintf("too_many_urls: more than %d of one origin", maxOwnURLs))
	case g.now.OwnBytes+target.PathBytes(sample) > target.MaxPathBytes:
		return g.reject(r.line, r.text, fmt.Sprintf("too_many_urls: more than %d MiB of one origin", target.MaxPathBytes>>20))
	}
	g.add(sample)
	if len(candidates) == 1 {
		g.now.Candidates = candidates // this row names the scheme, and its sample needs it
	}
	if g.now.Rank == nil {
		g.now.Rank = r.rank
	}
	g.now.Lines++
	return nil
}

func (g *grouper) add(sample string) {
	if g.asked == nil {
		g.asked = make(map[string]bool)
	}
	sample = strings.Clone(sample) // frees the rest of the line
	g.asked[sample] = true
	g.now.Paths = append(g.now.Paths, sample)
	g.now.OwnBytes += target.PathBytes(sample)
}

// flush emits the current target.
func (g *grouper) flush() error {
	if !g.open {
		return nil
	}
	g.open = false
	return g.emit(g.now)
}

// candidatesOf returns the origins that a host, an origin or a URL stands for: one
// if it names a scheme, otherwise one per scheme, in their order.
func candidatesOf(given string, schemes []string) ([]fetch.Origin, string, error) {
	first, sample, err := fetch.Parse(given, schemes[0])
	if err == nil && !fetch.IsAsked(first.Host) {
		err = fmt.Errorf("%q has a label that begins or ends with a hyphen, which resolvers refuse", first.Host)
	}
	if err != nil {
		return nil, "", err
	}
	out := []fetch.Origin{first}
	if !strings.Contains(given, "://") && first.Port == fetch.DefaultPort(first.Scheme) {
		for _, scheme := range schemes[1:] {
			out = append(out, first.WithScheme(scheme))
		}
	}
	return out, sample, nil
}
