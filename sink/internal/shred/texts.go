package shred

import (
	"hash/maphash"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// textColumn holds the cells of a page of texts, as indices into a dictionary.
type textColumn struct {
	*texts
	last   int32    // the text of the last cell, -1 for none
	cells  []int32  // without their repetitions
	spans  []span   // the cells from the first on that are repeated, or not; those after them are not
	within int      // cells that spans speak of
	more   int      // repetitions of cells
	shared bool     // a later column has the same dictionary
	batch  []int32  // the cells of the last batch, once, if it has
	seen   []uint64 // the set of the texts of the cells, a bit for each
	list   *string  // the first text of the list that was written last
	listed []int32  // per text of the list: its number plus 1, 0 if it is not known
}

// span is n cells that are written several times.
type span struct{ n, times int }

// count returns the number of cells.
func (t *textColumn) count() int { return len(t.cells) + t.more }

// forget empties the dictionary. Every column that shares it forgets before the next
// cell is added.
func (t *textColumn) forget() {
	t.texts.forget()
	t.last, t.list, t.listed = -1, nil, t.listed[:0]
}

// texts is the dictionary of a row group, of one column or of several. Texts are
// numbered in order of first occurrence.
type texts struct {
	values  []byte   // the texts, concatenated
	offsets []uint32 // where each text begins in values, and where the last ends
	hashes  []uint32
	slots   []slot  // a power of two, at least half of them free
	after   []int32 // per text: the different text that followed it last
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
	return &texts{offsets: []uint32{0}, slots: make([]slot, fewSlots)}
}

func (t *texts) len() int { return len(t.offsets) - 1 }

// bytes returns the memory that the dictionary takes.
func (t *texts) bytes() int {
	return cap(t.values) + 4*(cap(t.offsets)+cap(t.hashes)+cap(t.after)) + 8*cap(t.slots)
}

func (t *texts) text(n int32) []byte { return t.values[t.offsets[n]:t.offsets[n+1]] }

func (t *texts) all() encoding.Values { return encoding.ByteArrayValues(t.values, t.offsets) }

func (t *texts) forget() {
	t.values, t.offsets, t.hashes, t.after = t.values[:0], t.offsets[:1], t.hashes[:0], t.after[:0]
	t.slots = t.slots[:fewSlots]
	clear(t.slots)
}

// add appends a cell. Most cells equal the previous one, or follow it as they did
// last time: URLs in the order of their list, the rules of a template.
func (t *textColumn) add(text string) {
	switch {
	case t.last < 0:
		t.last = t.find(text)
	case t.is(t.last, text):
		t.addAbove(1)
		return
	case t.is(t.after[t.last], text):
		t.last = t.after[t.last]
	default:
		n := t.find(text)
		t.after[t.last], t.last = n, n
	}
	t.see(t.last)
	t.cells = append(room(t.cells, 1), t.last)
}

// see adds a text to those of the page.
func (t *textColumn) see(n int32) {
	word := int(n / 64)
	for word >= len(t.seen) {
		t.seen = append(room(t.seen, 1), 0)
	}
	t.seen[word] |= 1 << (n % 64)
}

// greatest returns the greatest number of a text of the page, 0 for none.
func (t *textColumn) greatest() int32 {
	for i := len(t.seen) - 1; i >= 0; i-- {
		if word := t.seen[i]; word != 0 {
			return int32(64*i + bits.Len64(word) - 1)
		}
	}
	return 0
}

// empty removes the cells.
func (t *textColumn) empty() {
	t.cells, t.spans, t.seen = t.cells[:0], t.spans[:0], t.seen[:0]
	t.within, t.more = 0, 0
}

// addAbove appends the last cell n times.
func (t *textColumn) addAbove(n int) {
	if len(t.cells) == 0 && n > 0 { // the last cell is of the page before
		t.see(t.last)
	}
	from := len(t.cells)
	t.cells = room(t.cells, n)[:from+n]
	for i := range t.cells[from:] {
		t.cells[from+i] = t.last
	}
}

// repeat has the cells from index from on, which are a batch, stand there several times.
func (t *textColumn) repeat(from, times int) {
	if t.shared {
		t.batch = append(t.batch[:0], t.cells[from:]...)
	}
	switch cells := t.cells[from:]; {
	case len(cells)*times < 8: // nothing is won
		t.cells = room(t.cells, len(cells)*(times-1))[:from+len(cells)*times]
		fill(t.cells[from:], len(cells))
	case isOne(cells):
		t.cells = t.cells[:from+1]
		t.span(from, len(cells)*times)
	case times > 1:
		t.span(from, times)
	}
}

func isOne(cells []int32) bool {
	for _, n := range cells {
		if n != cells[0] {
			return false
		}
	}
	return true
}

// span has the cells from index from on stand there several times.
func (t *textColumn) span(from, times int) {
	if last := len(t.spans) - 1; last >= 0 && from == t.within && from == len(t.cells)-1 && t.spans[last].n == 1 &&
		t.cells[from] == t.cells[from-1] {
		t.spans[last].times += times
		t.cells = t.cells[:from]
		t.more += times
		return
	}
	if once := from - t.within; once > 0 {
		t.spans = append(t.spans, span{once, 1})
	}
	n := len(t.cells) - from
	t.spans = append(t.spans, span{n, times})
	t.within, t.more = len(t.cells), t.more+n*(times-1)
}

// addRun appends the last cell, which was added one by one, n times.
func (t *textColumn) addRun(n int) {
	if n < 8 {
		t.addAbove(n)
		return
	}
	t.span(len(t.cells)-1, n+1)
}

// fill repeats the first n elements of all until its end.
func fill[V any](all []V, n int) {
	for done := n; 0 < done && done < len(all); done *= 2 {
		copy(all[done:], all[:done])
	}
}

func (t *texts) is(n int32, text string) bool {
	return string(t.text(n)) == text
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

// room returns s with room for n more elements. It doubles the memory, up to a size that few
// columns reach: append adds a quarter to large slices, and copies four times as much.
func room[V any](s []V, n int) []V {
	if cap(s)-len(s) >= n {
		return s
	}
	more := cap(s)
	if more > 1<<20 {
		more /= 2
	}
	return append(make([]V, 0, max(len(s)+n, cap(s)+more)), s...)
}

func (t *texts) grow() {
	if size := 2 * len(t.slots); size <= cap(t.slots) {
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

// requiredTexts writes what required does, for texts. In a closure of a function that is
// itself inlined, the compiler would not inline at.
func requiredTexts(w *parquet.ColumnWriter, t *textColumn, c cells) error {
	from := len(t.cells)
	for i := 0; i < c.n; {
		text, first := at[string](c, i), i
		t.add(text)
		for i++; i < c.n && isSame(text, at[string](c, i)); i++ {
		}
		t.addAbove(i - first - 1)
	}
	t.repeat(from, c.times)
	_, err := w.WriteRowValues(nil)
	return err
}

// sharedTexts does what requiredTexts does, for texts that mostly are those of
// another column. Both columns share a dictionary; the other one is written first,
// and its field stands back bytes before in a row.
func sharedTexts(w *parquet.ColumnWriter, t, other *textColumn, back int) func(cells) error {
	return func(c cells) error {
		from, others := len(t.cells), c
		others.first = unsafe.Add(c.first, -back)
		for i := range c.n {
			if text := at[string](c, i); isSame(text, at[string](others, i)) {
				if n := other.batch[i]; n != t.last {
					t.last = n
					t.see(n)
				}
				t.addAbove(1)
			} else {
				t.add(text)
			}
		}
		t.repeat(from, c.times)
		_, err := w.WriteRowValues(nil)
		return err
	}
}

// isSame reports whether two texts share memory.
func isSame(a, b string) bool {
	return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b)
}

// addListed appends a text of a list.
func (t *textColumn) addListed(list []string, i int) {
	if t.list != unsafe.SliceData(list) || len(t.listed) != len(list) {
		t.list, t.listed = unsafe.SliceData(list), slices.Grow(t.listed[:0], len(list))[:len(list)]
		clear(t.listed)
	}
	switch n := t.listed[i] - 1; n {
	case -1:
		t.add(list[i])
		t.listed[i] = t.last + 1
	case t.last:
		t.addAbove(1)
	default:
		t.last = n
		t.see(n)
		t.cells = append(room(t.cells, 1), n)
	}
}

// eachText returns a function that appends each text of a list n times.
func eachText(w *parquet.ColumnWriter, t *textColumn) func(int, *Column) error {
	return func(n int, c *Column) error {
		for i := c.From; i < c.To; i++ {
			t.addListed(c.List, i)
			if n > 1 {
				t.addRun(n - 1)
			}
		}
		_, err := w.WriteRowValues(nil)
		return err
	}
}

// nullableTexts does what nullable does, for texts.
func nullableTexts(w *parquet.ColumnWriter, k *kind) func(cells) error {
	t, levels := k.texts, newLevels(w, k.buffer)
	return func(c cells) error {
		from := len(t.cells)
		var above *string
		for i := range c.n {
			p := at[*string](c, i)
			levels.pattern[i] = 1
			switch p {
			case nil:
				levels.pattern[i] = 0
			case above:
				t.addAbove(1)
			default:
				t.add(*p)
				above = p
			}
		}
		t.repeat(from, c.times)
		return levels.write(c.n, c.times)
	}
}
