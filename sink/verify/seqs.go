package verify

import (
	"fmt"
	"slices"
	"sync"
)

// Seqs are the seqs of a run of shards, whose targets are in no order, to find those that
// two shards have: tables are joined by them. It takes two bytes of memory for each seq,
// or one bit where they are dense.
type Seqs struct {
	mu   sync.Mutex
	have map[int64]*seqsOf
}

// seqsOf are the seqs that begin with the same bits: sorted, or as bits.
type seqsOf struct {
	few  []uint16
	many *[1 << 16 / 64]uint64
}

// manySeqs is the number of seqs from which bits take less memory.
const manySeqs = 1 << 16 / 16

// Add adds the seqs of targets that are not there yet, ascending. It returns an error for
// one that is.
func (s *Seqs) Add(seqs []int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.have == nil {
		s.have = make(map[int64]*seqsOf)
	}
	for len(seqs) > 0 {
		high, n := seqs[0]>>16, 1
		for n < len(seqs) && seqs[n]>>16 == high {
			n++
		}
		of := s.have[high]
		if of == nil {
			of = new(seqsOf)
			s.have[high] = of
		}
		if low, ok := of.add(seqs[:n]); !ok {
			return fmt.Errorf("seq %d comes in two shards: a target is counted twice", high<<16|int64(low))
		}
		seqs = seqs[n:]
	}
	return nil
}

// add adds seqs. It returns one that is there already, if any.
func (s *seqsOf) add(seqs []int64) (twice uint16, ok bool) {
	if s.many == nil && len(s.few)+len(seqs) <= manySeqs {
		for _, seq := range seqs {
			s.few = append(s.few, uint16(seq))
		}
		slices.Sort(s.few)
		for i := 1; i < len(s.few); i++ {
			if s.few[i] == s.few[i-1] {
				return s.few[i], false
			}
		}
		return 0, true
	}
	if s.many == nil {
		s.many = new([1 << 16 / 64]uint64)
		for _, low := range s.few {
			s.many[low/64] |= 1 << (low % 64)
		}
		s.few = nil
	}
	for _, seq := range seqs {
		low := uint16(seq)
		if s.many[low/64]&(1<<(low%64)) != 0 {
			return low, false
		}
		s.many[low/64] |= 1 << (low % 64)
	}
	return 0, true
}
