package cdx

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/fetch/warc"
)

// columns knows which column of a line is which field.
type columns struct {
	named map[int][]string // by the number of columns, as lines of the index name them
}

// usual are the columns of indexes without a line that names them, by their number. A
// server that resolves revisits appends the place of the original. The public form, of 7
// columns, names no archive.
var usual = func() map[int][]string {
	out := map[int][]string{7: strings.Fields("N b a m s k S")}
	for _, letters := range []string{"N b a m s k r V g", "N b a m s k r M V g", "N b a m s k r M S V g"} {
		names := strings.Fields(letters)
		out[len(names)], out[len(names)+3] = names, withOriginal(names)
	}
	return out
}()

// withOriginal appends the columns of the place of an original.
func withOriginal(names []string) []string {
	return append(slices.Clip(names), letterOfLength, letterOfOffset, letterOfFile)
}

// name reads a line that names the columns: by letters after CDX, or by words. It returns
// false for another line.
func (c *columns) name(line []string) (bool, error) {
	var f fields
	names := line
	switch {
	case len(line) > 1 && line[0] == "CDX" && !slices.ContainsFunc(line[1:], func(s string) bool { return len(s) != 1 }):
		names = line[1:]
	case !slices.ContainsFunc(line, func(s string) bool { return f.field(s) == &f.url && s != letterURL }) ||
		!slices.ContainsFunc(line, func(s string) bool { return f.field(s) == &f.date && s != letterDate }):
		return false, nil
	}
	for _, letter := range []string{letterURL, letterDate, letterFile, letterOffset} {
		if !slices.ContainsFunc(names, func(name string) bool { return f.field(name) == f.field(letter) }) {
			return true, fmt.Errorf("names no field %s; an index of captures needs a (URL), b (date), V (offset) and g (file)",
				letter)
		}
	}
	if c.named == nil {
		c.named = make(map[int][]string)
	}
	c.named[len(names)] = slices.Clone(names)
	return true, nil
}

// fields returns the fields of a line: as a line of the index names the columns, as is
// usual for their number, or by what they hold.
func (c *columns) fields(line []string) (f fields, reason string) {
	if names := c.named[len(line)]; names != nil {
		return filled(names, line), ""
	}
	if names := c.named[len(line)-3]; names != nil {
		if f = filled(withOriginal(names), line); f.isWhole() {
			return f, ""
		}
	}
	names := usual[len(line)]
	if names != nil {
		f = filled(names, line)
	}
	if names == nil || !f.isWhole() {
		if found := recognised(line); found != nil {
			return filled(found, line), ""
		}
	}
	if names == nil {
		return f, fmt.Sprintf("not_a_capture: %d fields, and not a date, a URL, an offset and an archive among them",
			len(line))
	}
	return f, ""
}

func filled(names, line []string) (f fields) {
	for i, name := range names {
		f.set(name, line[i])
	}
	return f
}

// isWhole reports whether the fields that matter hold what they should.
func (f *fields) isWhole() bool {
	orNone := func(number string) bool { return isNone(number) || isNumber(number) }
	return isDate(f.date) && isURL(f.url) && isNumber(f.offset) && orNone(f.length) && !isNone(f.file) &&
		!isNumber(f.file) &&
		orNone(f.ofOffset) && orNone(f.ofLength) && !isNumber(f.ofFile) && !isNumber(f.redirect) && !isNumber(f.flags)
}

func isURL(text string) bool {
	scheme, rest, ok := strings.Cut(text, "://")
	return ok && scheme != "" && !strings.HasPrefix(rest, "(") // as some keys are written
}

// isArchive reports whether a field is named like an archive.
func isArchive(text string) bool {
	text = strings.ToLower(text[strings.LastIndexByte(text, '/')+1:])
	return strings.Contains(text, ".warc") || strings.Contains(text, ".arc") || strings.HasSuffix(text, ".wacz")
}

// isStatus reports whether a field can be a status of HTTP.
func isStatus(text string) bool {
	status, err := strconv.Atoi(text)
	return err == nil && http.StatusText(status) != ""
}

// recognised names the columns of a line by what they hold: nil if a date, a URL, an
// offset and an archive are not among them. The offset is next to the archive, the length
// before it, and the place of an original behind them.
func recognised(line []string) (names []string) {
	at := func(i int) string {
		if i < 0 || i >= len(line) {
			return ""
		}
		return line[i]
	}
	date := slices.IndexFunc(line, isDate)
	url := date + 1
	if !isURL(at(url)) {
		url = slices.IndexFunc(line, func(s string) bool { return isURL(s) && !isArchive(s) })
	}
	if date < 0 || url < 0 {
		return nil
	}
	names = make([]string, len(line))
	names[date], names[url] = letterDate, letterURL
	isFree := func(i int) bool { return i >= 0 && i < len(line) && names[i] == "" }
	if i := slices.IndexFunc(line, isStatus); i >= 0 {
		names[i] = letterStatus // if it is a length, the record is found without it
	}
	for i, field := range line {
		switch {
		case !isFree(i):
		case !strings.Contains(field, "/") && warc.CanonicalDigest(field) != "":
			names[i] = letterDigest
		case field == "warc/revisit":
			names[i] = letterMIME
		}
	}
	var archives []int
	for i, field := range line {
		if isFree(i) && isArchive(field) {
			archives = append(archives, i)
		}
	}
	if len(archives) == 0 { // named otherwise: what stands behind a number
		for i, field := range line {
			if isFree(i) && isFree(i-1) && isNumber(line[i-1]) && !isNone(field) && !isNumber(field) {
				archives = append(archives, i)
			}
		}
	}
	for k, i := range archives[:min(2, len(archives))] {
		as := [3]string{letterLength, letterOffset, letterFile}
		if k > 0 {
			as = [3]string{letterOfLength, letterOfOffset, letterOfFile}
		}
		switch {
		case isFree(i-1) && isNumber(line[i-1]):
			names[i], names[i-1] = as[2], as[1]
			if isFree(i-2) && isNumber(line[i-2]) {
				names[i-2] = as[0]
			}
		case isFree(i+1) && isNumber(line[i+1]):
			names[i], names[i+1] = as[2], as[1]
		}
	}
	if !slices.Contains(names, letterFile) {
		return nil
	}
	return names
}
