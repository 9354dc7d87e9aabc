package hosts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
)

// maxOwnURLs bounds the URL samples of one origin, beside [target.MaxPathBytes].
const maxOwnURLs = 100_000

// grouper turns rows into targets. Adjacent rows of one origin are one target; later
// rows of an origin are rejected. A bare host is all of its origins.
type grouper struct {
	schemes []string
	shard   target.Shard
	sample  float64
	reject  func(line int64, text, reason string) error
	remark  func(line int64, text, reason string) error // notes something about an accepted line
	other   func(line int64, text, reason, role string) error
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
	if r.role != "" {
		return g.other(r.line, r.text, r.err, r.role)
	}
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
	if g.open && !r.parted && isShared(g.now.Candidates, candidates) {
		return g.join(r, candidates, sample)
	}
	// A row of another origin ends the target, even one that is rejected below: a
	// shard does not know whether another shard rejects a row.
	if err := g.flush(); err != nil {
		return err
	}
	if !g.isNew(candidates) {
		if sample != "" {
			return g.reject(r.line, r.text, "not_adjacent")
		}
		return g.reject(r.line, r.text, "duplicate")
	}
	g.now = target.Target{Seq: r.seq, Input: strings.Clone(r.given()), Rank: r.rank, Candidates: candidates, Lines: 1,
		Labels: r.planLabels}
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

// isNew reports whether no earlier target may have ended in one of the origins, and
// remembers them. A bare host, which has several, is remembered as such.
func (g *grouper) isNew(candidates []fetch.Origin) bool {
	first := candidates[0]
	if len(candidates) == 1 {
		bare := len(g.schemes) > 1 && first.Port == fetch.DefaultPort(first.Scheme) &&
			slices.Contains(g.schemes, first.Scheme)
		return !(bare && g.seen.hasHost(first.Host)) && g.seen.Add(first)
	}
	return !slices.ContainsFunc(candidates, g.seen.has) && g.seen.addHost(first.Host)
}

// isShared reports whether two rows may be of one origin.
func isShared(some, others []fetch.Origin) bool {
	return slices.ContainsFunc(some, func(o fetch.Origin) bool { return slices.Contains(others, o) })
}

// joined returns the origins of a target that a row joins: that of the row if it names the
// scheme, and a sample that needs it.
func joined(target, row []fetch.Origin, sample string) []fetch.Origin {
	if sample != "" && len(row) == 1 {
		return row
	}
	return target
}

// noHost is the reason for which a row is rejected whose field of the host is empty.
const noHost = "no_host: the row names no host"

// read returns the origins that a row names and its sample, "" for none, or why the
// row is rejected.
func (g *grouper) read(r row) (candidates []fetch.Origin, sample, why string) {
	if r.err != "" {
		return nil, "", r.err
	}
	if r.given() == "" {
		return nil, "", noHost
	}
	candidates, sample, why = candidatesOf(r.given(), g.schemes, r.bare)
	if why != "" {
		return nil, "", why
	}
	switch {
	case r.url == "" || r.host == "":
		return candidates, sample, ""
	case strings.HasPrefix(r.url, "/"):
		return candidates, r.url, ""
	}
	own, sample, why := candidatesOf(r.url, g.schemes, r.bare)
	if why != "" {
		return nil, "", why
	}
	named := candidates[0]
	if own[0].Host != named.Host || len(candidates) == 1 && own[0].Port != named.Port &&
		own[0].WithScheme(named.Scheme) != named ||
		strings.Contains(r.host, "://") && own[0] != named {
		return nil, "", "outside_origin: the row's URL is not of the row's host"
	}
	return own, sample, ""
}

// join adds a row to the current target.
func (g *grouper) join(r row, candidates []fetch.Origin, sample string) error {
	g.now.Candidates = joined(g.now.Candidates, candidates, sample)
	switch {
	case sample == "" || g.asked[sample]:
		return g.reject(r.line, r.text, "duplicate")
	case len(g.now.Paths) >= maxOwnURLs:
		return g.reject(r.line, r.text, fmt.Sprintf("too_many_urls: more than %d of one origin", maxOwnURLs))
	case g.now.OwnBytes+target.PathBytes(sample) > target.MaxPathBytes:
		return g.reject(r.line, r.text, fmt.Sprintf("too_many_urls: more than %d MiB of one origin", target.MaxPathBytes>>20))
	}
	g.add(sample)
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
