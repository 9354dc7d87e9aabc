package series

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/summary"
)

// The pass over hosts reads fetches and policies of each run, segment by segment. What
// a run says of a host is a vector of a few bytes and one for each agent; hosts with
// equal files have equal vectors, of which there are far fewer than hosts. Counts are
// made from vectors. See contents.go for what files have.

// ofHosts are the metrics that the pass over hosts counts.
var ofHosts = map[string]bool{"targets": true, "outcome": true, "reason": true, "status": true, "policy": true, "policy_explicit": true, "category": true}

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
	for _, run := range runs {
		h := newHostReader(c, run, panel)
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
	run      *countedRun
	panel    []uint64
	fellBack []uint64 // sorted keys of origins to which a host fell back
	agents   []string // sorted
	profiles []string // of the series, that the run has
	first    bool     // the run's first profile is one of them

	mu      sync.Mutex
	vectors map[string]uint32
	texts   []string // the vectors
	groups  map[group]int64
	hosts   []clusterHost // if clustered
	figures *figures
}

// group identifies hosts that count alike.
type group struct {
	vector uint32
	band   uint8 // index in bandNames
	panel  bool
	twice  bool // its origin counts already
}

// clusterHost is a host with its registered domain: 16 bytes.
type clusterHost struct {
	domain uint64
	group
}

// bandNames are the strata but All.
var bandNames = func() (names []string) {
	for _, s := range summary.Strata {
		names = append(names, s.Name)
	}
	return append(names, summary.Unranked)
}()

func newHostReader(c Config, run *countedRun, panel []uint64) *hostReader {
	h := &hostReader{Config: c, run: run, panel: panel, vectors: make(map[string]uint32), groups: make(map[group]int64)}
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
	segments := make(map[int]map[string][]sink.Part)
	for _, table := range []string{"fetches", "policies", "groups", "rules", "lines", "signals", "templates", "preferences"} {
		for _, p := range h.run.PartsOf(table) {
			if segments[p.Segment] == nil {
				segments[p.Segment] = make(map[string][]sink.Part)
			}
			segments[p.Segment][table] = append(segments[p.Segment][table], p)
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, parts := range segments {
		g.Go(func() error {
			s := &hostSegment{hostReader: h}
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
	if h.run.Source == "warc" || slices.ContainsFunc(h.run.Without, func(c string) bool { return c == "fetches.fallback_error_class" || c == "fetches.origin" }) {
		return nil
	}
	for _, p := range h.run.PartsOf("fetches") {
		err := scan.Rows(ctx, h.In, p, scan.Selection{Columns: []string{"origin", "fallback_error_class"}}, func(batch arrow.RecordBatch) error {
			origins, classes := scan.Column[*array.String](batch, "origin"), scan.Column[*array.String](batch, "fallback_error_class")
			for i := range int(batch.NumRows()) {
				if classes.IsValid(i) {
					h.fellBack = append(h.fellBack, maphash.String(seed, origins.Value(i)))
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	slices.Sort(h.fellBack)
	return nil
}

// hostSegment holds the hosts of a segment. A vector has the outcome under each
// profile, whether there is a text, the reason, the status, and a byte for each agent and
// profile.
type hostSegment struct {
	*hostReader
	seqs    []int64
	domains []uint64
	bands   []uint8
	inPanel []bool
	twice   []bool
	vectors []byte // all, of the same size
	hasText []bool
	marks   [][]int32
}

func (h *hostReader) head() int { return len(h.profiles) + 4 }
func (h *hostReader) size() int { return h.head() + len(h.profiles)*len(h.agents) }

// outcomes are those of the tables, after none; the index of an outcome, or of a reason
// in answer.Reasons, is its byte in a vector.
var outcomes = func() []string {
	names := []string{""}
	for _, o := range answer.Outcomes {
		names = append(names, string(o))
	}
	return names
}()

// classSet marks the byte of an agent whose policy is there.
const (
	classSet    = 0x80
	explicitBit = 0x40
)

func (s *hostSegment) fetches(ctx context.Context, parts []sink.Part) error {
	for _, p := range parts {
		what := scan.Selection{Columns: []string{"seq", "host", "port", "rank", "registered_domain", "outcome", "reason", "status"}}
		if len(s.fellBack) > 0 {
			what.Columns = append(what.Columns, "origin", "fallback_error_class")
		}
		hasContents := s.run.byHost["body"]
		if hasContents {
			what.Columns, what.Optional = append(what.Columns, contentColumns["fetches"]...), []string{"challenge"}
		}
		err := scan.Rows(ctx, s.In, p, what, func(batch arrow.RecordBatch) error {
			seqs, ranks, statuses := scan.Column[*array.Int64](batch, "seq"), scan.Column[*array.Int64](batch, "rank"), scan.Column[*array.Int32](batch, "status")
			hosts, ports, domains := scan.Column[*array.String](batch, "host"), scan.Column[*array.Int32](batch, "port"), scan.Column[*array.String](batch, "registered_domain")
			said, why := scan.Column[*array.String](batch, "outcome"), scan.Column[*array.String](batch, "reason")
			if hasContents {
				s.bodies(batch)
			}
			for i := range int(batch.NumRows()) {
				if n := len(s.seqs); n > 0 && seqs.Value(i) <= s.seqs[n-1] {
					return fmt.Errorf("%s: seq %d follows %d", p.Path, seqs.Value(i), s.seqs[n-1])
				}
				s.seqs = append(s.seqs, seqs.Value(i))
				domain := hosts.Value(i)
				if domains.IsValid(i) {
					domain = domains.Value(i)
				}
				s.domains = append(s.domains, maphash.String(seed, domain))
				var rank *int64
				if ranks.IsValid(i) {
					v := ranks.Value(i)
					rank = &v
				}
				s.bands = append(s.bands, uint8(slices.Index(bandNames, summary.StratumOf(rank))))
				_, in := slices.BinarySearch(s.panel, keyOf(hosts.Value(i), ports.Value(i)))
				s.inPanel = append(s.inPanel, in)
				twice := false
				if len(s.fellBack) > 0 && scan.Column[*array.String](batch, "fallback_error_class").IsNull(i) {
					_, twice = slices.BinarySearch(s.fellBack, maphash.String(seed, scan.Column[*array.String](batch, "origin").Value(i)))
				}
				s.twice = append(s.twice, twice)
				v := make([]byte, s.size())
				outcome, reason := slices.Index(outcomes, said.Value(i)), slices.Index(answer.Reasons, answer.Reason(why.Value(i)))
				if outcome < 0 || reason < 0 {
					return fmt.Errorf("%s: seq %d has the outcome %.40q and the reason %.40q, and one of them is unknown", p.Path, seqs.Value(i), said.Value(i), why.Value(i))
				}
				if s.first {
					v[slices.Index(s.profiles, s.run.FirstProfile())] = byte(outcome)
				}
				if hasContents && s.hasText[len(s.seqs)-1] {
					v[s.head()-4] = 1
				}
				v[s.head()-3] = byte(reason)
				status := uint16(0) // none
				if statuses.IsValid(i) {
					status = uint16(statuses.Value(i))
				}
				binary.LittleEndian.PutUint16(v[s.head()-2:], status)
				s.vectors = append(s.vectors, v...)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *hostSegment) policies(ctx context.Context, parts []sink.Part) error {
	texts := []string{"agent", "profile", "outcome", "class"}
	hasTemplates := s.run.byHost["policy_template"]
	at := 0
	for _, p := range parts {
		what := scan.Selection{Columns: append([]string{"seq", "is_explicit"}, texts...), Dictionaries: texts}
		if hasTemplates {
			what.Columns, what.Dictionaries = append(what.Columns, "template"), append(slices.Clip(texts), "template")
		}
		err := scan.Rows(ctx, s.In, p, what, func(batch arrow.RecordBatch) error {
			seqs, explicit := scan.Column[*array.Int64](batch, "seq").Int64Values(), scan.Column[*array.Boolean](batch, "is_explicit")
			var columns [4][]int32
			var numbers [4][]int // by index of the dictionary
			for k, name := range texts {
				column := scan.Column[*array.Dictionary](batch, name)
				columns[k] = column.Indices().(*array.Int32).Int32Values()
				all := column.Dictionary().(*array.String)
				for i := range all.Len() {
					numbers[k] = append(numbers[k], slices.Index([][]string{s.agents, s.profiles, outcomes, summary.ClassNames[:]}[k], all.Value(i)))
				}
			}
			var templates *array.Dictionary
			if hasTemplates {
				templates = scan.Column[*array.Dictionary](batch, "template")
			}
			for i, seq := range seqs {
				for at < len(s.seqs) && s.seqs[at] < seq {
					at++
				}
				if at == len(s.seqs) || s.seqs[at] != seq {
					return fmt.Errorf("%s: seq %d is not in fetches", p.Path, seq)
				}
				agent, profile := numbers[0][columns[0][i]], numbers[1][columns[1][i]]
				outcome, class := numbers[2][columns[2][i]], numbers[3][columns[3][i]]
				if profile < 0 {
					continue // not of the series
				}
				if agent < 0 || outcome < 0 || class < 0 {
					return fmt.Errorf("%s: a policy of an agent that summary does not have, or of an unknown class or outcome", p.Path)
				}
				v := s.vectors[at*s.size():][:s.size()]
				v[profile] = byte(outcome)
				b := classSet | byte(class)
				if explicit.Value(i) {
					b |= explicitBit
				}
				v[s.head()+profile*len(s.agents)+agent] = b
				if hasTemplates && class == int(robots.DisallowAll) && templates.IsValid(i) {
					name := s.agents[agent]
					s.mark(at, id{"policy_template", name, s.run.Category[name], s.profiles[profile], templates.Dictionary().(*array.String).Value(templates.GetValueIndex(i))})
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mostVectors is the number of vectors from which counts are made, so that a panel
// takes the same memory however many hosts there are.
const mostVectors = 1 << 16

// merge adds the hosts of a segment to those of the run.
func (s *hostSegment) merge() {
	h := s.hostReader
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range s.seqs {
		v := s.vectorOf(i)
		n, ok := h.vectors[string(v)]
		if !ok {
			if !h.Clustered && len(h.texts) >= cmp.Or(h.Config.vectors, mostVectors) {
				h.countGroups()
				clear(h.vectors)
				h.texts = nil
			}
			text := string(v)
			n = uint32(len(h.texts))
			h.vectors[text], h.texts = n, append(h.texts, text)
		}
		g := group{n, s.bands[i], s.inPanel[i], s.twice[i]}
		h.groups[g]++
		if h.Clustered {
			h.hosts = append(h.hosts, clusterHost{s.domains[i], g})
		}
	}
}

// countGroups counts the hosts of all groups, and forgets them.
func (h *hostReader) countGroups() {
	for g, n := range h.groups {
		f := h.figures.of(h.texts[g.vector])
		for _, p := range h.populations(g) {
			for _, name := range []string{bandNames[g.band], All} {
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
			return h.run.byHost[k.metric] && k.metric != "targets" && (k.profile == "" || slices.Contains(h.profiles, k.profile)) && (k.metric != "reason" || k.profile == h.run.FirstProfile())
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
