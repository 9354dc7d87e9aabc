package series

import (
	"context"
	"fmt"
	"maps"
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

// labelsOf returns the labels that strata are about, nil for none.
func labelsOf(strata []string) (labels []string) {
	for _, stratum := range strata {
		if v, ok := summary.ParseLabelValue(stratum); ok {
			labels = append(labels, v.Label)
		}
	}
	return labels
}

// UnknownStratum reports a value of a label that no run counts.
type UnknownStratum struct {
	summary.LabelValue
	Labels []string // of the runs, sorted
	Values []string // of the label, sorted
}

func (e *UnknownStratum) Error() string { return fmt.Sprintf("no run has hosts of %q", e.Stratum()) }

// checkLabels returns an [UnknownStratum] if one of the strata has no hosts in any run. Those
// that are counted host by host may have values that the counters by label hold together.
func checkLabels(c Config, runs []*countedRun) error {
	for _, stratum := range c.Strata {
		v, isLabel := summary.ParseLabelValue(stratum)
		if !isLabel || slices.ContainsFunc(runs, func(r *countedRun) bool {
			if c.Panel || c.Clustered {
				return r.all.hosts(stratum)+r.panel.hosts(stratum)+r.others.hosts(stratum) > 0
			}
			return r.values[stratum]
		}) {
			continue
		}
		labels, values := make(map[string]bool), make(map[string]bool)
		for _, r := range runs {
			for known := range r.values {
				k, _ := summary.ParseLabelValue(known)
				labels[k.Label] = true
				if k.Label == v.Label && known != stratum {
					values[k.Value] = true
				}
			}
		}
		return &UnknownStratum{v, slices.Sorted(maps.Keys(labels)), slices.Sorted(maps.Keys(values))}
	}
	return nil
}

// hosts returns the number of hosts of a stratum.
func (p population) hosts(stratum string) int64 {
	if p[stratum] == nil {
		return 0
	}
	return p[stratum].sizes[baseHosts].n
}

// bandOf returns the band of a value of the label, -1 for none. One that the run does not count apart
// is of its [summary.Other], unless the series is about the value.
func (h *hostReader) bandOf(value string) int {
	stratum := summary.LabelValue{Label: h.label, Value: value}.Stratum()
	band := slices.Index(h.bandNames, stratum)
	if rest := (summary.LabelValue{Label: h.label, Value: summary.Other}).Stratum(); band < 0 &&
		!h.run.values[stratum] && h.run.values[rest] {
		band = slices.Index(h.bandNames, rest)
	}
	return band
}

// labels reads which hosts of the segment have the values that the series is about.
func (s *hostSegment) labels(ctx context.Context, parts []journal.Part) error {
	if s.label == "" {
		return nil
	}
	s.valued = make(map[int64]uint8)
	return rowio.Of(ctx, s.In, parts, rowio.Selection{Columns: []string{"seq", "label", "value"}},
		func(batch []schema.Label) error {
			for i := range batch {
				if batch[i].Label != s.label {
					continue
				}
				if band := s.bandOf(batch[i].Value); band >= 0 {
					s.valued[batch[i].Seq] = uint8(band)
				}
			}
			return nil
		})
}

// band returns the band of a host.
func (s *hostSegment) band(row *schema.Fetch) uint8 {
	bands := s.hostReader.bandNames
	if s.label == "" {
		return uint8(slices.Index(bands, summary.StratumOf(row.Rank)))
	}
	if band, ok := s.valued[row.Seq]; ok {
		return band
	}
	return uint8(len(bands) - 1)
}
