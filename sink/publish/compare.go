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

	Left []string // rows that were not compared of a table that was, by what they are of
}

// derived maps columns of fetches to the metrics of summary and examples that need
// them: without the column, they cannot be re-evaluated.
var derived = map[string][]string{
	"remote_address": {"address_block"},
	"server":         {"server"},
	"total_us":       {"total_us", "tld_slow", "address_block_slow", "server_slow"},
	"retry_after":    {"turned_away"},
	"error":          {"error_class", "reason"}, // of examples, which quote it
}

// Again is a run that re-evaluates the answers of a published one.
type Again struct {
	In       store.Store
	Run      *journal.Manifest
	InSample func(host string) bool // whether it has a host, nil for all

	BodiesGiven bool // elsewhere than in the data set, which has those of answers to identities alone
}

// Compare compares the published tables of a run with those of another run. The order
// of segments does not matter. A published part that cannot be read, or whose seqs fall, is
// [ErrDamaged].
func Compare(
	ctx context.Context, without []string, in store.Store, published *journal.Manifest, again Again,
) (all []Comparison, err error) {
	gone := goneOf(published, without, again.BodiesGiven)
	hash := newRowHash()
	of := &sample{published: held{in, published}, has: again.InSample, hash: hash, known: make(map[int]*sampledHosts)}
	for _, table := range published.Tables {
		c := Comparison{Table: table, Note: gone.why(table)}
		if c.Note == "" && again.InSample != nil && slices.Contains(unsampled, table) {
			c.Note, c.Unseen = "a sample does not show it", published.RowsOf(table)
		}
		if c.Note != "" {
			all = append(all, c)
			continue
		}
		t := &comparing{
			runs: [2]held{{in, published}, {again.In, again.Run}}, table: table, columns: columnsOf(table, without),
			omit: gone.omissions(table), hash: hash,
		}
		if again.InSample != nil {
			t.sampled = of
		}
		if err := t.compare(ctx, &c); err != nil {
			return nil, err
		}
		t.note(&c)
		if why := gone.whyDifferent(table); why != "" && !c.Same {
			c.Looked, c.Note, c.Left = false, why, nil
		}
		all = append(all, c)
	}
	return all, nil
}

// note says what was left out, and whether anything was compared at all.
func (t *comparing) note(c *Comparison) {
	var notes []string
	for i := range t.omit {
		if left := t.left[i]; len(left) > 0 {
			slices.Sort(left)
			c.Left = append(c.Left, left...)
			notes = append(notes, t.omit[i].why+": "+strings.Join(left, ", "))
		}
	}
	if t.strange {
		c.Same = false
		notes = append(notes, "it names a host of the sample that the table fetches does not name")
	}
	if len(c.Left) > 0 && c.Same && c.Rows == 0 {
		c.Looked, c.Left = false, nil
	}
	c.Note = strings.Join(notes, "; ")
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

// lostAs returns the lost metric that a metric is, or is a part of, "" if it is not lost.
func lostAs(metric string, lost []string) string {
	for _, name := range lost {
		if metric == name || strings.HasPrefix(metric, name+"_") {
			return name
		}
	}
	return ""
}
