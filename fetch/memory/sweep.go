package memory

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/robocensus/robocensus/fetch"
)

// The keys. A body has two keys. The one without a value shows that the body exists,
// without reading it.
const (
	recordPrefix = 'o' // and an origin
	knownPrefix  = 'k' // and a digest
	bodyPrefix   = 'b' // and a digest
	countsPrefix = 'c' // alone: bodies and superseded
	sparedPrefix = 'w' // and an origin: until when it wants to be left alone
	sharePrefix  = 's' // alone: which hosts the folder remembers, see Bind
)

func key(prefix byte, rest []byte) []byte {
	return append(append(make([]byte, 0, 1+len(rest)), prefix), rest...)
}

func recordKey(o fetch.Origin) []byte { return key(recordPrefix, []byte(o.String())) }

func digestOf(body []byte) digest { return sha256.Sum256(body) }

// account adds to b the body of next, if it is new, and the changed counts. A
// known body is at least as durable as b will be: it comes earlier in the log.
func (m *Memory) account(b *pebble.Batch, old, next *record, body []byte) error {
	none := digest{}
	changed := false
	if d := next.body; d != none && d != old.body && d != old.copy {
		known, err := m.get(key(knownPrefix, d[:]))
		if err != nil {
			return err
		}
		if known == nil {
			if err := b.Set(key(bodyPrefix, d[:]), body, nil); err != nil {
				return fmt.Errorf("keep a body: %w", err)
			}
			if err := b.Set(key(knownPrefix, d[:]), nil, nil); err != nil {
				return fmt.Errorf("keep a body: %w", err)
			}
			m.bodies.Add(1)
			changed = true
		}
	}
	for i, d := range []digest{old.body, old.copy} {
		repeated := i == 1 && d == old.body
		if d != none && d != next.body && d != next.copy && !repeated {
			m.superseded.Add(1)
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return m.count(b)
}

// storeCounts writes the current counts.
func (m *Memory) storeCounts() error {
	b := m.db.NewBatch()
	if err := m.count(b); err != nil {
		return err
	}
	return m.commit(b, pebble.Sync)
}

// count adds the counts to b. Batches may be written in another order than they
// were counted, so after a kill the counts are slightly off.
func (m *Memory) count(b *pebble.Batch) error {
	counts := binary.BigEndian.AppendUint64(nil, uint64(m.bodies.Load()))
	counts = binary.BigEndian.AppendUint64(counts, uint64(m.superseded.Load()))
	if err := b.Set([]byte{countsPrefix}, counts, nil); err != nil {
		return fmt.Errorf("count bodies: %w", err)
	}
	return nil
}

// minSuperseded is the number of superseded bodies below which a sweep is never
// worthwhile.
const minSuperseded = 1000

// sweep removes the bodies that no record names, once they may be a third of
// all. It runs before anything is kept, so no record can name such a body again
// meanwhile. The counts are reset last: an interrupted sweep runs again.
func (m *Memory) sweep() error {
	counts, err := m.get([]byte{countsPrefix})
	if err != nil {
		return err
	}
	if len(counts) != 16 { // none yet
		return nil
	}
	m.bodies.Store(int64(binary.BigEndian.Uint64(counts)))
	m.superseded.Store(int64(binary.BigEndian.Uint64(counts[8:])))
	if m.superseded.Load() < max(minSuperseded, m.bodies.Load()/3) {
		return nil
	}
	named, err := m.named()
	if err != nil {
		return err
	}
	b := m.db.NewBatch()
	bodies := int64(0)
	err = m.each(knownPrefix, func(name, _ []byte) error {
		if _, ok := slices.BinarySearch(named, binary.BigEndian.Uint64(name)); ok {
			bodies++
			return nil
		}
		// Mark and body go together: a mark without a body would lose the next
		// answer with that digest.
		for _, prefix := range []byte{bodyPrefix, knownPrefix} {
			if err := b.Delete(key(prefix, name), nil); err != nil {
				return fmt.Errorf("remove a body: %w", err)
			}
		}
		if b.Count() < 10_000 {
			return nil
		}
		full := b
		b = m.db.NewBatch()
		return m.commit(full, pebble.NoSync)
	})
	if err != nil {
		return err
	}
	m.bodies.Store(bodies)
	m.superseded.Store(0)
	if err := m.count(b); err != nil {
		return err
	}
	return m.commit(b, pebble.Sync)
}

// named returns the first 8 bytes of every digest that a record names, sorted.
// A superseded body that shares them with another is merely kept.
func (m *Memory) named() ([]uint64, error) {
	var named []uint64
	err := m.each(recordPrefix, func(origin, value []byte) error {
		body, copy, _, err := recordDigests(value)
		if err != nil {
			return m.unreadable(string(origin), err)
		}
		named = append(named, binary.BigEndian.Uint64(body[:]))
		if copy != body {
			named = append(named, binary.BigEndian.Uint64(copy[:]))
		}
		return nil
	})
	slices.Sort(named)
	return slices.Compact(named), err
}

// each calls do for every key with the prefix, in order; name is the rest of
// the key.
func (m *Memory) each(prefix byte, do func(name, value []byte) error) (err error) {
	i, err := m.db.NewIter(&pebble.IterOptions{LowerBound: []byte{prefix}, UpperBound: []byte{prefix + 1}})
	if err != nil {
		return m.reading(err)
	}
	defer func() {
		if e := i.Close(); e != nil && err == nil {
			err = m.reading(e)
		}
	}()
	for i.First(); i.Valid(); i.Next() {
		value, err := i.ValueAndErr()
		if err != nil {
			return m.reading(err)
		}
		if err := do(i.Key()[1:], value); err != nil {
			return err
		}
	}
	return nil
}
