package rowio

import (
	"encoding/binary"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// tableHeader reads the header of a page as those of tables are, and returns its length, or 0 for
// any other, which the decoder of Thrift reads: a tenth as fast. It takes each field once, in the
// order of their numbers and by its type, so both read the same. Statistics are passed over.
func tableHeader(b []byte) (h format.PageHeader, n int64) {
	f := fields{left: b}
	h.Type, h.UncompressedPageSize, h.CompressedPageSize = format.PageType(f.int()), f.int(), f.int()
	h.CRC = f.int()
	switch kind := f.byte(); {
	case kind == 3<<4|structure && h.Type == format.DictionaryPage:
		d := &h.DictionaryPageHeader
		d.Valid = true
		d.V.NumValues, d.V.Encoding = f.int(), format.Encoding(f.int())
		if end := f.byte(); end == 1<<4|isTrue || end == 1<<4|isFalse {
			d.V.IsSorted = end == 1<<4|isTrue
			f.expect(0)
		} else {
			f.failed = f.failed || end != 0
		}
	case kind == 1<<4|structure && h.Type == format.DataPage:
		p := &h.DataPageHeader
		p.Valid = true
		p.V.NumValues, p.V.Encoding = f.int(), format.Encoding(f.int())
		p.V.DefinitionLevelEncoding, p.V.RepetitionLevelEncoding = format.Encoding(f.int()), format.Encoding(f.int())
		f.expect(1<<4 | structure)
		f.statistics()
		f.expect(0)
	case kind == 4<<4|structure && h.Type == format.DataPageV2:
		p := &h.DataPageHeaderV2
		p.Valid = true
		p.V.NumValues, p.V.NumNulls, p.V.NumRows = f.int(), f.int(), f.int()
		p.V.Encoding = format.Encoding(f.int())
		p.V.DefinitionLevelsByteLength, p.V.RepetitionLevelsByteLength = f.int(), f.int()
		compressed := f.byte()
		f.failed = f.failed || compressed != 1<<4|isTrue && compressed != 1<<4|isFalse
		p.V.IsCompressed = thrift.Null[bool]{V: compressed == 1<<4|isTrue, Valid: true}
		f.expect(1<<4 | structure)
		f.statistics()
		f.expect(0)
	default:
		return h, 0
	}
	if f.expect(0); f.failed {
		return h, 0
	}
	return h, int64(len(b) - len(f.left))
}

// Types of Thrift's compact protocol. The byte before a field has its type, and by how much its
// number is above that of the field before.
const (
	isTrue, isFalse byte = 1, 2
	number32        byte = 5
	number64        byte = 6
	text            byte = 8
	structure       byte = 12
)

// fields reads fields of a structure.
type fields struct {
	left   []byte
	failed bool
}

func (f *fields) byte() (b byte) {
	if len(f.left) == 0 {
		f.failed = true
		return 0
	}
	b, f.left = f.left[0], f.left[1:]
	return b
}

func (f *fields) expect(b byte) { f.failed = f.byte() != b || f.failed }

// int reads the next field, a number of 32 bits.
func (f *fields) int() int32 {
	f.expect(1<<4 | number32)
	v, n := binary.Varint(f.left)
	if n <= 0 || v < math.MinInt32 || v > math.MaxInt32 {
		f.failed = true
		return 0
	}
	f.left = f.left[n:]
	return int32(v)
}

// statistics passes over the statistics of a page.
func (f *fields) statistics() {
	types := [...]byte{1: text, 2: text, 3: number64, 4: number64, 5: text, 6: text}
	for id := 0; !f.failed; {
		field := f.byte()
		if field == 0 {
			return
		}
		if id += int(field >> 4); field>>4 == 0 || id >= len(types) || types[id] != field&15 {
			f.failed = true
			return
		}
		if types[id] == number64 {
			_, n := binary.Varint(f.left)
			if n <= 0 {
				f.failed = true
				return
			}
			f.left = f.left[n:]
			continue
		}
		length, n := binary.Uvarint(f.left)
		if n <= 0 || length > uint64(len(f.left)-n) {
			f.failed = true
			return
		}
		f.left = f.left[n+int(length):]
	}
}
