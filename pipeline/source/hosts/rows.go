package hosts

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
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
	parted  bool  // a row of another origin precedes it, which this list lacks

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
// order. Its errors are of reading, with file and line. It writes the bytes of a
// pipe, which can be read only once, to sum. It returns when ctx ends, even while
// standard input blocks.
func readHosts(ctx context.Context, path string, sum io.Writer, yield func(row) error) error {
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
		return readParquetHosts(ctx, l.Name, l.Parquet, yield)
	}
	plain, done, err := input.Plain(l.Text)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &userfile.Error{Path: l.Name, Line: 1, Err: err}
	}
	defer done()
	return readLines(l.Name, store.While(ctx, plain), yield)
}

func readLines(name string, in io.Reader, yield func(row) error) error {
	// Wrapped, because bufio returns a larger buffered reader unchanged.
	r := bufio.NewReaderSize(struct{ io.Reader }{in}, input.MaxLine)
	var columns *columns
	for line := int64(1); ; line++ {
		text, long, err := input.ReadLine(r)
		if err == io.EOF {
			return nil
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
		header := columns == nil && isCommentedHeader(trimmed)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") && !header {
			continue
		}
		if columns == nil {
			var isHeader bool
			if columns, isHeader, err = columnsOf(strings.TrimPrefix(trimmed, "#")); err != nil {
				return &userfile.Error{Path: name, Line: line, Err: err}
			}
			if isHeader {
				continue
			}
		}
		out := row{line: line, text: text}
		if long {
			out.err = fmt.Sprintf("line_too_long: more than %d bytes", input.MaxLine)
		} else {
			columns.split(text, &out)
		}
		if err := yield(out); err != nil {
			return err
		}
	}
}

// columns are the positions of the fields of a line, -1 for absent.
type columns struct {
	comma                    rune // 0: the whole line is the host
	host, hostRev, url, rank int
}

// Names that a header may use; ours are first. harmonicc_pos is the rank in Common
// Crawl's web graph, which names reversed hosts, GlobalRank that in the Majestic
// Million.
var (
	hostNames    = []string{"host", "domain", "hostname", "origin"}
	hostRevNames = []string{"host_rev"}
	urlNames     = []string{"url"}
	rankNames    = []string{"rank", "harmonicc_pos", "globalrank"}
)

func indexOf(fields, names []string) int {
	return slices.IndexFunc(fields, func(f string) bool {
		return slices.Contains(names, strings.ToLower(strings.Trim(f, " \"#")))
	})
}

func separator(line string) rune {
	switch {
	case strings.Contains(line, "\t"):
		return '\t'
	case strings.Contains(line, ","):
		return ','
	case strings.Contains(line, ";"):
		return ';'
	}
	return 0
}

func fieldsOf(line string, comma rune) []string {
	if comma == 0 {
		return []string{line}
	}
	return strings.Split(line, string(comma))
}

func isHeader(line string) bool {
	fields := fieldsOf(line, separator(line))
	return indexOf(fields, hostNames) >= 0 || indexOf(fields, hostRevNames) >= 0 || indexOf(fields, urlNames) >= 0
}

// isCommentedHeader reports whether a comment is the header of a web graph,
// "#harmonicc_pos	…". Each field of a header is a single word.
func isCommentedHeader(line string) bool {
	line, ok := strings.CutPrefix(line, "#")
	if !ok || !isHeader(line) {
		return false
	}
	for _, f := range fieldsOf(line, separator(line)) {
		if len(strings.Fields(f)) != 1 {
			return false
		}
	}
	return true
}

// columnsOf finds the columns by the first line: by the names of a header,
// otherwise by what the fields look like.
func columnsOf(first string) (*columns, bool, error) {
	c := &columns{comma: separator(first), host: -1, hostRev: -1, url: -1, rank: -1}
	fields := fieldsOf(first, c.comma)
	if isHeader(first) {
		c.host, c.hostRev = indexOf(fields, hostNames), indexOf(fields, hostRevNames)
		c.url, c.rank = indexOf(fields, urlNames), indexOf(fields, rankNames)
		return c, true, nil
	}
	if c.comma == 0 {
		c.host = 0
		return c, false, nil
	}
	numbers, word, path := 0, -1, false // word: perhaps a host without a dot
	for i, f := range fields {
		f = strings.Trim(f, " \"")
		if _, err := strconv.ParseFloat(f, 64); err == nil {
			numbers++
			if _, err := strconv.ParseInt(f, 10, 64); err == nil && c.rank < 0 {
				c.rank = i
			}
			continue
		}
		_, target, err := fetch.Parse(f, "https")
		switch {
		case err != nil || c.host >= 0:
		case strings.ContainsAny(f, ".:"):
			c.host, path = i, target != ""
		default:
			word = i
		}
	}
	if c.host < 0 && len(fields) == 2 && c.rank >= 0 {
		c.host = word // "1,localhost"
	}
	switch {
	case c.host < 0:
		return nil, false, errors.New("no column looks like a host; name the columns in a header (host, rank, url, host_rev)")
	case path && c.comma != '\t' && numbers == len(fields)-1:
		return nil, false, errors.New("ambiguous: a URL and a rank, or a URL with a comma; name the columns in a header (url, rank, or url alone)")
	case path && c.comma != '\t':
		// A list of URLs, the first with a comma in it.
		return &columns{host: 0, hostRev: -1, url: -1, rank: -1}, false, nil
	}
	return c, false, nil
}

func (c *columns) split(line string, out *row) {
	if c.comma == 0 {
		line = strings.TrimSpace(line)
	}
	fields := fieldsOf(line, c.comma)
	if strings.HasPrefix(line, `"`) || c.comma != 0 && strings.IndexByte(line, '"') >= 0 {
		// One line is one record: a stray quote affects its own line only.
		r := csv.NewReader(strings.NewReader(line))
		r.FieldsPerRecord, r.LazyQuotes = -1, c.comma == '\t'
		if c.comma != 0 {
			r.Comma = c.comma
		}
		var err error
		if fields, err = r.Read(); err != nil {
			out.err = "bad_quotes"
			return
		}
	}
	get := func(i int) string {
		if i < 0 || i >= len(fields) {
			return ""
		}
		return strings.TrimSpace(fields[i])
	}
	out.fill(get(c.host), get(c.hostRev), get(c.url), get(c.rank))
}

func (out *row) fill(host, hostRev, url, rank string) {
	out.host, out.url = host, url
	if out.host == "" && hostRev != "" {
		out.host = reverseHost(hostRev)
	}
	if rank == "" {
		return
	}
	n, err := strconv.ParseInt(rank, 10, 64)
	if err != nil || n < 1 {
		out.badRank = true
		return
	}
	out.rank = &n
}

func reverseHost(s string) string {
	labels := strings.Split(s, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".")
}
