package publish

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// sample says which targets of the published run are re-evaluated. It remembers them: each
// table asks for those of each segment.
type sample struct {
	published held
	has       func(host string) bool
	hash      *rowHash

	mu    sync.Mutex
	known map[int]*sampledHosts // by segment
	words int                   // of memory of those that are known
}

// sampledHosts are the targets of a segment.
type sampledHosts struct {
	others [][2]int64 // seqs of those that are not re-evaluated, from and to, ascending
	named  []uint64   // hashes of the hosts of all, ascending
}

// mostTargets bounds the targets of a segment in memory: somebody else may have written
// the part.
const mostTargets = 4 << 20

// mostWords bounds what is remembered.
const mostWords = 4 << 20

// hosts returns the targets of a segment.
func (s *sample) hosts(ctx context.Context, segment int) (*sampledHosts, error) {
	s.mu.Lock()
	h := s.known[segment]
	s.mu.Unlock()
	if h != nil {
		return h, nil
	}
	h, err := s.read(ctx, segment)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.words + 2*len(h.others) + len(h.named); s.known[segment] == nil && n <= mostWords {
		s.known[segment], s.words = h, n
	}
	return h, nil
}

func (s *sample) read(ctx context.Context, segment int) (*sampledHosts, error) {
	var sampled, others []int64
	var named []uint64
	for _, part := range s.published.PartsOf("fetches") {
		if part.Segment != segment {
			continue
		}
		what := rowio.Selection{Columns: []string{"seq", "host"}}
		err := rowio.Of(ctx, s.published.in, []journal.Part{part}, what, func(batch []schema.Fetch) error {
			for i := range batch {
				named = append(named, s.hash.text(batch[i].Host))
				if seq := batch[i].Seq; s.has(batch[i].Host) {
					sampled = append(sampled, seq)
				} else {
					others = append(others, seq)
				}
			}
			if len(sampled)+len(others) > mostTargets {
				return fmt.Errorf("the segment has more than %d targets", mostTargets)
			}
			return nil
		})
		if err != nil {
			return nil, unreadable(part.Path, err)
		}
	}
	slices.Sort(sampled)
	slices.Sort(others)
	slices.Sort(named)
	h := &sampledHosts{named: slices.Clip(slices.Compact(named))}
	for _, seq := range others {
		n := len(h.others)
		if _, both := slices.BinarySearch(sampled, seq); both {
			continue
		}
		if n > 0 && seq <= h.others[n-1][1]+1 {
			h.others[n-1][1] = seq
		} else {
			h.others = append(h.others, [2]int64{seq, seq})
		}
	}
	return h, nil
}

// wants reports whether the rows of a seq are compared: those of sampled targets, and of
// none.
func (h *sampledHosts) wants(seq int64) bool {
	i, exact := slices.BinarySearchFunc(h.others, seq, func(r [2]int64, seq int64) int { return cmp.Compare(r[1], seq) })
	return !exact && (i == len(h.others) || seq < h.others[i][0])
}

// findStrange looks for a host of the sample that fetches does not name. Without it, a target that
// fetches alone gives another host would be passed over as none of the sample.
func (r *partRows) findStrange(ctx context.Context, f *rowio.File, hosts *sampledHosts) error {
	if r.table == "fetches" || !slices.Contains(r.columns, "host") {
		return nil
	}
	return f.EachText(ctx, "host", func(host []byte) {
		_, named := slices.BinarySearch(hosts.named, maphash.Bytes(r.hash.seed, host))
		r.strange = r.strange || !named && r.sampled.has(string(host))
	})
}

// lookAhead reads the seqs of a part, and returns the rows that are wanted. Rows of a target
// stand together.
func (r *partRows) lookAhead(ctx context.Context, f *rowio.File, hosts *sampledHosts) (rows [][2]int64, err error) {
	var order seqOrder
	isTarget := r.table == "fetches"
	at, wanted := int64(0), false // of the row before
	err = f.EachSeq(ctx, func(seqs []int64) error {
		for i := 0; i < len(seqs); {
			seq := seqs[i]
			if !order.some || seq != order.last || isTarget {
				if err := order.grow(seq, r.table); err != nil {
					return err
				}
				was := wanted
				if wanted = hosts.wants(seq); wanted && !was {
					rows = append(rows, [2]int64{at, at})
				}
			}
			same := i + 1
			for !isTarget && same < len(seqs) && seqs[same] == seq {
				same++
			}
			at, i = at+int64(same-i), same
			if wanted {
				rows[len(rows)-1][1] = at
			}
		}
		return nil
	})
	return rows, err
}
