package records

import (
	"encoding/binary"
	"math"
	"sync"
)

// An Encoder writes the records of a sorter, and a Decoder reads them. The sorter
// returns only records that were added to it, so a decoder checks nothing.
type Encoder []byte

func (e *Encoder) Uint(v uint64) { *e = binary.AppendUvarint(*e, v) }
func (e *Encoder) Text(s string) { e.Uint(uint64(len(s))); *e = append(*e, s...) }
func (e *Encoder) float(v float64) {
	*e = binary.LittleEndian.AppendUint64(*e, math.Float64bits(v))
}

// optional appends a number that is not negative: 0 for null, else the number plus 1.
func (e *Encoder) optional(v *int32) {
	if v == nil {
		e.Uint(0)
	} else {
		e.Uint(uint64(uint32(*v)) + 1)
	}
}

// Ordered appends a number in a form whose byte order is the order of numbers.
func (e *Encoder) Ordered(v int64) { *e = binary.BigEndian.AppendUint64(*e, uint64(v)^1<<63) }

type Decoder []byte

func (d *Decoder) Ordered() int64 {
	v := int64(binary.BigEndian.Uint64(*d) ^ 1<<63)
	*d = (*d)[8:]
	return v
}

func (d *Decoder) Uint() uint64 {
	if b := (*d)[0]; b < 0x80 { // as most are
		*d = (*d)[1:]
		return uint64(b)
	}
	return d.long()
}

func (d *Decoder) long() uint64 {
	v, n := binary.Uvarint(*d)
	*d = (*d)[n:]
	return v
}

func (d *Decoder) Text() string { return string(d.bytes()) }

func (d *Decoder) bytes() []byte {
	n := d.Uint()
	b := (*d)[:n]
	*d = (*d)[n:]
	return b
}

func (d *Decoder) float() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(*d))
	*d = (*d)[8:]
	return v
}

// Names numbers the texts that a configuration sets: agents, categories, profiles,
// and the paths for all hosts. They are few.
type Names struct {
	mu   sync.Mutex
	ids  map[string]uint64
	list []string
}

func (n *Names) ID(s string) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[s]
	if !ok {
		if n.ids == nil {
			n.ids = make(map[string]uint64)
		}
		id = uint64(len(n.list))
		n.ids[s], n.list = id, append(n.list, s)
	}
	return id
}

func (n *Names) Text(id uint64) string { return n.Texts()[id] }

// Texts returns the texts that have numbers now, by number.
func (n *Names) Texts() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list
}
