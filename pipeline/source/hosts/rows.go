package hosts

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/store"
)

// row is one line of a hosts list.
type row struct {
	line int64
	text string // as written in the file
	host string // a host, an origin or a URL, "" for none
	url  string // the cell of the column `url`
	rank *int64
	err  string // why the line cannot be read, for rejected.csv

	seq     int64 // ordinal in the list, 0 if the reader is to count
	planned bool  // of the list of this shard
	isNamed bool  // the list says that its column names hosts
	bare    bool  // a name without a dot is a host
	parted  bool  // a row of another origin precedes it, which this list lacks

	labels     []string       // the values of the list's labels
	planLabels []target.Label // those of the host, in the list of a shard
	role       string         // of the list whose line this is, if it is rejected for its labels alone

	badRank bool // the rank is not a whole number from 1
}

// given returns the host that the row names, otherwise its URL.
func (r *row) given() string {
	if r.host != "" {
		return r.host
	}
	return r.url
}

// readHosts calls yield for every line that is neither blank nor a comment, in
// order, and for each host of a line that names several. A header may name the hosts by
// another name, column. Its errors are of reading, with file and line. It writes the bytes of a
// pipe, which can be read only once, to sum. It returns when ctx ends, even while
// standard input blocks.
func readHosts(ctx context.Context, path, column string, sum io.Writer, yield func(row) error) error {
	return readForm(ctx, path, form{column: column}, sum, yield)
}

func readForm(ctx context.Context, path string, asked form, sum io.Writer, yield func(row) error) error {
	var l *input.List
	name := "standard input"
	if path != "-" {
		var err error
		if l, err = open(ctx, path); err != nil {
			return err
		}
		name = path
	}
	if l == nil {
		pipe, done, err := input.Open(ctx, path)
		if err != nil {
			return err
		}
		l = &input.List{Name: name, Text: io.TeeReader(pipe, sum), Close: func() error { done(); return nil }}
	}
	defer l.Close()
	if l.Parquet != nil {
		return readParquetHosts(ctx, l.Name, l.Parquet, asked, yield)
	}
	plain, done, err := input.Plain(l.Text)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &userfile.Error{Path: l.Name, Line: 1, Err: err}
	}
	defer done()
	return readLines(l.Name, store.While(ctx, plain), asked, yield)
}

func readLines(name string, in io.Reader, form form, yield func(row) error) error {
	// Wrapped, because bufio returns a larger buffered reader unchanged.
	r := bufio.NewReaderSize(struct{ io.Reader }{in}, input.MaxLine)
	for line := int64(1); ; line++ {
		text, long, err := input.ReadLine(r)
		if err == io.EOF {
			err = form.end()
			if err == nil {
				return nil
			}
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
		if err != nil {
			return &userfile.Error{Path: name, Line: line, Err: err}
		}
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if line == 1 && input.IsParquet(text) {
			return &userfile.Error{Path: name, Err: input.ErrParquetPipe}
		}
		trimmed := strings.TrimSpace(text)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") && !(form.columns == nil && isCommentedHeader(trimmed)) {
			continue
		}
		if form.columns == nil {
			isRow, err := form.begin(strings.TrimPrefix(trimmed, "#"))
			if err != nil {
				return &userfile.Error{Path: name, Line: line, Err: err}
			}
			if !isRow {
				continue
			}
		}
		broken := int64(0)
		if !long {
			text, broken = form.columns.broken(text, r)
		}
		if err := each(form.columns.rows(line, text, long), yield); err != nil {
			return err
		}
		line += broken
	}
}

// Bounds of the lines that a quoted field with line breaks goes on for.
const (
	mostBroken     = 8
	mostBrokenText = 4096
)

// broken reads on where the last field of a line begins with a quote that ends in one of the
// lines after it: a line break in a field. It returns the whole record, with spaces for the line
// breaks, and the further lines that it takes. A quote that none of them ends, or only one that
// is a row by itself, is a stray one, unless the row that this ends has no host before it.
func (c *columns) broken(text string, r *bufio.Reader) (record string, lines int64) {
	if c.comma == 0 || strings.IndexByte(text, '"') < 0 {
		return text, 0
	}
	if _, isOpen := fieldsOf(text, c.comma); !isOpen {
		return text, 0
	}
	next, _ := r.Peek(mostBrokenText)
	record = text
	isBeforeHost := c.comma != '\t' && !c.isRow(text) // many tables of tabs do not quote
	for read := 0; lines < mostBroken; {
		n := bytes.IndexByte(next[read:], '\n')
		if n < 0 {
			if len(next) == mostBrokenText || read == len(next) {
				return text, 0
			}
			n = len(next) - read - 1 // the last line of the list
		}
		line := strings.TrimRight(string(next[read:read+n+1]), "\r\n")
		read += n + 1
		_, after, quoted := strings.Cut(strings.ReplaceAll(strings.TrimSpace(line), `""`, ""), `"`)
		if c.isRow(line) && !(quoted && isBeforeHost) {
			return text, 0
		}
		lines++
		if line = strings.TrimSpace(line); line != "" {
			record = strings.TrimRight(record, " ") + " " + line
		}
		if !quoted {
			continue
		}
		if after = strings.TrimLeft(after, " "); after != "" && !strings.HasPrefix(after, string(c.comma)) {
			return text, 0
		}
		r.Discard(read)
		return record, lines
	}
	return text, 0
}

// isRow reports whether a line names a host where rows do.
func (c *columns) isRow(line string) bool {
	fields, _ := fieldsOf(line, c.comma)
	i := max(c.host, c.hostRev, c.url)
	if c.all {
		i = 0
	}
	if i >= len(fields) {
		return false
	}
	o, _, err := fetch.Parse(strings.TrimSpace(fields[i]), "https")
	return err == nil && strings.Contains(o.Host, ".")
}

// each calls yield with rows.
func each(rows []row, yield func(row) error) error {
	for _, r := range rows {
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}

func (out *row) fill(host, hostRev, url, rank string) {
	out.host, out.url = host, url
	if out.host == "" && hostRev != "" {
		out.host = reverseHost(hostRev)
	}
	if rank == "" {
		return
	}
	if n, ok := rankOf(rank); ok {
		out.rank = &n
	} else {
		out.badRank = true
	}
}

// rankOf reads a rank, a whole number from 1, which pandas writes as 7.0 in a column with gaps.
func rankOf(text string) (rank int64, ok bool) {
	whole := strings.TrimRight(text, "0")
	if !strings.HasSuffix(whole, ".") {
		whole = text
	}
	rank, err := strconv.ParseInt(strings.TrimSuffix(whole, "."), 10, 64)
	return rank, err == nil && rank > 0
}

// apart returns the rows of a row: one for each host that it names.
func (out row) apart() []row {
	names := severalIn(out.given())
	if len(names) == 0 {
		return []row{out}
	}
	rows := make([]row, len(names))
	for i, name := range names {
		rows[i] = out
		rows[i].host, rows[i].url = name, ""
	}
	return rows
}

func reverseHost(s string) string {
	labels := strings.Split(s, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}
