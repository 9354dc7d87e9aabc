// Package cdx reads an index of captures: a CDX file (fields between spaces, with or
// without a line that names them), a CDXJ file (key, date and a JSON object, as pywb and
// Common Crawl write them) or JSON lines (as servers of indexes answer).
package cdx

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/store"
)

// Capture is what a line of an index says of a capture of a robots.txt.
type Capture struct {
	Line   int64
	File   string // the archive, as the index names it
	Offset int64
	Length int64 // 0 if the index does not say
	Origin fetch.Origin
	Date   time.Time
}

// Letters of the fields of a CDX file that matter here.
const (
	fieldURL    = "a"
	fieldDate   = "b"
	fieldFile   = "g"
	fieldOffset = "V"
	fieldLength = "S"
)

// unnamedFields are the fields of CDX files without a line that names them, by their number.
var unnamedFields = map[int][]string{
	9:  strings.Fields("N b a m s k r V g"),
	10: strings.Fields("N b a m s k r M V g"),
	11: strings.Fields("N b a m s k r M S V g"),
}

// maxFileName bounds the name of an archive in an index.
const maxFileName = 4 << 10

// Read calls yield for each line of an index that names a capture of a robots.txt,
// and reject for the others but blank ones.
func Read(ctx context.Context, name string, in io.Reader, yield func(Capture) error, reject func(line int64, text, reason string) error) error {
	r := bufio.NewReaderSize(store.While(ctx, in), input.MaxLine)
	var x lineReader
	for line := int64(1); ; line++ {
		text, long, err := input.ReadLine(r)
		if err == io.EOF {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return &userfile.Error{Path: name, Line: line, Err: err}
		}
		if line == 1 {
			if text = strings.TrimPrefix(text, "\ufeff"); strings.HasPrefix(text, " CDX ") {
				if err := x.nameFields(text); err != nil {
					return &userfile.Error{Path: name, Line: line, Err: err}
				}
				continue
			}
		}
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "!") { // a remark of CDXJ
			continue
		}
		place, reason := Capture{}, fmt.Sprintf("line_too_long: more than %d bytes", input.MaxLine)
		if !long {
			place, reason = x.parse(text)
		}
		if place.Line = line; reason != "" {
			err = reject(line, text, reason)
		} else {
			err = yield(place)
		}
		if err != nil {
			return err
		}
	}
}

// lineReader reads the lines of one index.
type lineReader struct {
	fields map[string]int // by letter; nil until a line tells
	count  int
}

// nameFields reads the line that names the fields, as in " CDX N b a m s k r M S V g".
func (x *lineReader) nameFields(text string) error {
	return x.setFields(strings.Fields(text)[1:])
}

func (x *lineReader) setFields(letters []string) error {
	x.fields, x.count = make(map[string]int), len(letters)
	for i, letter := range letters {
		x.fields[letter] = i
	}
	for _, letter := range []string{fieldURL, fieldDate, fieldFile, fieldOffset} {
		if _, ok := x.fields[letter]; !ok {
			return fmt.Errorf("names no field %s; an index of captures needs a (URL), b (date), V (offset) and g (file)", letter)
		}
	}
	return nil
}

// parse parses a line. The reason is that of a line that is not taken.
func (x *lineReader) parse(text string) (place Capture, reason string) {
	fields := strings.Fields(text)
	var url, date, file, offset, length string
	if object := strings.IndexByte(text, '{'); object == 0 || len(fields) > 2 && strings.HasPrefix(fields[2], "{") {
		var c struct {
			URL, Timestamp, Filename string
			Offset, Length           json.Number
		}
		if err := json.Unmarshal([]byte(text[object:]), &c); err != nil {
			return place, "not_a_capture: the JSON object cannot be read"
		}
		url, date, file, offset, length = c.URL, c.Timestamp, c.Filename, c.Offset.String(), c.Length.String()
		if object > 0 {
			date = fields[1]
		}
	} else {
		if x.fields == nil && unnamedFields[len(fields)] != nil {
			x.setFields(unnamedFields[len(fields)])
		}
		if x.fields == nil || len(fields) != x.count {
			return place, fmt.Sprintf("not_a_capture: %d fields", len(fields))
		}
		at := func(letter string) string {
			if i, ok := x.fields[letter]; ok {
				return fields[i]
			}
			return ""
		}
		url, date, file, offset, length = at(fieldURL), at(fieldDate), at(fieldFile), at(fieldOffset), at(fieldLength)
	}
	var ok bool
	if place.Origin, ok = warc.RobotsOf([]byte(url)); !ok {
		return place, "not_robots_txt: a capture of another URL"
	}
	place.File = file
	var err error
	switch place.Offset, err = strconv.ParseInt(offset, 10, 62); {
	case err != nil || place.Offset < 0:
		return place, "not_a_capture: no readable offset"
	case file == "" || file == "-" || len(file) > maxFileName:
		return place, "not_a_capture: no archive is named"
	}
	if length != "" && length != "-" && length != "0" {
		if place.Length, err = strconv.ParseInt(length, 10, 62); err != nil || place.Length < 0 {
			return place, "not_a_capture: no readable length"
		}
	}
	if place.Date, err = time.Parse("20060102150405", date); err != nil {
		return place, "not_a_capture: no readable date"
	}
	return place, ""
}

// Key returns the place of a capture, which sorts by archive and offset; lines that name
// the same record follow each other.
func (c *Capture) Key() []byte {
	key := append(append(make([]byte, 0, len(c.File)+17), c.File...), 0)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(key, uint64(c.Offset)), uint64(c.Line))
}

// Value returns what else is kept of a capture on disk, beside its key.
func (c *Capture) Value() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(c.Length)), c.Origin.String()...)
}

// Kept returns the capture of a key and a value, without its date.
func Kept(key, value []byte) (c Capture, err error) {
	at := len(key) - 17
	c.File, c.Offset = string(key[:at]), int64(binary.BigEndian.Uint64(key[at+1:]))
	c.Line, c.Length = int64(binary.BigEndian.Uint64(key[at+9:])), int64(binary.BigEndian.Uint64(value))
	c.Origin, _, err = fetch.Parse(string(value[8:]), "")
	return c, err
}
