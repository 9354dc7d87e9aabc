package cdx

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
)

// fields are the fields of a line that matter here, as written; "" or - is for none.
type fields struct {
	url, date, mime, status, digest string
	redirect, flags                 string // which are no numbers
	file, offset, length            string
	ofFile, ofOffset, ofLength      string // the place of the record that a revisit stands for
}

// Letters of the fields in a CDX file, as its first line names them. The places of
// originals have no letters: servers append these columns to what the line names.
const (
	letterURL      = "a"
	letterDate     = "b"
	letterMIME     = "m"
	letterDigest   = "k"
	letterFile     = "g"
	letterOffset   = "V"
	letterLength   = "S"
	letterStatus   = "s"
	letterRedirect = "r"
	letterFlags    = "M"
	letterOfLength = "original length"
	letterOfOffset = "original offset"
	letterOfFile   = "original file"
)

// field returns the field that a letter names, or a name in JSON or in a line of names,
// nil for one that does not matter. Servers of indexes, pywb, warcio, OutbackCDX and the
// columns of Common Crawl have names of their own.
func (f *fields) field(name string) *string {
	switch name {
	case letterURL, "url", "original", "uri":
		return &f.url
	case letterDate, "timestamp", "fetch_time":
		return &f.date
	case letterMIME, "mime", "mimetype", "srt":
		return &f.mime
	case letterStatus, "status", "statuscode", "fetch_status", "hsc":
		return &f.status
	case letterDigest, "digest", "content_digest", "sha":
		return &f.digest
	case letterRedirect:
		return &f.redirect
	case letterFlags:
		return &f.flags
	case letterFile, "filename", "warc_filename", "file":
		return &f.file
	case letterOffset, "offset", "warc_record_offset":
		return &f.offset
	case letterLength, "length", "warc_record_length":
		return &f.length
	case letterOfFile, "orig.filename", "originalfilename", "originalfile":
		return &f.ofFile
	case letterOfOffset, "orig.offset", "originaloffset":
		return &f.ofOffset
	case letterOfLength, "orig.length", "originallength":
		return &f.ofLength
	}
	return nil
}

// set sets the field of a name, the first of those that mean the same.
func (f *fields) set(name, value string) {
	if p := f.field(name); p != nil && isNone(*p) {
		*p = value
	}
}

func isNone(value string) bool { return value == "" || value == "-" }

// Bounds of the name of an archive in an index, and of a digest.
const (
	maxFileName = 4 << 10
	maxDigest   = 256
)

// capture returns what the fields say. The reason is that of a line that is not taken:
// c then has a place if it names one.
func (f *fields) capture() (c Capture, reason string) {
	c.Place, reason = placeOf(f.file, f.offset, f.length)
	var ok bool
	if c.Origin, ok = warc.RobotsOf([]byte(f.url)); !ok {
		reason = otherURL
		if o, target, _, err := fetch.Redirect(f.url, f.url); err == nil {
			c.URL = o.String() + target
		}
	} else {
		c.URL = c.Origin.RobotsURL()
	}
	if c.Date, c.Within, ok = parseDate(f.date); !ok && reason == "" {
		reason = noDate
	}
	if !isNone(f.digest) && len(f.digest) <= maxDigest {
		c.Digest = f.digest
	}
	c.Status, _ = strconv.Atoi(f.status)
	c.IsRevisit = f.mime == "warc/revisit" || f.mime == "revisit"
	if !isNone(f.ofFile) {
		if of, why := placeOf(f.ofFile, f.ofOffset, f.ofLength); why == "" {
			c.Original = of
		}
	}
	return c, reason
}

const (
	otherURL = "not_robots_txt: a capture of another URL"
	noDate   = "not_a_capture: no readable date"
)

// placeOf returns the place of a record, or why there is none.
func placeOf(file, offset, length string) (p Place, reason string) {
	at, err := strconv.ParseInt(offset, 10, 62)
	switch {
	case isNone(file) && isNone(offset):
		return p, "not_a_capture: names no archive and no offset; ask the server of the index for the fields filename " +
			"and offset"
	case err != nil || at < 0:
		return p, "not_a_capture: no readable offset"
	case isNone(file) || len(file) > maxFileName:
		return p, "not_a_capture: no archive is named"
	}
	size := int64(0)
	if !isNone(length) {
		if size, err = strconv.ParseInt(length, 10, 62); err != nil || size < 0 {
			return p, "not_a_capture: no readable length"
		}
	}
	return Place{file, at, size}, ""
}

// parseDate parses the date of a capture: digits, to the minute or more precise, or as in
// WARC and SQL. It lies within the precision after t.
func parseDate(text string) (t time.Time, within time.Duration, ok bool) {
	const minute, second = "200601021504", "20060102150405"
	var err error
	switch n := len(text); {
	case n == len(minute):
		t, err = time.Parse(minute, text)
		within = time.Minute
	case n >= len(second) && n <= len(second)+9 && isDigits(text):
		t, err = time.Parse(second+".999999999", text[:len(second)]+"."+text[len(second):]+"0")
		within = precision(n - len(second))
	default:
		layout := time.RFC3339Nano
		if strings.Contains(text, " ") {
			layout = "2006-01-02 15:04:05.999999999"
		}
		t, err = time.Parse(layout, text)
		_, fraction, _ := strings.Cut(text, ".")
		within = precision(len(fraction) - len(strings.TrimLeft(fraction, "0123456789")))
	}
	return t.UTC(), within, err == nil
}

// precision returns that of a date with so many digits of a fraction of a second.
func precision(digits int) time.Duration {
	within := time.Second
	for range digits {
		within /= 10
	}
	return within
}

// isDate reports whether a field can be no other than a date.
func isDate(text string) bool {
	if !slices.Contains([]int{12, 14, 17}, len(text)) || !isDigits(text) {
		return false
	}
	_, _, ok := parseDate(text)
	return ok
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// isNumber reports whether a field can be an offset or a length.
func isNumber(text string) bool { return isDigits(text) && len(text) <= 18 }
