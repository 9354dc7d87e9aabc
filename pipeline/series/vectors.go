package series

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
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
	for _, p := range parts {
		what := scan.Selection{Columns: []string{"seq", "host", "port", "rank", "registered_domain", "outcome", "reason", "status"}, Optional: []string{scan.WallColumn}}
		if len(s.fellBack) > 0 {
			what.Columns = append(what.Columns, "origin", "fallback_error_class")
		}
		hasContents := s.run.byHost["body"]
		if hasContents {
			what.Columns = append(what.Columns, contentColumns["fetches"]...)
		}
		err := scan.Rows(ctx, s.In, p, what, func(batch arrow.RecordBatch) error {
			seqs, ranks, statuses := scan.Column[*array.Int64](batch, "seq"), scan.Column[*array.Int64](batch, "rank"), scan.Column[*array.Int32](batch, "status")
			hosts, ports, domains := scan.Column[*array.String](batch, "host"), scan.Column[*array.Int32](batch, "port"), scan.Column[*array.String](batch, "registered_domain")
			said, why := scan.Column[*array.String](batch, "outcome"), scan.Column[*array.String](batch, "reason")
			walled := scan.Walled(batch)
			if hasContents {
				s.bodies(batch, walled)
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
					rank = new(ranks.Value(i))
				}
				s.bands = append(s.bands, uint8(slices.Index(bandNames, summary.StratumOf(rank))))
				place, in := slices.BinarySearch(s.panel, keyOf(hosts.Value(i), ports.Value(i)))
				s.inPanel, s.places = append(s.inPanel, in), append(s.places, place)
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
				if walled(i) {
					v[len(s.profiles)] = 1
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

// hostOf returns the host that a row of a part is about, by its seq: none before from.
func (s *hostSegment) hostOf(part string, seq int64, from int) (host int, err error) {
	for host = from; host < len(s.seqs) && s.seqs[host] < seq; {
		host++
	}
	if host == len(s.seqs) || s.seqs[host] != seq {
		err = fmt.Errorf("%s: seq %d is not in fetches", part, seq)
	}
	return host, err
}

func (s *hostSegment) policies(ctx context.Context, parts []journal.Part) error {
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
				var err error
				if at, err = s.hostOf(p.Path, seq, at); err != nil {
					return err
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
				set = h.pairing.set(h.figures.ids, h.figures.of(h.texts[n]), h.Profiles[0])
				h.sets[n] = set
			}
			h.pairing.add(h.place, s.places[i], s.bands[i], set)
		}
		if h.Clustered {
			h.hosts = append(h.hosts, clusterHost{s.domains[i], g})
		}
	}
}
