package series

import (
	"context"
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// isLabel reports whether a stratum is the hosts with a value of a label.
func isLabel(stratum string) bool {
	_, ok := summary.ParseLabelValue(stratum)
	return ok
}

// labels reads which hosts of the segment have the values that the series is about.
func (s *hostSegment) labels(ctx context.Context, parts []journal.Part) error {
	if s.label == "" {
		return nil
	}
	s.valued = make(map[int64]uint8)
	return rowio.Of(ctx, s.In, parts, rowio.Selection{Columns: []string{"seq", "label", "value"}}, func(batch []schema.Label) error {
		for i := range batch {
			if batch[i].Label != s.label {
				continue
			}
			if band := slices.Index(s.hostReader.bandNames, summary.LabelValue{Label: s.label, Value: batch[i].Value}.Stratum()); band >= 0 {
				s.valued[batch[i].Seq] = uint8(band)
			}
		}
		return nil
	})
}

// band returns the band of a host.
func (s *hostSegment) band(row *hostRow) uint8 {
	bands := s.hostReader.bandNames
	if s.label == "" {
		return uint8(slices.Index(bands, summary.StratumOf(row.Rank)))
	}
	if band, ok := s.valued[row.Seq]; ok {
		return band
	}
	return uint8(len(bands) - 1)
}
