package series

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// The pass over hosts reads fetches and policies of each run, segment by segment. What
// a run says of a host is a vector of a few bytes and one for each agent; hosts with
// equal files have equal vectors, of which there are far fewer than hosts. Counts are
// made from vectors. See contents.go for what files have.

// ofHosts are the metrics that the pass over hosts counts.
var ofHosts = map[string]bool{"targets": true, "outcome": true, "reason": true, "status": true, "policy": true,
	"policy_explicit": true, "category": true}

// readHosts counts the hosts of the runs, of the panel and others apart.
func readHosts(ctx context.Context, c Config, runs []*countedRun, r *Result) error {
	for _, run := range runs {
		for _, table := range []string{"fetches", "policies"} {
			if !slices.Contains(run.Tables, table) {
				return fmt.Errorf("run %s %w host by host: it has no table %s", run.ID(), ErrNoTable, table)
			}
		}
		run.countsByHost(r)
	}
	var panel []uint64
	var err error
	if c.Panel {
		if panel, err = findPanel(ctx, c, runs, r); err != nil {
			return err
		}
	}
	if c.Paired && c.Panel && !c.Clustered {
		r.pairing = newPairing(len(runs), len(panel))
		_, r.pairing.names = c.bandsOf()
	}
	for i, run := range runs {
		h := newHostReader(c, run, panel)
		h.pairing, h.place = r.pairing, i
		if c.Panel {
			if err := h.findFallbacks(ctx); err != nil {
				return err
			}
		}
		if err := h.read(ctx); err != nil {
			return err
		}
		h.finish()
	}
	return nil
}

// hostReader reads the hosts of one run.
type hostReader struct {
	Config
	run       *countedRun
	panel     []uint64
	fellBack  []uint64 // sorted keys of origins to which a host fell back
	agents    []string // sorted
	profiles  []string // of the series, that the run has
	first     bool     // the run's first profile is one of them
	label     string   // whose values are the bands, "" for bands of rank
	bandNames []string

	mu      sync.Mutex
	vectors map[string]uint32
	texts   []string // the vectors
	groups  map[group]int64
	hosts   []clusterHost // if clustered
	figures *figures

	pairing *pairing          // nil unless runs are compared host by host
	place   int               // of the run, in pairing
	sets    map[uint32]uint32 // of pairing, by vector
}

// group identifies hosts that count alike.
type group struct {
	vector uint32
	band   uint8 // index in hostReader.bandNames
	panel  bool
	twice  bool // its origin counts already
}

// clusterHost is a host with its registered domain: 16 bytes.
type clusterHost struct {
	domain uint64
	group
}

// bandsOf returns the bands that hosts are counted in: those of rank, or the values of a label
// that a series is about. There is one for hosts without a value, which nobody wants.
func (c *Config) bandsOf() (label string, names []string) {
	for _, stratum := range c.Strata {
		if v, ok := summary.ParseLabelValue(stratum); ok {
			label, names = v.Label, append(names, stratum)
		}
	}
	if names == nil {
		return "", bandNames
	}
	return label, append(names, "")
}

// bandNames are the bands of rank.
var bandNames = func() (names []string) {
	for _, s := range summary.Strata {
		names = append(names, s.Name)
	}
	return append(names, summary.Unranked)
}()

func newHostReader(c Config, run *countedRun, panel []uint64) *hostReader {
	h := &hostReader{Config: c, run: run, panel: panel, vectors: make(map[string]uint32), groups: make(map[group]int64),
		sets: make(map[uint32]uint32)}
	h.label, h.bandNames = c.bandsOf()
	h.agents = slices.Sorted(maps.Keys(run.Category))
	for _, p := range c.Profiles {
		if slices.Contains(run.Profiles, p) {
			h.profiles = append(h.profiles, p)
		}
	}
	h.first = slices.Contains(h.profiles, run.FirstProfile())
	if c.Panel {
		run.panel, run.others = make(population), make(population)
		for _, p := range []population{run.panel, run.others} {
			p.of(All)
		}
	}
	h.figures = newFigures(h)
	return h
}

// read reads all segments.
func (h *hostReader) read(ctx context.Context) error {
	segments, _ := h.run.BySegment()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, parts := range segments {
		g.Go(func() error {
			s := &hostSegment{hostReader: h}
			if err := s.labels(ctx, parts["labels"]); err != nil {
				return err
			}
			if err := s.fetches(ctx, parts["fetches"]); err != nil {
				return err
			}
			if err := s.policies(ctx, parts["policies"]); err != nil {
				return err
			}
			if err := s.contents(ctx, parts); err != nil {
				return err
			}
			s.merge()
			return nil
		})
	}
	return g.Wait()
}

// findFallbacks finds the origins to which hosts fell back. A list may name such an
// origin itself, http://b.example beside b.example, and only in this way a run of hosts
// has two answers of one origin.
func (h *hostReader) findFallbacks(ctx context.Context) error {
	if h.run.Source == journal.FromArchive ||
		slices.ContainsFunc(h.run.Without, func(c string) bool {
			return c == "fetches.fallback_error_class" ||
				c == "fetches.origin"
		}) {
		return nil
	}
	err := rowio.Of(ctx, h.In, h.run.PartsOf("fetches"),
		rowio.Selection{Columns: []string{"origin", "fallback_error_class"}}, func(batch []schema.Fetch) error {
			for i := range batch {
				if batch[i].FallbackErrorClass != nil {
					h.fellBack = append(h.fellBack, maphash.String(seed, batch[i].Origin))
				}
			}
			return nil
		})
	slices.Sort(h.fellBack)
	return err
}

// countGroups counts the hosts of all groups, and forgets them.
func (h *hostReader) countGroups() {
	for g, n := range h.groups {
		f := h.figures.of(h.texts[g.vector])
		for _, p := range h.populations(g) {
			for _, name := range []string{h.bandNames[g.band], All} {
				h.figures.count(p, name, f, n)
			}
		}
	}
	clear(h.groups)
}

// populations returns the populations of a host.
func (h *hostReader) populations(g group) []population {
	switch {
	case !h.Panel, g.twice: // all counts each answer, as the counters of the run do
		return []population{h.run.all}
	case g.panel:
		return []population{h.run.all, h.run.panel}
	}
	return []population{h.run.all, h.run.others}
}

// finish sets the figures of the run.
func (h *hostReader) finish() {
	// The counts of all hosts are made again, from the same rows as those of the
	// panel and of the others.
	for _, b := range h.run.all {
		maps.DeleteFunc(b.counts, func(k id, _ tally) bool {
			return h.run.byHost[k.metric] && k.metric != "targets" &&
				(k.profile == "" || slices.Contains(h.profiles, k.profile)) &&
				(k.metric != "reason" || k.profile == h.run.FirstProfile())
		})
		maps.DeleteFunc(b.sizes, func(base string, _ sizes) bool {
			profile, ok := strings.CutPrefix(base, baseFiles+" ")
			return base == baseHosts || base == baseTexts && h.run.byHost["body"] || ok && slices.Contains(h.profiles, profile)
		})
	}
	if h.Clustered {
		h.countClusters()
	} else {
		h.countGroups()
	}
	h.figures.settle()
	h.vectors, h.texts, h.hosts = nil, nil, nil
}
