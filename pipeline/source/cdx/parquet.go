package cdx

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/rowio"
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
	in      *rowio.Foreign
	columns map[string]int // numbers, by what they are: a letter, or a name as above
	subset  string         // in the path of the file, "" for none
}

// OpenTable opens an index in Parquet of size bytes. path is where it is, dated whether dates
// are needed.
func OpenTable(in io.ReaderAt, size int64, name, path string, dated bool) (*Table, error) {
	t := &Table{name: name, columns: make(map[string]int), subset: subsetOf(path)}
	var err error
	if t.in, err = rowio.OpenForeign(in, size); err != nil {
		return nil, &userfile.Error{Path: name, Err: fmt.Errorf("is truncated or %w", err)}
	}
	var f fields
	for at, field := range t.in.Columns() {
		what := strings.ToLower(field.Name)
		if !slices.Contains([]string{columnHost, columnProtocol, columnPort, columnPath, columnQuery, columnSubset}, what) {
			p := f.field(what)
			i := slices.IndexFunc(letters, func(letter string) bool { return p != nil && f.field(letter) == p })
			if i < 0 {
				continue
			}
			what = letters[i]
		}
		if !field.IsText && !field.IsTime {
			err = fmt.Errorf("column %q is of type %s; it must hold text, numbers or times", field.Name, field.Type)
			return nil, &userfile.Error{Path: name, Err: err}
		}
		if !t.has(what) {
			t.columns[what] = at
		}
	}
	var missing []string
	lacks := func(name string, any ...string) {
		if !slices.ContainsFunc(any, t.has) {
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

func (t *Table) has(what string) bool {
	_, ok := t.columns[what]
	return ok
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
	line := int64(0)
	selection := rowio.ForeignSelection{Passed: func(rows int64) {
		line += rows
		to.Skipped(0, 0, rows)
	}}
	place := make(map[string]int)
	for what, at := range t.columns {
		place[what], selection.Columns = len(selection.Columns), append(selection.Columns, at)
	}
	if to.Hosts != nil {
		selection.Texts = t.rowGroups(to.Hosts)
	}
	var own error // what a function of to returned
	err := t.in.Read(ctx, selection, func(rows int, cellOf func(row, column int) string) error {
		cell := func(what string, i int) string {
			if column, ok := place[what]; ok {
				return cellOf(i, column)
			}
			return ""
		}
		for i := range rows {
			if line++; t.has(columnSubset) && cell(columnSubset, i) != robotsSubset {
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
	if !t.has(letterURL) {
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
	case reason == "", reason == noDate && f.date == "" && !t.has(letterDate):
		return to.Capture(c)
	case reason == otherURL:
		if c.File != "" && c.URL != "" {
			if used, err := to.Other(c); used || err != nil {
				return err
			}
		}
		to.Skipped(1, 0, 0)
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
func (t *Table) rowGroups(hosts []string) map[int]func(least, greatest string) bool {
	out := make(map[int]func(least, greatest string) bool)
	for column, keys := range map[string]func(host string) []string{
		columnHost: func(host string) []string { return []string{host} }, "url_host_name_reversed": reversed,
		"url_surtkey": surt,
	} {
		i := slices.IndexFunc(t.in.Columns(), func(c rowio.ForeignColumn) bool { return strings.EqualFold(c.Name, column) })
		if i < 0 {
			continue
		}
		var all []string
		for _, host := range hosts {
			all = append(all, keys(host)...)
		}
		slices.Sort(all)
		out[i] = func(least, greatest string) bool {
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
