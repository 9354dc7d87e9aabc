package cdx

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/scan"
)

// An index in Parquet has a row for each capture, with the columns of Common Crawl's:
//
//	url, or url_host_name with url_protocol, url_port, url_path and url_query, as far as they are there
//	fetch_time, content_digest, warc_filename, warc_record_offset, warc_record_length
//	subset, also in the path of the file (…/subset=robotstxt/…)
//
// or with the names that other indexes have for them.

// Columns that only the table of Common Crawl has.
const (
	columnHost     = "url_host_name"
	columnProtocol = "url_protocol"
	columnPort     = "url_port"
	columnPath     = "url_path"
	columnQuery    = "url_query"
	columnSubset   = "subset"
)

// robotsSubset has the captures of robots.txt.
const robotsSubset = "robotstxt"

// A Table is an index in Parquet.
type Table struct {
	name    string
	in      *scan.File
	columns map[string]string // by what they are: a letter, or a name as above
	subset  string            // in the path of the file, "" for none
}

// OpenTable opens an index in Parquet. path is where it is, dated whether dates are needed.
func OpenTable(in parquet.ReaderAtSeeker, name, path string, dated bool) (*Table, error) {
	t := &Table{name: name, columns: make(map[string]string), subset: subsetOf(path)}
	var err error
	if t.in, err = scan.OpenLarge(in); err != nil {
		return nil, &userfile.Error{Path: name, Err: fmt.Errorf("is truncated or damaged Parquet: %w", err)}
	}
	var f fields
	for _, field := range t.in.Schema().Fields() {
		what := strings.ToLower(field.Name)
		if !slices.Contains([]string{columnHost, columnProtocol, columnPort, columnPath, columnQuery, columnSubset}, what) {
			p := f.field(what)
			i := slices.IndexFunc(letters, func(letter string) bool { return p != nil && f.field(letter) == p })
			if i < 0 {
				continue
			}
			what = letters[i]
		}
		if !scan.IsText(field.Type) && field.Type.ID() != arrow.TIMESTAMP {
			err = fmt.Errorf("column %q is of type %s; it must hold text, numbers or times", field.Name, field.Type)
			return nil, &userfile.Error{Path: name, Err: err}
		}
		if t.columns[what] == "" {
			t.columns[what] = field.Name
		}
	}
	var missing []string
	lacks := func(name string, any ...string) {
		if !slices.ContainsFunc(any, func(what string) bool { return t.columns[what] != "" }) {
			missing = append(missing, name)
		}
	}
	lacks("url or url_host_name", letterURL, columnHost)
	lacks("warc_filename", letterFile)
	lacks("warc_record_offset", letterOffset)
	if dated {
		lacks("fetch_time", letterDate)
	}
	if missing != nil {
		err = fmt.Errorf("has no column %s; an index of captures in Parquet needs them, as Common Crawl's has",
			strings.Join(missing, ", "))
		return nil, &userfile.Error{Path: name, Err: err}
	}
	return t, nil
}

// letters are the fields of an index that a column may be.
var letters = []string{
	letterURL, letterDate, letterMIME, letterStatus, letterDigest,
	letterFile, letterOffset, letterLength, letterOfFile, letterOfOffset, letterOfLength,
}

// subsetOf returns the subset that the folders of a path name.
func subsetOf(path string) string {
	for part := range strings.SplitSeq(strings.ReplaceAll(path, `\`, "/"), "/") {
		if value, ok := strings.CutPrefix(part, columnSubset+"="); ok {
			if plain, err := url.PathUnescape(value); err == nil {
				return plain
			}
			return value
		}
	}
	return ""
}

// Rows returns the number of rows.
func (t *Table) Rows() int64 { return t.in.Rows() }

// TableReceiver receives what a table names.
type TableReceiver struct {
	Receiver
	// Hosts are the sorted hosts that are wanted, nil for all: row groups whose statistics
	// show that they have none of them are not read.
	Hosts []string
	// Skipped counts the rows that are not captures of a robots.txt, are of another subset,
	// or are in row groups that are not read.
	Skipped func(otherURLs, otherSubsets, unread int64)
}

// Read reads a table. Lines are rows, counted from 1.
func (t *Table) Read(ctx context.Context, to TableReceiver) error {
	if t.subset != "" && t.subset != robotsSubset {
		to.Skipped(0, t.Rows(), 0)
		return nil
	}
	var columns []string
	for _, name := range t.columns {
		columns = append(columns, name)
	}
	line := int64(0)
	selection := scan.Selection{Columns: columns, Passed: func(rows int64) {
		line += rows
		to.Skipped(0, 0, rows)
	}}
	if to.Hosts != nil {
		selection.Texts = t.rowGroups(to.Hosts)
	}
	var own error // what a function of to returned
	err := t.in.Batches(ctx, selection, func(batch arrow.RecordBatch) error {
		cells := make(map[string]arrow.Array)
		for what, name := range t.columns {
			cells[what] = scan.Column[arrow.Array](batch, name)
		}
		cell := func(what string, i int) string {
			if column := cells[what]; column != nil {
				return scan.Text(column, i)
			}
			return ""
		}
		for i := range int(batch.NumRows()) {
			if line++; cells[columnSubset] != nil && cell(columnSubset, i) != robotsSubset {
				to.Skipped(0, 1, 0)
				continue
			}
			if own = t.row(line, func(what string) string { return cell(what, i) }, to); own != nil {
				return own
			}
		}
		return nil
	})
	switch {
	case err == nil || own != nil:
		return own
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return &userfile.Error{Path: t.name, Line: line + 1, Err: err}
}

// row reads a row.
func (t *Table) row(line int64, cell func(what string) string, to TableReceiver) error {
	var f fields
	for _, letter := range letters {
		*f.field(letter) = cell(letter)
	}
	host := ""
	if t.columns[letterURL] == "" {
		f.url, host = urlOf(cell)
	}
	c, reason := f.capture()
	if c.Line = line; host != "" && f.url == "" {
		o, _, err := fetch.Parse(host, "http")
		if err != nil {
			return to.Reject(line, host, "not_a_capture: no readable host")
		}
		c.Origin = fetch.Origin{Host: o.Host}
		if _, reason = placeOf(f.file, f.offset, f.length); reason == "" {
			return to.Capture(c)
		}
	}
	switch {
	case reason == "", reason == noDate && f.date == "" && t.columns[letterDate] == "":
		return to.Capture(c)
	case reason == otherURL:
		to.Skipped(1, 0, 0)
		if c.File != "" && c.URL != "" {
			return to.Other(c)
		}
		return nil
	}
	return to.Reject(line, f.url, reason)
}

// urlOf returns the URL of a row that has only its parts, or the host if the scheme is not
// among them: the record says which it is.
func urlOf(cell func(what string) string) (url, host string) {
	host, path, query := cell(columnHost), cell(columnPath), cell(columnQuery)
	if path == "" {
		path = "/robots.txt"
	}
	if query != "" {
		path += "?" + query
	}
	scheme := cell(columnProtocol)
	if scheme == "" && path != "/robots.txt" {
		scheme = "http" // of another URL, whichever
	}
	if scheme == "" {
		return "", host
	}
	if port := cell(columnPort); port != "" && port != "-1" {
		return scheme + "://" + host + ":" + port + path, host
	}
	return scheme + "://" + host + path, host
}

// rowGroups returns what reports, by column, whether a row group may have a host.
func (t *Table) rowGroups(hosts []string) map[string]func(least, greatest string) bool {
	out := make(map[string]func(least, greatest string) bool)
	for column, keys := range map[string]func(host string) []string{
		columnHost: func(host string) []string { return []string{host} }, "url_host_name_reversed": reversed,
		"url_surtkey": surt,
	} {
		i := slices.IndexFunc(t.in.Schema().Fields(), func(f arrow.Field) bool { return strings.EqualFold(f.Name, column) })
		if i < 0 {
			continue
		}
		var all []string
		for _, host := range hosts {
			all = append(all, keys(host)...)
		}
		slices.Sort(all)
		out[t.in.Schema().Field(i).Name] = func(least, greatest string) bool {
			if n, _ := slices.BinarySearch(all, least); n < len(all) && all[n] <= greatest {
				return true
			}
			// A key of a URL goes on behind that of its host.
			end := strings.IndexAny(least, "):")
			if end < 0 {
				return false
			}
			_, ok := slices.BinarySearch(all, least[:end])
			return ok
		}
	}
	return out
}

// reversed returns the host as Common Crawl reverses it. An address is as it is.
func reversed(host string) []string { return []string{host, turned(host, ".")} }

// surt returns how the keys of URLs of a host begin: in reverse, without www.
func surt(host string) []string {
	keys := []string{host, turned(host, ",")}
	if first, rest, ok := strings.Cut(host, "."); ok && strings.HasPrefix(first, "www") &&
		strings.Trim(first[3:], "0123456789") == "" {
		keys = append(keys, turned(rest, ","))
	}
	return keys
}

func turned(host, with string) string {
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, with)
}
