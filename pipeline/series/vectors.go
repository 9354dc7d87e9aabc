package series

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// hostSegment holds the hosts of a segment. A vector has the outcome under each
// profile, whether a wall answered, whether there is a text, the reason, the status, and a
// byte for each agent and profile.
type hostSegment struct {
	*hostReader
	seqs    []int64
	domains []uint64
	bands   []uint8
	inPanel []bool
	places  []int // in the panel
	twice   []bool
	vectors []byte // all, of the same size
	hasText []bool
	marks   [][]int32
	valued  map[int64]uint8 // bands by seq, of hosts with a value of the label
}

func (h *hostReader) head() int { return len(h.profiles) + 5 }
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

func (s *hostSegment) fetches(ctx context.Context, parts []journal.Part) error {
	what := rowio.Selection{Columns: []string{
		"seq", "host", "port", "rank", "registered_domain", "outcome", "reason", "status", "challenge",
	}}
	if len(s.fellBack) > 0 {
		what.Columns = append(what.Columns, "origin", "fallback_error_class")
	}
	hasContents := s.run.byHost["body"]
	if hasContents {
		what.Columns = append(what.Columns, contentColumns["fetches"]...)
	}
	return rowio.Runs(ctx, s.In, parts, what, func(path string, seq int64, rows []schema.Fetch) error {
		for i := range rows {
			if n := len(s.seqs); n > 0 && seq <= s.seqs[n-1] {
				return fmt.Errorf("%s: seq %d follows %d", path, seq, s.seqs[n-1])
			}
			if err := s.host(&rows[i], hasContents); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	})
}

// host adds a host, with what fetches says of it.
func (s *hostSegment) host(row *schema.Fetch, hasContents bool) error {
	s.seqs = append(s.seqs, row.Seq)
	s.domains = append(s.domains, maphash.String(seed, *cmp.Or(row.RegisteredDomain, &row.Host)))
	s.bands = append(s.bands, s.band(row))
	place, in := slices.BinarySearch(s.panel, keyOf(row.Host, row.Port))
	s.inPanel, s.places = append(s.inPanel, in), append(s.places, place)
	twice := false
	if len(s.fellBack) > 0 && row.FallbackErrorClass == nil {
		_, twice = slices.BinarySearch(s.fellBack, maphash.String(seed, row.Origin))
	}
	s.twice = append(s.twice, twice)
	outcome := slices.Index(outcomes, row.Outcome)
	reason := slices.Index(answer.Reasons, answer.Reason(row.Reason))
	if outcome < 0 || reason < 0 {
		return fmt.Errorf("seq %d has the outcome %.40q and the reason %.40q, and one of them is unknown",
			row.Seq, row.Outcome, row.Reason)
	}
	v := make([]byte, s.size())
	if s.first {
		v[slices.Index(s.profiles, s.run.FirstProfile())] = byte(outcome)
	}
	if row.Challenge != nil {
		v[len(s.profiles)] = 1
	}
	if hasContents && s.body(row) {
		v[s.head()-4] = 1
	}
	v[s.head()-3] = byte(reason)
	binary.LittleEndian.PutUint16(v[s.head()-2:], uint16(schema.OrZero(row.Status))) // 0: none
	s.vectors = append(s.vectors, v...)
	return nil
}

// eachHost calls each with the rows of parts of another table, and the host that they are about:
// some of its rows at a time.
func eachHost[R any](
	ctx context.Context, s *hostSegment, parts []journal.Part, what rowio.Selection,
	each func(path string, host int, rows []R) error,
) error {
	host := 0
	return rowio.Runs(ctx, s.In, parts, what, func(path string, seq int64, rows []R) error {
		for host < len(s.seqs) && s.seqs[host] < seq {
			host++
		}
		if host == len(s.seqs) || s.seqs[host] != seq {
			return fmt.Errorf("%s: seq %d is not in fetches", path, seq)
		}
		return each(path, host, rows)
	})
}

// A numbering gives texts their places in a list, -1 for one that is not in it. Most texts
// are those before.
type numbering struct {
	places map[string]int
	last   string
	place  int
}

func numbered(list []string) *numbering {
	n := &numbering{places: make(map[string]int), place: -1}
	for i, text := range list {
		n.places[text] = i
	}
	n.place = n.find("")
	return n
}

func (n *numbering) find(text string) int {
	if place, ok := n.places[text]; ok {
		return place
	}
	return -1
}

func (n *numbering) of(text string) int {
	if text != n.last {
		n.last, n.place = text, n.find(text)
	}
	return n.place
}

func (s *hostSegment) policies(ctx context.Context, parts []journal.Part) error {
	what := rowio.Selection{Columns: []string{"seq", "agent", "profile", "outcome", "class", "is_explicit"}}
	hasTemplates := s.run.byHost["policy_template"]
	if hasTemplates {
		what.Columns = append(what.Columns, contentColumns["policies"]...)
	}
	agents, profiles := numbered(s.agents), numbered(s.profiles)
	saidOutcomes, classes := numbered(outcomes), numbered(summary.ClassNames[:])
	return eachHost(ctx, s, parts, what, func(path string, host int, rows []schema.Policy) error {
		v := s.vectors[host*s.size():][:s.size()]
		for i := range rows {
			row := &rows[i]
			profile := profiles.of(row.Profile)
			if profile < 0 {
				continue // not of the series
			}
			agent, outcome, class := agents.of(row.Agent), saidOutcomes.of(row.Outcome), classes.of(row.Class)
			if agent < 0 || outcome < 0 || class < 0 {
				return fmt.Errorf("%s: a policy of an agent that summary does not have, or of an unknown class or outcome",
					path)
			}
			v[profile] = byte(outcome)
			b := classSet | byte(class)
			if row.IsExplicit {
				b |= explicitBit
			}
			v[s.head()+profile*len(s.agents)+agent] = b
			if hasTemplates && class == int(robots.DisallowAll) && row.Template != nil {
				name := s.agents[agent]
				s.mark(host, id{"policy_template", name, s.run.Category[name], s.profiles[profile], *row.Template})
			}
		}
		return nil
	})
}

// hasRules reports whether the rules of a host decide under a profile, by its vector: shares of
// files are of these hosts, and so are pairs.
func (h *hostReader) hasRules(vector string, profile int) bool {
	return vector[profile] == isFile && vector[len(h.profiles)] == 0 // not behind a wall
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
				clear(h.sets)
				h.texts = nil
			}
			n = uint32(len(h.texts))
			h.texts = append(h.texts, string(v))
			h.vectors[h.texts[n]] = n
		}
		g := group{n, s.bands[i], s.inPanel[i], s.twice[i]}
		h.groups[g]++
		if h.pairing != nil && s.inPanel[i] && !s.twice[i] {
			set, known := h.sets[n]
			if !known {
				first := slices.Index(h.profiles, h.Profiles[0])
				if set = ruleless; first >= 0 && h.hasRules(h.texts[n], first) {
					set = h.pairing.set(h.figures.ids, h.figures.of(h.texts[n]), h.Profiles[0])
				}
				h.sets[n] = set
			}
			h.pairing.add(h.place, s.places[i], s.bands[i], set)
		}
		if h.Clustered {
			h.hosts = append(h.hosts, clusterHost{s.domains[i], g})
		}
	}
}
