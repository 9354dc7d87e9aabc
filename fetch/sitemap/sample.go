package sitemap

import (
	"container/heap"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Sampled is a URL of a host's sample.
type Sampled struct {
	// with the origin of the host as [fetch.Origin] writes it, without a fragment
	URL     string `json:"url"`
	LastMod string `json:"lastmod,omitempty"` // as written
}

// rankOf is the place of a URL in every sample: those with the least are taken. It depends on
// the URL alone, so a URL stays in the sample of its host, week after week, as long as the
// site lists it and few of lower rank come.
func rankOf(url string) uint64 { return xxhash.Sum64String(url) }

// MaxSample bounds the sample of a host.
const MaxSample = 10_000

// maxSampled bounds the URLs that may be in a sample, and maxDate the dates that are kept, in
// bytes.
const (
	maxSampled = 4096
	maxDate    = 64
)

// Smallest returns at most n of the URLs of samples, each once, by their rank. The sample
// of a host is that of the samples of its files.
func Smallest(n int, urls []Sampled) []Sampled {
	s := newSample(n)
	for i := range urls {
		s.add(urls[i].URL, rankOf(urls[i].URL), urls[i].LastMod, i)
	}
	var out []Sampled
	for _, c := range s.sorted() {
		out = append(out, c.Sampled)
	}
	return out
}

// sample holds the URLs of lowest rank so far.
type sample struct {
	most int
	of   chosen
	has  map[uint64]bool // ranks
}

// chosen is a heap, the highest rank first.
type chosen []choice

type choice struct {
	Sampled
	rank uint64
	file int // which added it
}

func (c chosen) Len() int           { return len(c) }
func (c chosen) Less(i, j int) bool { return c[i].rank > c[j].rank }
func (c chosen) Swap(i, j int)      { c[i], c[j] = c[j], c[i] }
func (c *chosen) Push(x any)        { *c = append(*c, x.(choice)) }
func (c *chosen) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

func newSample(most int) *sample { return &sample{most: most, has: make(map[uint64]bool, most)} }

// add adds a URL of a file with its rank, unless others are in its place.
func (s *sample) add(url string, rank uint64, lastMod string, file int) {
	if len(s.of) == s.most && (s.most == 0 || rank >= s.of[0].rank) || len(url) > maxSampled || s.has[rank] {
		return
	}
	if len(lastMod) > maxDate {
		lastMod = ""
	}
	s.has[rank] = true
	heap.Push(&s.of, choice{Sampled{strings.Clone(url), strings.Clone(lastMod)}, rank, file})
	if len(s.of) > s.most {
		delete(s.has, heap.Pop(&s.of).(choice).rank)
	}
}

// sorted returns the URLs by rank.
func (s *sample) sorted() []choice {
	out := slices.Clone(s.of)
	slices.SortFunc(out, func(a, b choice) int {
		if a.rank < b.rank {
			return -1
		}
		return 1
	})
	return out
}
