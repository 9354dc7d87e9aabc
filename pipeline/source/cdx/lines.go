package cdx

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/store"
)

// Receiver receives what an index names.
type Receiver struct {
	// Capture takes a capture of a robots.txt.
	Capture func(Capture) error
	// Other takes one of another URL, and reports whether it is of use there.
	Other func(Capture) (used bool, err error)
	// Reject takes a line that names no capture of a robots.txt and is of no use.
	Reject func(line int64, text, reason string) error
}

const byteOrderMark = "\ufeff"

// Read reads an index of text.
func Read(ctx context.Context, name string, in io.Reader, to Receiver) error {
	// Wrapped, because bufio returns a larger buffered reader unchanged.
	r := bufio.NewReaderSize(struct{ io.Reader }{store.While(ctx, in)}, input.MaxLine)
	if head, _ := r.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		r.Discard(len(byteOrderMark))
	}
	if head, _ := r.Peek(4); input.IsParquet(string(head)) {
		return &userfile.Error{Path: name, Err: input.ErrParquetPipe}
	}
	next := (&lines{in: r}).next
	if beginsJSON(r) {
		next = (&elements{in: r, line: 1}).next
	}
	var known columns
	for {
		text, line, reason, err := next()
		if err == io.EOF {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		var c *Capture
		if err == nil && reason == "" {
			c, reason, err = known.capture(text)
		}
		if err != nil {
			return &userfile.Error{Path: name, Line: line, Err: err}
		}
		if c != nil {
			if c.Line = line; reason == "" {
				err = to.Capture(*c)
			} else if c.File != "" && c.URL != "" {
				var used bool
				if used, err = to.Other(*c); used {
					reason = ""
				}
			}
		}
		if err == nil && reason != "" {
			err = to.Reject(line, text, reason)
		}
		if err != nil {
			return err
		}
	}
}

var tooLong = fmt.Sprintf("line_too_long: more than %d bytes", input.MaxLine)

// lines reads the lines of an index.
type lines struct {
	in   *bufio.Reader
	line int64
}

func (l *lines) next() (text string, line int64, reason string, err error) {
	text, long, err := input.ReadLine(l.in)
	if l.line++; long {
		reason = tooLong
	}
	return text, l.line, reason, err
}

// capture reads a line, or an element of JSON. It returns nil and no reason for one that
// is blank, is a remark, or names the columns.
func (c *columns) capture(text string) (*Capture, string, error) {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "!") { // a remark of CDXJ
		return nil, "", nil
	}
	key, object := "", text
	if text[0] != '{' && text[0] != '[' {
		if key, object = text, ""; strings.Contains(text, " {") || strings.Contains(text, "\t{") {
			at := strings.IndexByte(text, '{')
			for !strings.ContainsRune(" \t", rune(text[at-1])) {
				at += 1 + strings.IndexByte(text[at+1:], '{')
			}
			key, object = text[:at], text[at:]
		}
	}
	before := strings.Fields(key)
	var f fields
	var reason string
	switch {
	case object == "":
		if named, err := c.name(before); named || err != nil {
			return nil, "", err
		}
		f, reason = c.fields(before)
	case object[0] == '[':
		row, err := rowOf(object)
		if err != nil {
			return nil, "not_a_capture: the JSON array is not a row of texts", nil
		}
		if named, err := c.name(row); named || err != nil {
			return nil, "", err
		}
		f, reason = c.fields(row)
	default:
		if err := f.read(object, before); err != nil {
			return nil, "not_a_capture: the JSON object cannot be read", nil
		}
	}
	if reason != "" {
		return nil, reason, nil
	}
	out, reason := f.capture()
	return &out, reason, nil
}

// value is a scalar of JSON, as text.
type value string

func (v *value) UnmarshalJSON(b []byte) error {
	switch {
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(v))
	case b[0] == '{' || b[0] == '[' || string(b) == "null":
		*v = ""
	default:
		*v = value(b)
	}
	return nil
}

// read reads an object of JSON, and the fields of CDXJ before it: key, date, and in the
// CDXJ of the IIPC the type of the record.
func (f *fields) read(object string, before []string) error {
	var values map[string]value
	if err := json.Unmarshal([]byte(object), &values); err != nil {
		return err
	}
	if len(before) > 1 {
		f.date = before[1]
	}
	if len(before) > 2 {
		f.mime = before[2]
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f.set(strings.ToLower(name), string(values[name]))
	}
	if file, offset, ok := strings.Cut(string(values["ref"]), "#"); ok {
		f.set("filename", strings.TrimPrefix(file, "warcfile:"))
		f.set("offset", offset)
	}
	return nil
}

// rowOf returns the texts of an array of JSON.
func rowOf(array string) (row []string, err error) {
	var values []value
	if err = json.Unmarshal([]byte(array), &values); err == nil {
		for _, v := range values {
			row = append(row, string(v))
		}
	}
	return row, err
}
