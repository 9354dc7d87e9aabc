package evaluate

import (
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// NoCDN is the value of the label cdn for a host that answered, and no header of whose answer
// names a network.
const NoCDN = "none"

// labels writes the labels of a target, and begins to count it by them.
func (e *Evaluator) labels(t *target.Target, row *schema.Fetch, out *sink.Segment) error {
	if !out.Labels.Wanted() && !out.LabelCounts.Wanted() {
		return nil
	}
	all := append(e.labelled[:0], t.Labels...)
	for _, name := range e.config.OwnLabels {
		value, as := "", ""
		switch {
		case name == schema.LabelTLD && row.TLD != nil:
			value, as = *row.TLD, tldKey(row.TLD)
		case name == schema.LabelCDN && row.CDN != nil:
			value, as = *row.CDN, *row.CDN
		case name == schema.LabelCDN && row.Status != nil && row.Scheme != "ftp":
			value, as = NoCDN, NoCDN
		}
		if value != "" {
			all = append(all, target.Label{Name: name, Value: value, CountAs: as})
		}
	}
	e.labelled = all
	rows, values := e.labelRows[:0], e.labelValues[:0]
	for _, l := range all {
		rows = append(rows, schema.Label{Seq: row.Seq, Host: row.Host, Origin: row.Origin, Label: l.Name, Value: l.Value})
		values = append(values, summary.LabelValue{Label: l.Name, Value: l.CountAs})
	}
	e.labelRows, e.labelValues = rows, values
	if out.LabelCounts.Wanted() {
		e.counts.BeginHost(values)
	}
	return out.Labels.Write(rows...)
}
