package hosts

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
)

// columns are the positions of the fields of a line, -1 for absent.
type columns struct {
	comma                    rune // 0: the whole line is the host
	host, hostRev, url, rank int
	isNamed                  bool          // a header says that the column names hosts
	all                      bool          // each field is a host
	labels                   *labelColumns // nil for none
}

// form is what a list looks like. Lines before its columns are known are no rows.
type form struct {
	columns *columns
	column  string        // what the user calls the column of hosts, "" for nothing
	comma   rune          // as a line sep= says, 0 for none
	labels  *labelColumns // that are wanted, nil for none
	lines   int           // without columns
	first   string        // the first of these
}

// mostTitles is the number of lines above a header that has the column of the user.
const mostTitles = 50

// begin reads a line before the columns are known. It reports whether it is a row.
func (f *form) begin(line string) (isRow bool, err error) {
	isRow, err = f.columnsIn(line)
	if err == nil && f.labels != nil && f.columns != nil && !isRow {
		fields, _ := fieldsOf(line, f.columns.comma)
		f.columns.labels = f.labels
		err = f.labels.find(fields, f.columns)
	}
	return isRow, err
}

func (f *form) columnsIn(line string) (isRow bool, err error) {
	if sep, ok := cutSeparator(line); ok && f.lines == 0 && f.comma == 0 {
		f.comma = sep
		return false, nil
	}
	commas := separators(line)
	if f.comma != 0 {
		commas = []rune{f.comma}
	}
	if f.column != "" {
		for _, comma := range commas {
			fields, _ := fieldsOf(line, comma)
			if c := columnNamed(fields, f.column); c != nil {
				c.comma, f.columns = comma, c
				return false, nil
			}
		}
		if f.lines++; f.lines == 1 {
			f.first = line
		}
		if f.lines == mostTitles {
			err = f.noColumn()
		}
		return false, err
	}
	for _, comma := range commas {
		c, isHeader, e := columnsOf(line, comma)
		if e == nil {
			f.columns = c
			return !isHeader, nil
		}
		err = cmp.Or(err, e)
	}
	return false, err
}

// end returns the error of a list that ends before its columns are known.
func (f *form) end() error {
	if f.columns == nil && f.lines > 0 {
		return f.noColumn()
	}
	return nil
}

func (f *form) noColumn() error {
	fields, _ := fieldsOf(f.first, separators(f.first)[0])
	return noColumn(f.column, fields)
}

// noColumn is the error of a list whose header has not the column of the user.
func noColumn(column string, fields []string) error {
	const most = 20
	more := ""
	if len(fields) > most {
		fields, more = fields[:most], ", …"
	}
	for i, f := range fields {
		fields[i] = strconv.Quote(strings.TrimSpace(f))
	}
	return fmt.Errorf("has no column %q (--column); it has %s%s", column, strings.Join(fields, ", "), more)
}

// Names that a header may use, as [plainName] writes them; ours are first. harmonicc_pos is
// the rank in Common Crawl's web graph, which names reversed hosts, GlobalRank that in the
// Majestic Million.
var (
	hostNames    = []string{"host", "domain", "hostname", "origin"}
	hostRevNames = []string{"hostrev"}
	urlNames     = []string{"url"}
	rankNames    = []string{"rank", "harmoniccpo", "globalrank"}
)

// otherNames are the names of the column of hosts in the exports of crawlers, consoles and
// books of customers, the surer ones first. They count where none of ours is there: an
// address may be one of a street.
var otherNames = []string{
	"websiteurl", "website", "siteurl", "site", "homepage", "pageurl", "fullurl", "targeturl", "toppage", "landingpage",
	"address", "page", "link",
}

// plainName returns the name of a column without case, spaces, marks and plural.
func plainName(name string) string {
	name = strings.ToLower(strings.Map(func(r rune) rune {
		if strings.ContainsRune(" :\"'#_-\u00a0\ufeff", r) {
			return -1
		}
		return r
	}, name))
	if !strings.HasSuffix(name, "ss") {
		name = strings.TrimSuffix(name, "s")
	}
	return name
}

func indexOf(fields, names []string) int {
	for _, name := range names {
		if i := slices.IndexFunc(fields, func(f string) bool { return plainName(f) == name }); i >= 0 {
			return i
		}
	}
	return -1
}

// named returns the columns that a header names, nil if it names no host.
func named(fields []string) *columns {
	c := &columns{host: indexOf(fields, hostNames), hostRev: indexOf(fields, hostRevNames),
		url: indexOf(fields, urlNames), rank: indexOf(fields, rankNames)}
	if c.host >= 0 {
		c.isNamed = strings.HasPrefix(plainName(fields[c.host]), "host")
	}
	if c.host < 0 && c.hostRev < 0 && c.url < 0 {
		if c.host = indexOf(fields, otherNames); c.host < 0 {
			return nil
		}
	}
	return c
}

// columnNamed returns the columns if one of them has the name that the user gives.
func columnNamed(fields []string, name string) *columns {
	is := func(same func(a, b string) bool) int {
		return slices.IndexFunc(fields, func(f string) bool { return same(strings.TrimSpace(f), strings.TrimSpace(name)) })
	}
	at := is(strings.EqualFold)
	if at < 0 {
		at = is(func(a, b string) bool { return plainName(a) == plainName(b) })
	}
	if at < 0 {
		return nil
	}
	return &columns{host: at, hostRev: -1, url: -1, rank: indexOf(fields, rankNames), isNamed: true}
}

func isHeader(line string) bool {
	return slices.ContainsFunc(separators(line), func(comma rune) bool {
		_, isHeader, err := columnsOf(line, comma)
		return err == nil && isHeader
	})
}

// isCommentedHeader reports whether a comment is the header of a web graph,
// "#harmonicc_pos	…". Each field of a header is a single word.
func isCommentedHeader(line string) bool {
	line, ok := strings.CutPrefix(line, "#")
	if !ok || !isHeader(line) {
		return false
	}
	fields, _ := fieldsOf(line, separators(line)[0])
	for _, f := range fields {
		if len(strings.Fields(f)) != 1 {
			return false
		}
	}
	return true
}

// columnsOf finds the columns by the first line: by the names of a header,
// otherwise by what the fields look like.
func columnsOf(first string, comma rune) (c *columns, isHeader bool, err error) {
	fields, isOpen := fieldsOf(first, comma)
	if isOpen && comma != 0 { // a stray quote costs its own line, and not the columns
		fields = strings.Split(strings.ReplaceAll(first, `"`, ""), string(comma))
	}
	c = &columns{comma: comma, host: -1, hostRev: -1, url: -1, rank: -1}
	numbers, word, path := 0, -1, false // word: perhaps a host without a dot
	double := -1                        // perhaps a rank, as pandas writes it; behind the host it may be a score
	var hosts []int
	for i, f := range fields {
		f = strings.TrimSpace(f)
		if _, err := strconv.ParseFloat(f, 64); err == nil {
			numbers++
			if _, err := strconv.ParseInt(f, 10, 64); err == nil && c.rank < 0 {
				c.rank = i
			} else if _, isRank := rankOf(f); isRank && i == 0 {
				double = i
			}
			continue
		}
		o, target, err := fetch.Parse(f, "https")
		switch {
		case err != nil:
		case strings.ContainsAny(strings.TrimRight(f, ".:"), ".:"), // not "No." or "Website:"
			strings.Contains(o.Host, "."): // an IDN with a dot of its own
			if hosts = append(hosts, i); c.host < 0 || isAddress(fields[c.host]) {
				c.host, path = i, len(target) > 1
			}
		default:
			word = i
		}
	}
	if c.rank < 0 {
		c.rank = double
	}
	if header := named(fields); header != nil && len(hosts) == 0 {
		header.comma = comma
		return header, true, nil
	}
	if comma == 0 {
		return &columns{host: 0, hostRev: -1, url: -1, rank: -1}, false, nil
	}
	if c.host < 0 && len(fields) == 2 && c.rank >= 0 {
		c.host = word // "1,localhost"
	}
	switch {
	case c.host < 0:
		return nil, false, errors.New(
			"no column looks like a host; name the columns in a header (host, rank, url, host_rev), or the one of hosts " +
				"with --column")
	case len(hosts) > 1 && len(severalIn(first)) > 1:
		c.all, c.rank = true, -1
	case path && comma != '\t' && numbers > 0:
		return nil, false, errors.New(
			"ambiguous: a URL and a rank, or a URL with a comma; name the columns in a header (url, rank, or url alone)")
	case path && comma != '\t':
		// A list of URLs, the first with a comma in it.
		return &columns{host: 0, hostRev: -1, url: -1, rank: -1}, false, nil
	default:
		err = oneSite(fields, hosts)
	}
	return c, false, err
}

// oneSite returns an error if fields of one line name hosts of several sites: which of them
// is meant only a header says.
func oneSite(fields []string, hosts []int) error {
	first := ""
	for _, i := range hosts {
		field := strings.TrimSpace(fields[i])
		if isAddress(field) {
			continue
		}
		o, _, _ := fetch.Parse(field, "https")
		switch domain := fetch.DomainOf(o.Host); {
		case first == "":
			first = domain
		case domain != first:
			return fmt.Errorf("several columns look like hosts, such as %s and %s; name the columns in a header, or give "+
				"--column", first, domain)
		}
	}
	return nil
}

// rows returns the rows of a line: one, but for a line that names several hosts.
func (c *columns) rows(line int64, text string, isLong bool) []row {
	out := row{line: line, text: text, isNamed: c.isNamed}
	if isLong {
		out.err = fmt.Sprintf("line_too_long: more than %d bytes", input.MaxLine)
		return []row{out}
	}
	if c.comma == 0 {
		text = strings.TrimSpace(text)
	}
	fields, isOpen := fieldsOf(text, c.comma)
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	if isOpen && max(c.host, c.hostRev, c.url) >= len(fields)-1 {
		out.err = "bad_quotes"
		return []row{out}
	}
	if c.all {
		var rows []row
		for _, field := range fields {
			if out.host = field; field != "" {
				rows = append(rows, out.apart()...)
			}
		}
		if len(rows) == 0 {
			rows = []row{out}
		}
		return rows
	}
	get := func(i int) string {
		if i < 0 || i >= len(fields) {
			return ""
		}
		return fields[i]
	}
	out.fill(get(c.host), get(c.hostRev), get(c.url), get(c.rank))
	if c.labels != nil {
		out.labels = c.labels.of(get)
	}
	return out.apart()
}
