package publish

import (
	"context"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"

	"github.com/robocensus/robocensus/sink"
)

// Comparison says whether a table of a data set is that of another run of the same
// answers.
type Comparison struct {
	Table           string
	Rows, OtherRows int64  // that were compared
	Unseen          int64  // published rows of hosts that were not re-evaluated
	Looked          bool   // false: the table was not compared
	Same            bool   // the rows that were compared are the same
	Note            string // what was not compared, and why; "" for nothing
}

// ownURLs is the note of verdicts that differ, and may lack those of URLs that only some
// hosts have: nothing names these.
const ownURLs = "without verdicts.url, URLs that only some hosts have cannot be re-evaluated"

// ownDocuments is the note of the tables that say what documents of consent say: their
// bodies are not kept.
const ownDocuments = "documents of consent cannot be read again"

// derived maps columns of fetches to the metrics of summary and examples that need
// them: without the column, they cannot be re-evaluated.
var derived = map[string][]string{
	"remote_address": {"address_block"},
	"server":         {"server"},
	"total_us":       {"total_us", "tld_slow", "address_block_slow", "server_slow"},
	"error":          {"error_class", "reason"}, // of examples, which quote it
}

// Compare compares the published tables of a run with those of another run. The order
// of segments does not matter. If inSample is not nil, the other run has the hosts for
// which it returns true. A published part that cannot be read, or whose seqs fall, is
// [ErrDamaged].
func Compare(
	ctx context.Context, without []string, in store.Store, published *journal.Manifest, otherIn store.Store,
	other *journal.Manifest, inSample func(host string) bool,
) (all []Comparison, err error) {
	unnamed := !published.NamesURLs()
	hasDocuments := slices.ContainsFunc(published.PartsOf("documents"), func(p journal.Part) bool { return p.Rows > 0 })
	of := &sample{published: held{in, published}, has: inSample, known: make(map[int]*sampledHosts)}
	for _, table := range published.Tables {
		t := &comparing{
			runs: [2]held{{in, published}, {otherIn, other}}, table: table,
			columns: columnsOf(table, without), lost: lostMetrics(without, table), hash: newRowHash(),
		}
		if unnamed && (table == "summary" || table == "label_counts") {
			t.lost = append(t.lost, "verdict")
		}
		c := Comparison{Table: table}
		if hasDocuments && (table == "documents" || table == "preferences") {
			c.Note = ownDocuments
			all = append(all, c)
			continue
		}
		if hasDocuments && (table == "summary" || table == "examples") {
			t.lost = append(t.lost, "document")
		}
		var notes []string
		if inSample != nil {
			if t.sampled = of; slices.Contains(unsampled, table) {
				for _, part := range published.PartsOf(table) {
					c.Unseen += part.Rows
				}
				c.Note = "a sample does not show it"
				all = append(all, c)
				continue
			}
		}
		if table == "label_counts" && !slices.Contains(published.Tables, "labels") {
			c.Note = "the data set does not have the labels of hosts"
			all = append(all, c)
			continue
		}
		if len(t.lost) > 0 {
			notes = append(notes, "metrics that cannot be counted again are not compared: "+strings.Join(t.lost, ", "))
		}
		if err := t.compare(ctx, &c); err != nil {
			return nil, err
		}
		if unnamed && table == "verdicts" && !c.Same {
			c.Looked, notes = false, append(notes, ownURLs)
		}
		c.Note = strings.Join(notes, "; ")
		all = append(all, c)
	}
	return all, nil
}

// unsampled are the tables that a sample of the hosts does not show: those that count all
// hosts, and bodies, which other hosts may share. Each body that is judged is held
// against its digest.
var unsampled = []string{"summary", "label_counts", "examples", "bodies"}

func lostMetrics(without []string, table string) (metrics []string) {
	for _, name := range without {
		of, column, _ := strings.Cut(name, ".")
		for _, metric := range derived[column] {
			isOf := of == "fetches" && (table == "examples" || (table == "summary" || table == "label_counts") &&
				column != "error")
			if isOf && !slices.Contains(metrics, metric) {
				metrics = append(metrics, metric)
			}
		}
	}
	return metrics
}

// columnsOf returns the columns of a table that a data set has.
func columnsOf(table string, without []string) (columns []string) {
	for _, d := range sink.Dictionary() {
		if d.Table == table && !slices.Contains(without, table+"."+d.Column) {
			columns = append(columns, d.Column)
		}
	}
	return columns
}

// isLost reports whether a metric, or the one that it is a part of, is lost.
func isLost(metric string, lost []string) bool {
	return slices.ContainsFunc(lost, func(name string) bool {
		return metric == name || strings.HasPrefix(metric, name+"_")
	})
}
