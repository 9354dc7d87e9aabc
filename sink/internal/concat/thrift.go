package concat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// Types of the Thrift compact protocol.
const (
	yes     = 1 // a field's boolean is its type
	no      = 2
	bytes1  = 3
	int16s  = 4
	int32s  = 5
	int64s  = 6
	doubles = 7
	texts   = 8
	lists   = 9
	sets    = 10
	structs = 12
)

// cursor reads structs of the Thrift compact protocol and edits their numbers. It
// allocates nothing that the input announces, and its depth is bounded by the length
// of a path.
//
// After the first error nothing is left to read, so that every loop ends.
type cursor struct {
	in []byte
	at int

	number func(at path, v int64) (int64, error) // returns what to write for v
	end    func(at path) error                   // called after a struct's last field

	out    []byte // in up to copied, edited
	copied int
	err    error
}

// edit returns n consecutive structs with edited numbers. It returns encoded if no
// number changes.
func edit(encoded []byte, root path, n int, number func(at path, v int64) (int64, error)) ([]byte, error) {
	c := &cursor{in: encoded, number: number}
	for range n {
		c.structure(root)
	}
	switch {
	case c.err != nil:
		return nil, c.err
	case c.at < len(encoded):
		return nil, errors.New("something follows its end")
	case c.copied == 0:
		return encoded, nil
	}
	return append(c.out, encoded[c.copied:]...), nil
}

func (c *cursor) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.in = c.in[:c.at]
}

// skip passes over n bytes.
func (c *cursor) skip(n uint64) {
	if n > uint64(len(c.in)-c.at) {
		c.fail(io.ErrUnexpectedEOF)
		return
	}
	c.at += int(n)
}

func (c *cursor) byte() byte {
	if c.skip(1); c.err != nil {
		return 0
	}
	return c.in[c.at-1]
}

func (c *cursor) uvarint() uint64 {
	v, n := binary.Uvarint(c.in[c.at:])
	if n <= 0 {
		c.fail(io.ErrUnexpectedEOF)
		return 0
	}
	c.at += n
	return v
}

func (c *cursor) varint() int64 {
	v := c.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// field reads the header of a field, whose number must be greater than last: all
// writers keep the order, and a field that came twice would have two values.
func (c *cursor) field(last *int16) (kind byte, more bool) {
	header := c.byte()
	if header == 0 {
		return 0, false
	}
	id := int64(*last) + int64(header>>4)
	if header>>4 == 0 {
		id = c.varint()
	}
	if id <= int64(*last) || id > math.MaxUint8 {
		c.fail(fmt.Errorf("field %d after field %d", id, *last))
		return 0, false
	}
	*last = int16(id)
	return header & 0xF, true
}

// structure reads a struct.
func (c *cursor) structure(at path) {
	if at>>56 != 0 {
		c.fail(errors.New("structs are nested too deep"))
		return
	}
	last := int16(0)
	for {
		kind, more := c.field(&last)
		if !more {
			break
		}
		c.value(kind, at<<8|path(last))
	}
	if c.end != nil && c.err == nil {
		if err := c.end(at); err != nil {
			c.fail(err)
		}
	}
}

// value reads the value of a field.
func (c *cursor) value(kind byte, at path) {
	switch want, known := kinds[at]; {
	case !known:
	case want == refused:
		c.fail(errors.New("it is encrypted, or names other files"))
		return
	case want != kind:
		c.fail(fmt.Errorf("field %#x has type %d, want %d", at, kind, want))
		return
	}
	switch kind {
	case yes, no:
	case lists, sets:
		element, n := c.list()
		if element == lists || element == sets {
			c.fail(errors.New("a list of lists, which Parquet does not have")) // and which nests without bound
		}
		for range n {
			if element == yes || element == no {
				c.skip(1)
			} else {
				c.value(element, at)
			}
			if c.err != nil {
				return
			}
		}
	case bytes1:
		c.skip(1)
	case int16s, int32s, int64s:
		begin := c.at
		v := c.varint()
		if c.err != nil || c.number == nil {
			return
		}
		edited, err := c.number(at, v)
		if err != nil {
			c.fail(err)
		} else if edited != v {
			c.out = binary.AppendVarint(append(c.out, c.in[c.copied:begin]...), edited)
			c.copied = c.at
		}
	case doubles:
		c.skip(8)
	case texts:
		c.skip(c.uvarint())
	case structs:
		c.structure(at)
	default:
		c.fail(fmt.Errorf("a value of type %d, which Parquet does not have", kind))
	}
}

// list reads the header of a list.
func (c *cursor) list() (element byte, n int) {
	header := c.byte()
	size := uint64(header >> 4)
	if size == 0xF {
		size = c.uvarint()
	}
	if size > uint64(len(c.in)-c.at) { // an element has at least a byte
		c.fail(io.ErrUnexpectedEOF)
		return 0, 0
	}
	return header & 0xF, int(size)
}
