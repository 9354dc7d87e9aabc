package publish

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// Comparison says whether a table of a data set is that of another run of the same
// answers.
type Comparison struct {
	Table           string
	Rows, OtherRows int64
	Same            bool
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
// of rows does not matter. A published part that cannot be read is [ErrDamaged].
func (p *Provenance) Compare(ctx context.Context, folder string, published *sink.Manifest, dir string, other *sink.Manifest) (all []Comparison, err error) {
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
		c := Comparison{Table: table}
		lost := p.lostMetrics(table)
		if own && table == "summary" {
			lost = append(lost, "verdict")
		}
		var notes []string
		if len(lost) > 0 {
			notes = append(notes, "metrics that cannot be counted again are not compared: "+strings.Join(lost, ", "))
		}
		if first != "" && slices.Contains(columnsOf(table, nil), "profile") {
			notes = append(notes, onlyFirst)
		}
		var a, b digestOfRows
		for _, side := range []struct {
			sum  *digestOfRows
			dir  string
			m    *sink.Manifest
			rows *int64
		}{{&a, folder, published, &c.Rows}, {&b, dir, other, &c.OtherRows}} {
			columns := columnsOf(table, p.Without)
			for _, part := range side.m.PartsOf(table) {
				var err error
				if side.m == published {
					err = checkColumns(ctx, side.dir, part, columns)
				}
				if err == nil {
					err = scan.Rows(ctx, side.dir, part, scan.Selection{Columns: columns}, func(batch arrow.RecordBatch) error {
						n, skipped := side.sum.add(batch, table, lost, first)
						*side.rows += n
						if skipped && !slices.Contains(notes, ownURLs) {
							own, notes = true, append(notes, ownURLs)
						}
						return nil
					})
				}
				if err != nil && side.m == published {
					err = Unreadable(part.Path, err)
				}
				if err != nil {
					return nil, err
				}
			}
		}
		c.Same, c.Note = a == b && c.Rows == c.OtherRows, strings.Join(notes, "; ")
		all = append(all, c)
	}
	return all, nil
}

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

// digestOfRows is the sum of the SHA-256 of rows, whatever their order.
type digestOfRows [4]uint64

// add adds the rows of a batch that are compared; if first is not empty, these are those
// of that profile and of none.
func (d *digestOfRows) add(batch arrow.RecordBatch, table string, lost []string, first string) (rows int64, skipped bool) {
	metric, url, profile := -1, -1, -1
	for k, f := range batch.Schema().Fields() {
		switch {
		case f.Name == "metric":
			metric = k
		case f.Name == "url" && table == "verdicts":
			url = k
		case f.Name == "profile" && first != "":
			profile = k
		}
	}
	var text []byte
	for i := range int(batch.NumRows()) {
		if metric >= 0 && isLost(batch.Column(metric).ValueStr(i), lost) {
			continue
		}
		if url >= 0 && !strings.HasPrefix(batch.Column(url).ValueStr(i), "/") {
			skipped = true
			continue
		}
		if profile >= 0 && batch.Column(profile).IsValid(i) && batch.Column(profile).ValueStr(i) != first {
			continue
		}
		text = text[:0]
		for k := range int(batch.NumCols()) {
			if c := batch.Column(k); c.IsValid(i) {
				cell := c.ValueStr(i)
				text = binary.AppendUvarint(append(text, 1), uint64(len(cell)))
				text = append(text, cell...)
			} else {
				text = append(text, 0)
			}
		}
		sum := sha256.Sum256(text)
		for k := range d {
			d[k] += binary.BigEndian.Uint64(sum[8*k:])
		}
		rows++
	}
	return rows, skipped
}

// isLost reports whether a metric, or the one that it is a part of, is lost.
func isLost(metric string, lost []string) bool {
	return slices.ContainsFunc(lost, func(name string) bool { return metric == name || strings.HasPrefix(metric, name+"_") })
}
