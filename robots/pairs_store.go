package robots

import (
	"encoding/binary"
	"hash/maphash"
	"sync"
)

// A PairStore keeps the results of comparisons from file to file, by what the policies say: many
// sites have the rules of others. It is safe for concurrent use, and never changes a result:
// it returns what the comparison would return within the same bound.
//
// It has two generations, as few pairs are met again: when the young one is full, it becomes
// the old one, which is forgotten. A pair that is found is young again.
type PairStore[T comparable] struct {
	Undecided T // the result of a comparison that takes too much work

	mu         sync.Mutex
	young, old map[pairKey]pairOutcome[T]
}

// storedPairs is the size of a generation, which takes about 4 MB.
const storedPairs = 1 << 15

// pairKey is a hash of what two policies say. Its seeds are random, so that nobody can make
// two pairs collide.
type pairKey [2]uint64

var pairSeeds = [len(pairKey{})]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

// A pairOutcome is the result of a comparison, with the work that it took and its bound.
type pairOutcome[T any] struct {
	result     T
	work, most int
}

// pairTexts are memory for what the policies of a pair say.
var pairTexts = sync.Pool{New: func() any { return new([]byte) }}

// pairKeyOf returns the key of a pair.
func pairKeyOf(a, b *Policy) pairKey {
	text := pairTexts.Get().(*[]byte)
	defer pairTexts.Put(text)
	memory := binary.LittleEndian.AppendUint64((*text)[:0], 0)
	memory = a.AppendRules(memory)
	binary.LittleEndian.PutUint64(memory, uint64(len(memory))) // where the second begins
	memory = b.AppendRules(memory)
	*text = memory
	return pairKey{maphash.Bytes(pairSeeds[0], memory), maphash.Bytes(pairSeeds[1], memory)}
}

// find returns the outcome of a pair, if it is known what it is within a bound.
func (s *PairStore[T]) find(k pairKey, most int) (o pairOutcome[T], ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok = s.young[k]
	if !ok {
		if o, ok = s.old[k]; ok {
			s.add(k, o)
		}
	}
	return o, ok && (o.most == most || o.result != s.Undecided && o.work <= most)
}

func (s *PairStore[T]) keep(k pairKey, o pairOutcome[T]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(k, o)
}

func (s *PairStore[T]) add(k pairKey, o pairOutcome[T]) {
	if len(s.young) >= storedPairs || s.young == nil {
		s.old, s.young = s.young, make(map[pairKey]pairOutcome[T])
	}
	s.young[k] = o
}
