package shred

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

// numbers is the type of a page of texts. It writes what [parquet.RLEDictionary] writes:
// eights of cells, bit-packed unless all are equal, and runs. But it knows the greatest
// number, and which cells repeat others.
type numbers struct {
	parquet.Type
	texts *textColumn
}

func (n numbers) Encode(dst []byte, _ encoding.Values, _ encoding.Encoding) ([]byte, error) {
	t := n.texts
	e := eights{width: bits.Len32(uint32(t.greatest()))}
	e.dst = append(dst[:0], byte(e.width))
	if e.width == 0 {
		return binary.AppendUvarint(e.dst, uint64(t.count())<<1), nil
	}
	cells := t.cells
	for _, s := range t.spans {
		switch {
		case s.n == 1:
			e.run(cells[0], s.times)
		case s.times == 1:
			e.add(cells[:s.n])
		default:
			e.repeat(cells[:s.n], s.times)
		}
		cells = cells[s.n:]
	}
	e.add(cells)
	return e.end(), nil
}

// eights encodes numbers of some bits.
type eights struct {
	dst    []byte
	width  int
	begun  [8]int32 // the first cells of an eight that is not complete
	cells  int      // and how many they are
	value  int32    // of the run that is not written yet
	count  int      // its cells
	packed int      // eights at the end of dst that are bit-packed and have no header yet
	head   int      // where their header begins, for which there is one byte
}

// add appends cells.
func (e *eights) add(cells []int32) {
	if e.cells > 0 {
		n := copy(e.begun[e.cells:], cells)
		if e.cells += n; e.cells < 8 {
			return
		}
		e.cells, cells = 0, cells[n:]
		e.eight(&e.begun)
	}
	for ; len(cells) >= 8; cells = cells[8:] {
		e.eight((*[8]int32)(cells))
	}
	e.cells = copy(e.begun[:], cells)
}

// cell appends a cell to an eight that is begun.
func (e *eights) cell(value int32) {
	e.begun[e.cells] = value
	if e.cells++; e.cells == 8 {
		e.cells = 0
		e.eight(&e.begun)
	}
}

// run appends a cell several times.
func (e *eights) run(value int32, times int) {
	for ; times > 0 && e.cells > 0; times-- {
		e.cell(value)
	}
	if times >= 8 {
		e.equal(value, times)
		return
	}
	for ; e.cells < times; e.cells++ {
		e.begun[e.cells] = value
	}
}

// repeat appends at most batchRows cells several times.
func (e *eights) repeat(cells []int32, times int) {
	at, left := 0, len(cells)*times
	for ; e.cells > 0 && left > 0; left-- {
		e.cell(cells[at])
		at = (at + 1) % len(cells)
	}
	var around [batchRows + 7]int32 // an eight that begins with the last cells goes on with the first
	n := copy(around[:], cells)
	for i := range 7 {
		around[n+i] = around[i]
	}
	period := n >> min(3, bits.TrailingZeros(uint(n))) // in eights
	isPacked := true
	for done := 0; left >= 8; done++ {
		some := 1
		if done == period && isPacked {
			some = left / 8
			e.again(period, some)
		} else {
			isPacked = e.eight((*[8]int32)(around[at:])) && isPacked
		}
		at, left = (at+8*some)%n, left-8*some
	}
	if left > 0 {
		e.cells = copy(e.begun[:], around[at:at+left])
	}
}

// eight appends an eight. It reports whether this is bit-packed.
func (e *eights) eight(c *[8]int32) (isPacked bool) {
	if v := c[0]; c[1] == v && c[2] == v && c[3] == v && c[4] == v && c[5] == v && c[6] == v && c[7] == v {
		e.equal(v, 8)
		return false
	}
	if e.packed == 0 {
		e.finish()
		e.head, e.dst = len(e.dst), append(e.dst, 0)
	}
	e.packed++
	e.pack(c)
	return true
}

func (e *eights) pack(c *[8]int32) {
	if e.width <= 8 {
		word, shift := uint64(0), 0
		for _, v := range c {
			word |= uint64(v) << (shift & 63)
			shift += e.width
		}
		e.dst = binary.LittleEndian.AppendUint64(e.dst, word)[:len(e.dst)+e.width]
		return
	}
	word, filled := uint64(0), 0
	for _, v := range c {
		word |= uint64(v) << (filled & 63)
		if filled += e.width; filled >= 32 {
			e.dst = binary.LittleEndian.AppendUint32(e.dst, uint32(word))
			word, filled = word>>32, filled-32
		}
	}
	for ; filled > 0; filled -= 8 {
		e.dst = append(e.dst, byte(word))
		word >>= 8
	}
}

// equal appends a number several times.
func (e *eights) equal(value int32, times int) {
	if e.count == 0 || e.value != value {
		e.finish()
		e.value = value
	}
	e.count += times
}

// again appends bit-packed eights that repeat the last ones.
func (e *eights) again(period, eights int) {
	from := len(e.dst) - period*e.width
	e.dst = room(e.dst, eights*e.width)[:len(e.dst)+eights*e.width]
	fill(e.dst[from:], period*e.width)
	e.packed += eights
}

// finish writes the run, or the header of the bit-packed eights.
func (e *eights) finish() {
	if e.count > 0 {
		e.writeRun(e.value, e.count)
		e.count = 0
	}
	if e.packed > 0 {
		var header [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(header[:], uint64(e.packed)<<1|1)
		e.dst = slices.Replace(e.dst, e.head, e.head+1, header[:n]...)
		e.packed = 0
	}
}

func (e *eights) writeRun(value int32, cells int) {
	e.dst = binary.AppendUvarint(e.dst, uint64(cells)<<1)
	for shift := 0; shift < e.width; shift += 8 {
		e.dst = append(e.dst, byte(value>>shift))
	}
}

// end writes what is left. The last cells, which are no eight, are runs of their own.
func (e *eights) end() []byte {
	e.finish()
	for i := 0; i < e.cells; {
		first := i
		for i++; i < e.cells && e.begun[i] == e.begun[first]; i++ {
		}
		e.writeRun(e.begun[first], i-first)
	}
	return e.dst
}
