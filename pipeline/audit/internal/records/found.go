package records

import (
	"io"
	"slices"

	"github.com/robocensus/robocensus/sink/store"
)

// Rows holds the rows of a target by table.
type Rows [allTables]Decoder

// A Found reads the rows of targets in the order of their pairs.
type Found struct {
	m     *store.Merged
	n     int64 // the pair that held belongs to
	table int   // the table that held is from
	held  []byte
	over  bool
}

// NewFound reads what Read and ReadBodies added to a sorter.
func NewFound(s *store.Sorter) (*Found, error) {
	m, err := s.Sorted()
	if err != nil {
		return nil, err
	}
	r := &Found{m: m}
	return r, r.advance()
}

func (r *Found) advance() error {
	key, value, err := r.m.Next()
	if err == io.EOF {
		r.over = true
		return nil
	}
	if err != nil {
		return err
	}
	k := Decoder(key)
	r.n, r.table, r.held = k.Ordered(), int(k[0]), value
	return nil
}

// Take returns the rows of pair n by table.
func (r *Found) Take(n int64) (rows Rows, err error) {
	for !r.over && r.n == n {
		rows[r.table] = slices.Clone(r.held)
		if err := r.advance(); err != nil {
			return rows, err
		}
	}
	return rows, nil
}
