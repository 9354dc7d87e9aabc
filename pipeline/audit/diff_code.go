package audit

import (
	"encoding/binary"
	"math"
	"strings"
	"sync"
)

// An encoder writes the records of a sorter, and a decoder reads them. The sorter
// returns only records that were added to it, so a decoder checks nothing.
type encoder []byte

func (e *encoder) uint(v uint64) { *e = binary.AppendUvarint(*e, v) }
func (e *encoder) text(s string) { e.uint(uint64(len(s))); *e = append(*e, s...) }
func (e *encoder) float(v float64) {
	*e = binary.LittleEndian.AppendUint64(*e, math.Float64bits(v))
}

// ordered appends a number in a form whose byte order is the order of numbers.
func (e *encoder) ordered(v int64) { *e = binary.BigEndian.AppendUint64(*e, uint64(v)^1<<63) }

type decoder []byte

func (d *decoder) ordered() int64 {
	v := int64(binary.BigEndian.Uint64(*d) ^ 1<<63)
	*d = (*d)[8:]
	return v
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(*d)
	*d = (*d)[n:]
	return v
}

func (d *decoder) text() string { return string(d.bytes()) }

func (d *decoder) bytes() []byte {
	n := d.uint()
	b := (*d)[:n]
	*d = (*d)[n:]
	return b
}

func (d *decoder) float() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(*d))
	*d = (*d)[8:]
	return v
}

// names numbers the texts that a configuration sets: agents, categories, profiles,
// and the paths for all hosts. They are few.
type names struct {
	mu   sync.Mutex
	ids  map[string]uint64
	list []string
}

func (n *names) id(s string) uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, ok := n.ids[s]
	if !ok {
		if n.ids == nil {
			n.ids = make(map[string]uint64)
		}
		s = strings.Clone(s) // s points into a batch
		id = uint64(len(n.list))
		n.ids[s], n.list = id, append(n.list, s)
	}
	return id
}

func (n *names) text(id uint64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.list[id]
}
