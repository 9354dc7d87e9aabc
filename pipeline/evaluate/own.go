package evaluate

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// ownURLs are a target's own URL samples, as URLs of the origin that answered. An
// origin may have 100,000, and a long URL takes over 8 KB once prepared, so only
// one batch is prepared at a time, for one profile. If all URLs fit into one
// batch, it is prepared once per profile; otherwise the batches take turns and are
// prepared again for each set of rules that is judged.
type ownURLs struct {
	origin string
	paths  []string

	shown      []string // texts of the batch that begins at shownFrom, -1 for none
	shownFrom  int
	targets    []robots.Target // for profile, the batch that begins at targetFrom, -1 for none
	targetFrom int
	profile    *robots.Profile
}

// A batch ends at this many URLs or bytes of URLs.
const (
	batchURLs  = 256
	batchBytes = 256 << 10
)

// newOwn returns the own URLs of a target, without URLs that are also among the listed samples: each URL is
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
			o.shown = append(o.shown, schema.TextString(o.origin+path))
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
