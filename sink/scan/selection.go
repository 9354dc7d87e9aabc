package scan

import (
	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// Selection says what is read of a file.
type Selection struct {
	// Columns are the columns to read, in the order of the file. Empty means all.
	Columns []string
	// Wanted reports whether a row group whose statistics give seqs from least to
	// greatest may hold wanted rows. Nil wants all.
	Wanted func(least, greatest int64) bool
	// Texts reports the same of columns of text, by their names: each must want the row
	// group, or lack statistics.
	Texts map[string]func(least, greatest string) bool
	// Passed, if it is not nil, is told the number of rows of each row group that is not
	// wanted.
	Passed func(rows int64)
}

// wants reports whether a row group may hold wanted rows.
func (s *Selection) wants(m *metadata.FileMetaData, group int) bool {
	if s.Wanted != nil {
		if seq, ok := statistics(m, group, "seq").(*metadata.Int64Statistics); ok && seq.HasMinMax() &&
			!s.Wanted(seq.Min(), seq.Max()) {
			return false
		}
	}
	for name, wanted := range s.Texts {
		if text, ok := statistics(m, group, name).(*metadata.ByteArrayStatistics); ok && text.HasMinMax() &&
			!wanted(string(text.Min()), string(text.Max())) {
			return false
		}
	}
	return true
}

// statistics returns those of a column in a row group, nil if there are none.
func statistics(m *metadata.FileMetaData, group int, column string) metadata.TypedStatistics {
	i := m.Schema.ColumnIndexByName(column)
	if i < 0 {
		return nil
	}
	chunk, err := m.RowGroup(group).ColumnChunk(i)
	if err != nil {
		return nil
	}
	known, err := chunk.Statistics()
	if err != nil {
		return nil
	}
	return known
}
