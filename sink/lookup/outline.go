package lookup

import "encoding/binary"

// A run of a million hosts has hundreds of row groups of fetches, each with a description
// of 60 columns. To decode them takes most of the time of a look-up, and all that is needed
// of most parts is where the Bloom filters of one column are: these say that the part does
// not have the host. So the footer is passed over but for that.

// filterAt says where a Bloom filter is; of none, its length is 0.
type filterAt struct{ at, length int64 }

// filtersOf returns where the footer of a part with some rows says that the Bloom filters of a
// column are, one of each row group; ok is false for a footer that must be decoded, if it can
// be. A row group too few would hide its hosts, so the row groups must have all rows.
func filtersOf(footer []byte, column string, rows int64) (filters []filterAt, ok bool) {
	s := &skimmer{left: footer}
	at, said, sum := -1, int64(-1), int64(0)
	for id, kind := s.field(0); kind != 0; id, kind = s.field(id) {
		switch {
		case id == 2 && kind == list && at < 0: // the schema
			at = s.columnNamed(column)
		case id == 3 && kind == number64 && said < 0:
			said = s.count()
		case id == 4 && kind == list && at >= 0 && filters == nil: // row groups, none without a row
			n, of := s.list()
			if of != structure || int64(n) > rows {
				s.fail()
			}
			for ; n > 0 && !s.failed; n-- {
				f, has := s.filterOf(at)
				if filters, sum = append(filters, f), sum+has; sum > rows {
					s.fail()
				}
			}
		case id >= 2 && id <= 4:
			s.fail()
		default:
			s.pass(kind, 0)
		}
	}
	return filters, !s.failed && len(s.left) == 0 && said == rows && sum == rows && (rows == 0 || filters != nil)
}

// columnNamed reads a schema, and returns the number of a column that is in no other among
// those with values, -1 for none.
func (s *skimmer) columnNamed(column string) int {
	found, leaves, inside := -1, 0, uint64(0)
	n, of := s.list()
	for i := 0; i < n && !s.failed; i++ {
		name, children := "", uint64(0)
		for id, kind := s.field(0); kind != 0; id, kind = s.field(id) {
			switch {
			case id == 4 && kind == text:
				name = string(s.bytes(s.number()))
			case id == 5 && kind == number32:
				children = uint64(s.count())
			default:
				s.pass(kind, 0)
			}
		}
		switch {
		case of != structure || children > uint64(n):
			s.fail()
		case i == 0: // the root
			continue
		case children == 0 && inside == 0 && name == column && found < 0:
			found = leaves
		}
		if children == 0 {
			leaves++
		}
		inside = max(inside, 1) - 1 + children
	}
	return found
}

// filterOf reads a row group, and returns where the Bloom filter of a column is, and the number
// of its rows.
func (s *skimmer) filterOf(column int) (f filterAt, rows int64) {
	found := false
	for id, kind := s.field(0); kind != 0; id, kind = s.field(id) {
		switch {
		case id == 3 && kind == number64 && rows == 0:
			rows = s.count()
			continue
		case id != 1 && id != 3:
			s.pass(kind, 0)
			continue
		case id == 3 || kind != list || found:
			s.fail()
		}
		found = true
		n, of := s.list()
		if of != structure || column >= n {
			s.fail()
		}
		for i := 0; i < n && !s.failed; i++ {
			if i != column {
				s.pass(of, 0)
				continue
			}
			for id, kind := s.field(0); kind != 0; id, kind = s.field(id) {
				if id == 3 && kind == structure {
					f = s.filter()
				} else {
					s.pass(kind, 0)
				}
			}
		}
	}
	if !found || rows <= 0 {
		s.fail()
	}
	return f, rows
}

// filter reads the description of a column chunk.
func (s *skimmer) filter() (f filterAt) {
	for id, kind := s.field(0); kind != 0; id, kind = s.field(id) {
		switch {
		case id == 14 && kind == number64:
			f.at = s.count()
		case id == 15 && kind == number32:
			f.length = s.count()
		default:
			s.pass(kind, 0)
		}
	}
	return f
}

// Types of Thrift's compact protocol.
const (
	isTrue, isFalse              = 1, 2
	number8, number16            = 3, 4
	number32, number64, fraction = 5, 6, 7
	text, list, structure        = 8, 9, 12
)

// A skimmer reads fields of structures, and passes over others.
type skimmer struct {
	left   []byte
	failed bool
}

func (s *skimmer) fail() { s.left, s.failed = nil, true }

func (s *skimmer) byte() byte {
	if len(s.left) == 0 {
		s.fail()
		return 0
	}
	b := s.left[0]
	s.left = s.left[1:]
	return b
}

func (s *skimmer) bytes(n uint64) []byte {
	if n > uint64(len(s.left)) {
		s.fail()
		return nil
	}
	b := s.left[:n]
	s.left = s.left[n:]
	return b
}

// number reads a number; one with a sign has it in its lowest bit.
func (s *skimmer) number() uint64 {
	if len(s.left) > 0 && s.left[0] < 0x80 {
		return uint64(s.byte())
	}
	v, n := binary.Uvarint(s.left)
	if n <= 0 {
		s.fail()
		return 0
	}
	s.left = s.left[n:]
	return v
}

// count reads a number that is not negative.
func (s *skimmer) count() int64 {
	n := s.number()
	if n&1 != 0 {
		s.fail()
	}
	return int64(n >> 1)
}

// field returns the number and the type of the field after one; 0 is the type of none.
func (s *skimmer) field(before int) (id int, kind byte) {
	head := s.byte()
	if by := int(head >> 4); by > 0 {
		return before + by, head & 15
	}
	if head != 0 {
		id = int(s.number() >> 1)
	}
	return id, head
}

// list returns the length of a list, and the type of what is in it.
func (s *skimmer) list() (n int, of byte) {
	head := s.byte()
	if n, of = int(head>>4), head&15; n == 15 {
		if length := s.number(); length <= uint64(len(s.left)) { // each has a byte at least
			return int(length), of
		}
		s.fail()
	}
	return n, of
}

// mostDeep bounds how deep structures are in others: a footer has five.
const mostDeep = 16

// pass passes over a field.
func (s *skimmer) pass(kind byte, depth int) {
	switch {
	case depth > mostDeep:
		s.fail()
	case kind == isTrue || kind == isFalse:
	case kind == number8:
		s.byte()
	case kind == number16 || kind == number32 || kind == number64:
		s.number()
	case kind == fraction:
		s.bytes(8)
	case kind == text:
		s.bytes(s.number())
	case kind == list:
		n, of := s.list()
		for ; n > 0 && !s.failed; n-- {
			if of == isTrue || of == isFalse {
				s.byte()
			} else {
				s.pass(of, depth+1)
			}
		}
	case kind == structure:
		for id, kind := s.field(0); kind != 0; id, kind = s.field(id) {
			s.pass(kind, depth+1)
		}
	default: // no footer has it
		s.fail()
	}
}
