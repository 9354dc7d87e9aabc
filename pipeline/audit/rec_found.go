package audit

import (
	"io"
	"slices"

	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/sink"
)

// targetRows holds the rows of a target by table.
type targetRows [allTables]decoder

// A foundReader reads the rows of targets in the order of their pairs.
type foundReader struct {
	m     *sorter.Merged
	n     int64 // the pair that held belongs to
	table int   // the table that held is from
	held  []byte
	over  bool
}

// newFound reads what readDetails and readBodies added to a sorter.
func newFound(s *sorter.Sorter) (*foundReader, error) {
	m, err := s.Sorted()
	if err != nil {
		return nil, err
	}
	r := &foundReader{m: m}
	return r, r.advance()
}

func (r *foundReader) advance() error {
	key, value, err := r.m.Next()
	if err == io.EOF {
		r.over = true
		return nil
	}
	if err != nil {
		return err
	}
	k := decoder(key)
	r.n, r.table, r.held = k.ordered(), int(k[0]), value
	return nil
}

// take returns the rows of pair n by table.
func (r *foundReader) take(n int64) (rows targetRows, err error) {
	for !r.over && r.n == n {
		rows[r.table] = slices.Clone(r.held)
		if err := r.advance(); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// partsOf returns the parts of each segment by table, and the segments in order. A
// shard may have several parts of a table.
func partsOf(m *sink.Manifest) (parts map[int]map[string][]sink.Part, segments []int) {
	parts = make(map[int]map[string][]sink.Part)
	for _, p := range m.Parts {
		if parts[p.Segment] == nil {
			parts[p.Segment] = make(map[string][]sink.Part)
			segments = append(segments, p.Segment)
		}
		parts[p.Segment][p.Table] = append(parts[p.Segment][p.Table], p)
	}
	return parts, segments
}
