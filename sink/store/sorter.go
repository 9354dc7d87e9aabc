package store

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"sync"
)

// SortMemory is a bound for what a Sorter holds before it writes to disk, and the buffers
// that it reads with.
const SortMemory = 32 << 20

// A Sorter sorts records by their keys, which must be distinct, in bounded memory.
// It writes sorted stretches to a scratch file and merges them when they are read.
type Sorter struct {
	Scratch func() (*Scratch, error) // creates the file; unused if the memory suffices
	Memory  int                      // bytes

	mu      sync.Mutex
	arena   []byte
	records []record
	file    *Scratch
	end     int64
	runs    []*io.SectionReader
}

// record is the place of a key and the length of the value after it in the arena.
type record struct{ from, key, value int }

// sortedHead is the size of a record's head on disk: a checksum of all that follows,
// and the lengths of key and value.
const sortedHead = 12

// checksum detects damage on disk, because a decoder checks nothing.
func checksum(lengths, content []byte) uint32 {
	return crc32.Update(crc32.Checksum(lengths, castagnoli), castagnoli, content)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamagedSort = errors.New("it is truncated or damaged")

// Add adds a copy of a record. It is safe for concurrent use.
func (s *Sorter) Add(key, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(key) + len(value); len(s.records) > 0 && len(s.arena)+n+24*len(s.records) > s.Memory {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.records = append(s.records, record{len(s.arena), len(key), len(value)})
	s.arena = append(append(s.arena, key...), value...)
	return nil
}

func (s *Sorter) sort() {
	key := func(r record) []byte { return s.arena[r.from:][:r.key] }
	slices.SortFunc(s.records, func(a, b record) int { return bytes.Compare(key(a), key(b)) })
}

func (s *Sorter) flush() error {
	if s.file == nil {
		f, err := s.Scratch()
		if err != nil {
			return fmt.Errorf("create a sort file: %w", err)
		}
		s.file = f
	}
	s.sort()
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.file, s.end), 1<<18)
	var head [sortedHead]byte
	size := int64(0)
	for _, r := range s.records {
		content := s.arena[r.from:][:r.key+r.value]
		binary.LittleEndian.PutUint32(head[4:], uint32(r.key))
		binary.LittleEndian.PutUint32(head[8:], uint32(r.value))
		binary.LittleEndian.PutUint32(head[:], checksum(head[4:], content))
		w.Write(head[:])
		w.Write(content)
		size += int64(len(head) + len(content))
	}
	if err := w.Flush(); err != nil { // keeps the first error of the writes
		return fmt.Errorf("write the sort file: %w", err)
	}
	s.runs = append(s.runs, io.NewSectionReader(s.file, s.end, size))
	s.end += size
	s.arena, s.records = s.arena[:0], s.records[:0]
	return nil
}

// Close releases memory and disk.
func (s *Sorter) Close() error {
	s.arena, s.records, s.runs = nil, nil, nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// Sorted returns a reader of the records in order. Nothing can be added after it. It
// may be called again, for another reader.
func (s *Sorter) Sorted() (*Merged, error) {
	if s.file == nil {
		s.sort()
		return &Merged{sorter: s}, nil
	}
	if len(s.records) > 0 {
		if err := s.flush(); err != nil {
			return nil, err
		}
	}
	s.arena, s.records = nil, nil
	m := &Merged{sorter: s}
	size := min(max(s.Memory/len(s.runs), 4<<10), 256<<10)
	for _, r := range s.runs {
		whole := io.NewSectionReader(r, 0, r.Size())
		st := &stretch{r: bufio.NewReaderSize(whole, size), left: r.Size()}
		if err := st.next(); err != nil {
			return nil, err
		}
		m.stretches = append(m.stretches, st)
	}
	heap.Init(m)
	return m, nil
}

// Merged reads records in the order of their keys.
type Merged struct {
	sorter    *Sorter
	at        int // index in the sorter's records if it wrote nothing to disk
	stretches []*stretch
	begun     bool
}

// Next returns the next record, or [io.EOF]. The record is valid until the next call.
func (m *Merged) Next() (key, value []byte, err error) {
	if m.stretches == nil {
		if m.at == len(m.sorter.records) {
			return nil, nil, io.EOF
		}
		r := m.sorter.records[m.at]
		m.at++
		b := m.sorter.arena[r.from:][:r.key+r.value]
		return b[:r.key], b[r.key:], nil
	}
	if m.begun {
		if err := m.stretches[0].next(); err != nil {
			return nil, nil, err
		}
		heap.Fix(m, 0)
	}
	m.begun = true
	if st := m.stretches[0]; !st.done {
		return st.record[:st.key], st.record[st.key:], nil
	}
	return nil, nil, io.EOF
}

func (m *Merged) Len() int           { return len(m.stretches) }
func (m *Merged) Swap(i, j int)      { m.stretches[i], m.stretches[j] = m.stretches[j], m.stretches[i] }
func (m *Merged) Push(any)           {}
func (m *Merged) Pop() any           { return nil }
func (m *Merged) Less(i, j int) bool { return m.stretches[i].before(m.stretches[j]) }

// A stretch reads a sorted stretch of records, one at a time.
type stretch struct {
	r      *bufio.Reader
	left   int64 // unread bytes
	record []byte
	key    int
	done   bool
}

func (s *stretch) before(t *stretch) bool {
	if s.done || t.done {
		return !s.done
	}
	return bytes.Compare(s.record[:s.key], t.record[:t.key]) < 0
}

func (s *stretch) next() error {
	if s.left == 0 {
		s.done = true
		return nil
	}
	err := s.read()
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errDamagedSort
	}
	if err != nil {
		return fmt.Errorf("read the sort file: %w", err)
	}
	return nil
}

func (s *stretch) read() error {
	var head [sortedHead]byte
	if _, err := io.ReadFull(s.r, head[:]); err != nil {
		return err
	}
	s.left -= sortedHead
	key, value := binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
	size := int64(key) + int64(value)
	if size > s.left {
		return errDamagedSort
	}
	s.left -= size
	s.key = int(key)
	s.record = slices.Grow(s.record[:0], int(size))[:size]
	if _, err := io.ReadFull(s.r, s.record); err != nil {
		return err
	}
	if checksum(head[4:], s.record) != binary.LittleEndian.Uint32(head[:]) {
		return errDamagedSort
	}
	return nil
}
