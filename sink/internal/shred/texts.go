package shred

import (
	"hash/maphash"
	"slices"

	"github.com/parquet-go/parquet-go/encoding"
)

// texts is the dictionary of a column in a row group, numbered in order of first
// occurrence, and the cells of a page as indices into it.
type texts struct {
	values  []byte   // the texts, concatenated
	offsets []uint32 // where each text begins in values, and where the last ends
	hashes  []uint32
	slots   []slot  // a power of two, at least half of them free
	after   []int32 // per text: the different text that followed it last
	last    int32   // the text of the last cell, -1 for none
	cells   []int32
}

// slot is an entry of an open-addressing hash table, free if text is 0.
type slot struct {
	hash uint32
	text int32 // index of the text plus 1
}

const fewSlots = 64

// textSeed is random, so that the author of a robots.txt cannot make texts collide.
// The output does not depend on it.
var textSeed = maphash.MakeSeed()

func newTexts() *texts {
	return &texts{offsets: []uint32{0}, slots: make([]slot, fewSlots), last: -1}
}

func (t *texts) len() int { return len(t.offsets) - 1 }

func (t *texts) all() encoding.Values { return encoding.ByteArrayValues(t.values, t.offsets) }

// forget empties the dictionary.
func (t *texts) forget() {
	t.values, t.offsets, t.hashes, t.after, t.last = t.values[:0], t.offsets[:1], t.hashes[:0], t.after[:0], -1
	t.slots = t.slots[:fewSlots]
	clear(t.slots)
}

// add appends a cell. Most cells equal the previous one, or follow it as they did
// last time: URLs in the order of their list, the rules of a template.
func (t *texts) add(text string) {
	switch {
	case t.last < 0:
		t.last = t.find(text)
	case t.is(t.last, text):
	case t.is(t.after[t.last], text):
		t.last = t.after[t.last]
	default:
		n := t.find(text)
		t.after[t.last], t.last = n, n
	}
	t.cells = append(room(t.cells, 1), t.last)
}

// addAbove appends the last cell n times.
func (t *texts) addAbove(n int) {
	t.cells = room(t.cells, n)
	for range n {
		t.cells = append(t.cells, t.last)
	}
}

// repeat appends the cells from index from on again, so that they stand there
// several times.
func (t *texts) repeat(from, times int) {
	n := len(t.cells) - from
	t.cells = room(t.cells, n*(times-1))
	for ; times > 1; times-- {
		t.cells = append(t.cells, t.cells[from:from+n]...)
	}
}

func (t *texts) is(n int32, text string) bool {
	return string(t.values[t.offsets[n]:t.offsets[n+1]]) == text
}

func (t *texts) find(text string) int32 {
	hash := uint32(maphash.String(textSeed, text))
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	for ; t.slots[i].text != 0; i = (i + 1) & mask {
		if s := t.slots[i]; s.hash == hash && t.is(s.text-1, text) {
			return s.text - 1
		}
	}
	n := int32(t.len())
	t.slots[i] = slot{hash: hash, text: n + 1}
	t.values = append(room(t.values, len(text)), text...)
	t.offsets = append(t.offsets, uint32(len(t.values)))
	t.hashes = append(t.hashes, hash)
	t.after = append(t.after, n)
	if 2*t.len() > len(t.slots) {
		t.grow()
	}
	return n
}

// room returns s with room for n more elements. It doubles the memory: append adds a
// quarter to large slices, and copies four times as much.
func room[V any](s []V, n int) []V {
	if cap(s)-len(s) >= n {
		return s
	}
	return slices.Grow(s, max(n, cap(s)))
}

func (t *texts) grow() {
	if size := 4 * len(t.slots); size <= cap(t.slots) {
		t.slots = t.slots[:size]
		clear(t.slots)
	} else {
		t.slots = make([]slot, size)
	}
	mask := uint32(len(t.slots) - 1)
	for n, hash := range t.hashes {
		i := hash & mask
		for t.slots[i].text != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot{hash: hash, text: int32(n) + 1}
	}
}
