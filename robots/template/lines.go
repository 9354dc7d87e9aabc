package template

import (
	"bytes"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// A markedLine is a line that begins as a mark does, or whose comment contains it.
type markedLine struct {
	line int32
	mark *mark
}

// lines finds the lines with marks.
func (t *Set) lines(f *robots.File) (found []markedLine) {
	body := bytes.TrimPrefix(f.Body(), []byte("\xef\xbb\xbf"))
	ends := "\n"
	if bytes.IndexByte(body, '\r') >= 0 { // as in few files
		ends = "\r\n"
	}
	if !t.mayMatch(body, ends) {
		return nil
	}
	number := int32(0)
	for line := range robots.SplitLines(body) {
		if len(found) >= maxMatches {
			break
		}
		number++
		for len(line) > 0 && ascii.IsBlank(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			continue
		}
		for _, k := range t.first[line[0]] {
			if bytes.HasPrefix(line, t.marks[k].text) {
				found = append(found, markedLine{number, &t.marks[k]})
			}
		}
		for _, k := range t.comments {
			if bytes.Contains(commentOf(line), t.marks[k].text) {
				found = append(found, markedLine{number, &t.marks[k]})
			}
		}
	}
	return found
}

// commentOf returns the comment of a line, nil for none.
func commentOf(line []byte) []byte {
	if i := bytes.IndexByte(line, '#'); i >= 0 {
		return line[i:]
	}
	return nil
}

// mayMatch reports whether a body has a mark that every match of a region or a file needs.
// Most files have none, and few comments; that is found without a look at every line.
func (t *Set) mayMatch(body []byte, ends string) bool {
	for _, c := range t.needed { // only #, unless users add templates
		for at := 0; ; {
			i := bytes.IndexByte(body[at:], c)
			if i < 0 {
				break
			}
			at += i
			before := at
			for before > 0 && ascii.IsBlank(body[before-1]) {
				before--
			}
			if before == 0 || body[before-1] == '\n' || body[before-1] == '\r' {
				for _, k := range t.first[c] {
					if m := &t.marks[k]; m.what.isNeeded() && bytes.HasPrefix(body[at:], m.text) {
						return true
					}
				}
			}
			end := at + lineEnd(body[at:], ends)
			if c == '#' {
				for _, k := range t.comments {
					if bytes.Contains(body[at:end], t.marks[k].text) {
						return true
					}
				}
			}
			at = end
		}
	}
	return false
}

// lineEnd returns the index of the first of ends, or the length of b.
func lineEnd(b []byte, ends string) int {
	i := -1
	if len(ends) == 1 {
		i = bytes.IndexByte(b, ends[0])
	} else {
		i = bytes.IndexAny(b, ends)
	}
	if i < 0 {
		return len(b)
	}
	return i
}
