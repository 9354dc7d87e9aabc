package publish

import (
	"context"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// Comparison says whether a table of a data set is that of another run of the same
// answers.
type Comparison struct {
	Table           string
	Rows, OtherRows int64  // that were compared
	Unseen          int64  // published rows of hosts that were not judged again
	Looked          bool   // false: the table was not compared
	Same            bool   // the rows that were compared are the same
	Note            string // what was not compared, and why; "" for nothing
}

// onlyFirst is the note of a table whose rows of other profiles are not compared. A row
// of fetches has what the first profile made of the memory, not the memory.
const onlyFirst = "only the first profile is judged again: others need the memory of earlier runs (--state), which is not in the tables"

const ownURLs = "verdicts of URLs that only some hosts have are not judged again"

// derived maps columns of fetches to the metrics of summary and examples that need
// them: without the column, they cannot be judged again.
var derived = map[string][]string{
	"remote_address": {"address_block"},
	"server":         {"server"},
	"total_us":       {"total_us", "tld_slow", "address_block_slow", "server_slow"},
	"error":          {"error_class", "reason"}, // of examples, which quote it
}

// spared are the columns of fetches that nothing is derived from but themselves.
var spared = []string{
	"input", "robots_url", "final_url", "error", "remote_address", "server", "total_us", "dns_us", "connect_us", "tls_us", "first_byte_us",
	"http_version", "tls_version", "etag", "last_modified", "cache_control", "retry_after", "content_encoding", "warc_file", "warc_offset", "warc_length",
	"registered_domain", "tld",
}

// NeededColumn returns a column that is left out, and without which answers cannot be
// judged again, or "".
func (p *Provenance) NeededColumn() string {
	for _, name := range p.Without {
		table, column, _ := strings.Cut(name, ".")
		if table == "fetches" && !slices.Contains(spared, column) {
			return name
		}
	}
	return ""
}

// Compare compares the published tables of a run with those of another run. The order
// of segments does not matter. If sample is not nil, the other run has the hosts for
// which it returns true. A published part that cannot be read, or whose seqs fall, is
// [ErrDamaged].
func (p *Provenance) Compare(ctx context.Context, folder string, published *sink.Manifest, dir string, other *sink.Manifest, sample func(host string) bool) (all []Comparison, err error) {
	// There are URLs that only some hosts have, or there may be.
	own := !slices.Contains(published.Tables, "verdicts")
	first := ""
	if len(published.Profiles) > 1 {
		remembers, err := hasMemory(ctx, folder, published)
		if err != nil {
			return nil, err
		}
		if remembers {
			first = published.Profiles[0]
		}
	}
	tables := slices.Clone(published.Tables)
	slices.SortStableFunc(tables, func(a, b string) int { return rank(a) - rank(b) })
	for _, table := range tables {
		t := &comparing{
			runs: [2]held{{folder, published}, {dir, other}}, table: table, columns: columnsOf(table, p.Without), lost: p.lostMetrics(table), first: first,
			hash: newRowHash(),
		}
		if own && table == "summary" {
			t.lost = append(t.lost, "verdict")
		}
		c := Comparison{Table: table}
		var notes []string
		if sample != nil {
			if t.sampled = sample; slices.Contains(unsampled, table) {
				for _, part := range published.PartsOf(table) {
					c.Unseen += part.Rows
				}
				c.Note = "a sample does not show it"
				all = append(all, c)
				continue
			}
		}
		if len(t.lost) > 0 {
			notes = append(notes, "metrics that cannot be counted again are not compared: "+strings.Join(t.lost, ", "))
		}
		if first != "" && slices.Contains(t.columns, "profile") {
			notes = append(notes, onlyFirst)
		}
		if err := t.compare(ctx, &c); err != nil {
			return nil, err
		}
		if t.skippedOwn {
			own, notes = true, append(notes, ownURLs)
		}
		c.Note = strings.Join(notes, "; ")
		all = append(all, c)
	}
	return all, nil
}

// unsampled are the tables that a sample of the hosts does not show: those that count all
// hosts, and bodies, which other hosts may share. Each body that is judged is held
// against its digest.
var unsampled = []string{"summary", "examples", "bodies"}

// hasMemory reports whether a row of fetches shows that the run had a memory of earlier
// answers.
func hasMemory(ctx context.Context, folder string, m *sink.Manifest) (found bool, err error) {
	for _, part := range m.PartsOf("fetches") {
		err := scan.Texts(ctx, folder, part, []string{"unreachable_since", "stale_since"}, func(cells []*string) {
			found = found || cells[0] != nil || cells[1] != nil
		})
		if err != nil {
			return false, Unreadable(part.Path, err)
		}
	}
	return found, nil
}

// rank puts the verdicts before the table that counts them.
func rank(table string) int {
	if table == "summary" {
		return 1
	}
	return 0
}

func (p *Provenance) lostMetrics(table string) (metrics []string) {
	for _, name := range p.Without {
		of, column, _ := strings.Cut(name, ".")
		for _, metric := range derived[column] {
			if of == "fetches" && (table == "examples" || table == "summary" && column != "error") && !slices.Contains(metrics, metric) {
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
	return slices.ContainsFunc(lost, func(name string) bool { return metric == name || strings.HasPrefix(metric, name+"_") })
}
