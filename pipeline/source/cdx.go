package source

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// An index of captures is a CDX file (fields between spaces, with or without a line that
// names them), a CDXJ file (key, date and a JSON object, as pywb and Common Crawl write
// them) or JSON lines (as servers of indexes answer).

// capturePlace is what a line of an index says of a capture of a robots.txt.
type capturePlace struct {
	line   int64
	file   string // as the index names it
	offset int64
	length int64 // 0 if the index does not say
	origin fetch.Origin
	date   time.Time
}

// Letters of the fields of a CDX file that matter here.
const (
	cdxURL    = "a"
	cdxDate   = "b"
	cdxFile   = "g"
	cdxOffset = "V"
	cdxLength = "S"
)

// cdxFields are the fields of CDX files without a line that names them, by their number.
var cdxFields = map[int][]string{
	9:  strings.Fields("N b a m s k r V g"),
	10: strings.Fields("N b a m s k r M V g"),
	11: strings.Fields("N b a m s k r M S V g"),
}

// maxFileName bounds the name of an archive in an index.
const maxFileName = 4 << 10

// readIndex calls yield for each line of an index that names a capture of a robots.txt,
// and reject for the others but blank ones.
func readIndex(ctx context.Context, name string, in io.Reader, yield func(capturePlace) error, reject func(line int64, text, reason string) error) error {
	r := bufio.NewReaderSize(store.While(ctx, in), input.MaxLine)
	var x indexReader
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
		place, reason := capturePlace{}, fmt.Sprintf("line_too_long: more than %d bytes", input.MaxLine)
		if !long {
			place, reason = x.parse(text)
		}
		if place.line = line; reason != "" {
			err = reject(line, text, reason)
		} else {
			err = yield(place)
		}
		if err != nil {
			return err
		}
	}
}

// indexReader reads the lines of one index.
type indexReader struct {
	fields map[string]int // by letter; nil until a line tells
	count  int
}

// nameFields reads the line that names the fields, as in " CDX N b a m s k r M S V g".
func (x *indexReader) nameFields(text string) error {
	return x.setFields(strings.Fields(text)[1:])
}

func (x *indexReader) setFields(letters []string) error {
	x.fields, x.count = make(map[string]int), len(letters)
	for i, letter := range letters {
		x.fields[letter] = i
	}
	for _, letter := range []string{cdxURL, cdxDate, cdxFile, cdxOffset} {
		if _, ok := x.fields[letter]; !ok {
			return fmt.Errorf("names no field %s; an index of captures needs a (URL), b (date), V (offset) and g (file)", letter)
		}
	}
	return nil
}

// parse parses a line. The reason is that of a line that is not taken.
func (x *indexReader) parse(text string) (place capturePlace, reason string) {
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
		if x.fields == nil && cdxFields[len(fields)] != nil {
			x.setFields(cdxFields[len(fields)])
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
		url, date, file, offset, length = at(cdxURL), at(cdxDate), at(cdxFile), at(cdxOffset), at(cdxLength)
	}
	var ok bool
	if place.origin, ok = warc.RobotsOf([]byte(url)); !ok {
		return place, "not_robots_txt: a capture of another URL"
	}
	place.file = file
	var err error
	switch place.offset, err = strconv.ParseInt(offset, 10, 62); {
	case err != nil || place.offset < 0:
		return place, "not_a_capture: no readable offset"
	case file == "" || file == "-" || len(file) > maxFileName:
		return place, "not_a_capture: no archive is named"
	}
	if length != "" && length != "-" && length != "0" {
		if place.length, err = strconv.ParseInt(length, 10, 62); err != nil || place.length < 0 {
			return place, "not_a_capture: no readable length"
		}
	}
	if place.date, err = time.Parse("20060102150405", date); err != nil {
		return place, "not_a_capture: no readable date"
	}
	return place, ""
}

// checkPlace returns why the archive of a capture is not read, "" if it is.
func (c *Config) checkPlace(p *capturePlace) string {
	switch {
	case remote.IsURL(p.file):
		return ""
	case !filepath.IsLocal(p.file):
		return "outside_base: the archive is outside --warc-base"
	case c.Base == "" && remote.IsURL(c.CDX):
		return "not_a_capture: names a path and no URL; give --warc-base"
	}
	return ""
}

// openIndex adds the index of captures. Its volumes are known when it is read.
func (s *Source) openIndex(ctx context.Context) error {
	if s.config.Shard.IsPart() {
		return &userfile.Error{Path: "--cdx", Err: errors.New("does not apply to shards; divide the index, for example by year, and make a run of each part")}
	}
	if s.config.CDX == "-" {
		s.inputs = append(s.inputs, sink.Input{Role: "cdx", Path: "-"})
		return nil
	}
	in, err := hosts.Inspect(ctx, s.config.CDX)
	if err != nil {
		return err
	}
	in.Role = "cdx"
	s.inputs = append(s.inputs, in)
	if s.config.Limit == 0 {
		s.Total = in.Rows
	}
	return nil
}
