package evaluate

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// ownURLs are a target's own URL samples, as URLs of the origin that answered. A
// prepared URL takes about 10 KB per profile and an origin may have 100,000, so
// they are prepared in batches, one profile at a time. A single batch is prepared
// once per profile, several are prepared again for each set of rules.
type ownURLs struct {
	origin string
	paths  []string

	shown      []string // of the batch that begins at shownFrom, -1 for none
	shownFrom  int
	targets    []robots.Target // of the batch that begins at targetFrom, for profile
	targetFrom int
	profile    *robots.Profile
}

// The size of a batch, in URLs and in bytes of URLs.
const (
	batchURLs  = 256
	batchBytes = 256 << 10
)

// newOwn leaves out URLs that are also among the listed samples: each URL is
// judged once.
func newOwn(origin string, paths []string, listed []*prepared) *ownURLs {
	if len(listed) > 0 && len(paths) > 0 {
		known := make(map[string]bool, len(listed))
		for _, p := range listed {
			known[p.URL] = true
		}
		paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return known[origin+path] })
	}
	return &ownURLs{origin: origin, paths: paths, shownFrom: -1, targetFrom: -1}
}

// batch returns the paths of the batch that begins at from.
func (o *ownURLs) batch(from int) []string {
	to, bytes := from, 0
	for to < len(o.paths) && to-from < batchURLs && bytes < batchBytes {
		bytes += len(o.origin) + len(o.paths[to])
		to++
	}
	return o.paths[from:to]
}

// texts returns the URLs of a batch as the tables hold them. They are valid until
// the next call.
func (o *ownURLs) texts(from int) []string {
	if o.shownFrom != from {
		o.shown, o.shownFrom = o.shown[:0], from
		for _, path := range o.batch(from) {
			o.shown = append(o.shown, sink.TextString(o.origin+path))
		}
	}
	return o.shown
}

// prepared returns the URLs of a batch, prepared for a profile. They are valid
// until the next call.
func (o *ownURLs) prepared(from int, p *robots.Profile) []robots.Target {
	if o.targetFrom != from || o.profile != p {
		o.targets, o.targetFrom, o.profile = o.targets[:0], from, p
		for _, path := range o.batch(from) {
			o.targets = append(o.targets, p.Target(o.origin+path))
		}
	}
	return o.targets
}
