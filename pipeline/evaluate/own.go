package evaluate

import (
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// ownURLs are a target's own samples, as URLs of the origin that answered. A
// prepared URL takes some 10 KB for each profile, and one origin may have
// 100,000 of them: they are prepared in batches, for the profile that asks. Few
// are prepared once for a profile, and many again for each set of rules that is
// asked about them.
type ownURLs struct {
	origin string
	paths  []string

	shown      []string // of the batch from shownFrom, -1 for none
	shownFrom  int
	targets    []robots.Target // of the batch from targetFrom, for profile
	targetFrom int
	profile    *robots.Profile
}

// A batch ends at so many URLs, or bytes of them.
const (
	batchURLs  = 256
	batchBytes = 256 << 10
)

// newOwn leaves out the samples that the list holds as well: each URL is judged
// once.
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

// batch are the paths of the batch that begins at from.
func (o *ownURLs) batch(from int) []string {
	to, bytes := from, 0
	for to < len(o.paths) && to-from < batchURLs && bytes < batchBytes {
		bytes += len(o.origin) + len(o.paths[to])
		to++
	}
	return o.paths[from:to]
}

// texts are the URLs of a batch as the tables hold them. They hold until the
// next call.
func (o *ownURLs) texts(from int) []string {
	if o.shownFrom != from {
		o.shown, o.shownFrom = o.shown[:0], from
		for _, path := range o.batch(from) {
			o.shown = append(o.shown, sink.TextString(o.origin+path))
		}
	}
	return o.shown
}

// prepared are the URLs of a batch as a profile judges them. They hold until the
// next call.
func (o *ownURLs) prepared(from int, p *robots.Profile) []robots.Target {
	if o.targetFrom != from || o.profile != p {
		o.targets, o.targetFrom, o.profile = o.targets[:0], from, p
		for _, path := range o.batch(from) {
			o.targets = append(o.targets, p.Target(o.origin+path))
		}
	}
	return o.targets
}
