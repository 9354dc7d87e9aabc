// Package cdx reads an index of captures: a CDX file (fields between spaces, with or
// without a line that names them), a CDXJ file (key, date and a JSON object, as pywb and
// Common Crawl write them), JSON (objects or rows, one to a line or in an array, as servers
// of indexes answer), or Parquet with the columns of Common Crawl's index.
//
//	cdx.go      Capture, and what is kept of it on disk
//	fields.go   what the fields of a line say
//	columns.go  which column is which field
//	lines.go    lines; json.go objects and rows of JSON; parquet.go rows of Parquet
package cdx

import (
	"encoding/binary"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

// Capture is what an index says of a capture.
type Capture struct {
	Line int64
	Place
	URL    string
	Origin fetch.Origin // of the robots.txt; zero for a capture of another URL, and a host alone if the index says no more
	Date   time.Time
	Within time.Duration // precision of the date
	Status int           // 0 if the index does not say

	Digest    string // of the payload, as written; "" if the index does not say
	IsRevisit bool   // the index says that its payload is that of another record
	Original  Place  // of that record; zero if the index does not say
}

// Place is where a record is.
type Place struct {
	File   string // the archive, as the index names it
	Offset int64
	Length int64 // 0 if the index does not say
}

// IsRobots reports whether it is the capture of a robots.txt.
func (c *Capture) IsRobots() bool { return c.Origin.Host != "" }

// Key returns the place of a capture, which sorts by archive and offset; lines that name
// the same record follow each other.
func (c *Capture) Key() []byte {
	key := append(append(make([]byte, 0, len(c.File)+17), c.File...), 0)
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(key, uint64(c.Offset)), uint64(c.Line))
}

// Value returns what else is kept of a capture on disk, beside its key.
func (c *Capture) Value() []byte {
	value := binary.BigEndian.AppendUint64(nil, uint64(c.Length))
	value = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(value, uint64(c.Original.Offset)),
		uint64(c.Original.Length))
	for _, text := range []string{c.Original.File, c.Digest} {
		value = append(binary.BigEndian.AppendUint16(value, uint16(len(text))), text...)
	}
	if c.Origin.Scheme == "" {
		return append(append(value, hostAlone), c.Origin.Host...)
	}
	return append(value, c.Origin.String()...)
}

// hostAlone marks a host of which the scheme is not known.
const hostAlone = '?'

// Kept returns the capture of a key and a value: its line, its places, its digest and its
// origin.
func Kept(key, value []byte) (c Capture, err error) {
	at := len(key) - 17
	c.File, c.Offset = string(key[:at]), int64(binary.BigEndian.Uint64(key[at+1:]))
	c.Line, c.Length = int64(binary.BigEndian.Uint64(key[at+9:])), int64(binary.BigEndian.Uint64(value))
	c.Original.Offset, c.Original.Length = int64(binary.BigEndian.Uint64(value[8:])),
		int64(binary.BigEndian.Uint64(value[16:]))
	value = value[24:]
	for _, text := range []*string{&c.Original.File, &c.Digest} {
		n := int(binary.BigEndian.Uint16(value)) + 2
		*text, value = string(value[2:n]), value[n:]
	}
	if len(value) > 0 && value[0] == hostAlone {
		c.Origin.Host = string(value[1:])
		return c, nil
	}
	c.Origin, _, err = fetch.Parse(string(value), "")
	return c, err
}
