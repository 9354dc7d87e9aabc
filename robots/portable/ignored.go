package portable

import (
	"bytes"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// hear notes the lines that parsers other than google read as records, given the file as
// they read it.
func (f *file) hear(readings []robots.File) {
	for i := range readings {
		r := &readings[i]
		at := func(n int32) *line {
			if int(n) > len(f.lines) {
				return new(line) // one that is cut, of which the parser reads a part
			}
			return &f.lines[n-1]
		}
		for k := range r.Agents {
			at(r.Agents[k].Line).heard = "User-agent"
		}
		for k := range r.Rules {
			l := at(r.Rules[k].Line)
			if ascii.HasPrefixFold(bytes.TrimSpace(l.text), "crawl") {
				continue // a delay that is too long for the parser
			}
			l.heard = "Disallow"
			if r.Rules[k].Kind == robots.Allow {
				l.heard = "Allow"
			}
		}
	}
}

// isIgnored reports whether google takes a line for none of its records, and another parser
// for a name or a rule. A line that also names a sitemap is not one to leave out.
func (l *line) isIgnored() bool {
	return l.heard != "" && (l.kind == otherLine || l.kind == blankLine) && !isSitemap(*l)
}

// hasOddField reports whether there is more in the field of a line than ASCII letters, signs
// and plain spaces.
func (l *line) hasOddField() bool {
	field, _, _ := bytes.Cut(l.text, []byte(":"))
	return bytes.ContainsFunc(field, func(r rune) bool { return (r < ' ' || r > '~') && r != '\t' })
}

// hasTag reports whether a field stands behind or within a tag of HTML.
func (l *line) hasTag() bool {
	field, _, _ := bytes.Cut(l.text, []byte(":"))
	i := bytes.IndexByte(field, '<')
	return i >= 0 && bytes.IndexByte(l.text[i:], '>') >= 0
}

// ignored returns the lines of a step that google ignores.
func (f *file) ignored(lines []int) (fields []string) {
	for i := range f.lines {
		if l := &f.lines[i]; l.isIgnored() && slices.Contains(lines, l.number) && !slices.Contains(fields, l.heard+":") {
			fields = append(fields, l.heard+":")
		}
	}
	return fields
}

// adviceFor returns the advice of a step about lines of a file. Of lines that google ignores
// it is to write what others read, if that is meant.
func (s *step) adviceFor(f *file, lines []int) string {
	if fields := f.ignored(lines); len(fields) > 0 && s.advice != "" {
		return "write " + strings.Join(fields, " and ") + " if the line is meant, or leave it out: google ignores it"
	}
	return s.advice
}
