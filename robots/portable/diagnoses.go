package portable

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A shown is what is known of the difference that a step is to settle.
type shown struct {
	path       string // the shortest on which the readings of the file differ
	together   bool   // other steps settle a part of it, so that path may be theirs
	losesQuery bool   // by the parser, if it is empty
	oneWord    bool   // of a name counts, for the parser
}

// diagnoses are steps that show a cause, for a crawler with a token in lower case: they
// leave out lines, or write a letter where some parsers see more than a letter. They may
// change what google answers, so nobody is advised to take them.
func diagnoses(token string, by *shown) []step {
	names := func(l *line) bool { return l.kind == agentLine && l.token != token && l.token != "*" }
	return []step{
		{"empty_name", "a user-agent line without a name", "",
			dropNames(func(l *line) bool { return l.kind == agentLine && len(l.value) == 0 })},
		{"part_of_name", "a name that is part of the crawler's", "", dropNames(func(l *line) bool {
			if !names(l) {
				return false
			}
			name := strings.ToLower(strings.ReplaceAll(string(l.value), "*", ""))
			return name != "" && strings.Contains(token, name) || by.oneWord && l.token != "" &&
				strings.Contains(token, l.token)
		})},
		longDelay,
		{"other_names", "names of other crawlers in its list or before it", "", dropNames(names)},
		{"index", "a path that ends in index.html", "", rename(func(value []byte, i int) bool {
			end := string(value[i:])
			return (end == ".htm" || end == ".html") && bytes.HasSuffix(value[:i], []byte("index"))
		})},
		{"escaped_slash", "a slash inside a path, for which the parser also takes its escape", "",
			rename(func(value []byte, i int) bool {
				// One that names no such path shows a difference that is older than this.
				return (by.together || strings.Contains(by.path, "%2F")) && i > 0 && value[i] == '/'
			})},
		{"escaped_path", "escapes in a path, or characters that some escape", "", rename(func(value []byte, i int) bool {
			return strings.IndexByte("/-._~*$?", value[i]) < 0 && !isAlphanumeric(value[i])
		})},
		{"empty_query", "a query or the end of a path, for a parser to which an empty query is none", "",
			rename(func(value []byte, i int) bool {
				switch value[i] {
				case '?', ';':
					return by.losesQuery
				case '$':
					return by.losesQuery && (strings.HasSuffix(by.path, "?") || strings.HasSuffix(by.path, ";"))
				}
				return false
			})},
		{"wildcards", "wildcards in a path", "",
			rename(func(value []byte, i int) bool { return value[i] == '*' || value[i] == '$' })},
		{"query", "a query in a path", "", rename(func(value []byte, i int) bool { return value[i] == '?' })},
	}
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// rename writes a letter that no path of the file has for some characters of paths.
func rename(which func(value []byte, i int) bool) func(*file, func(int) bool) []int {
	const letters = "~_zqxjkvwyZQXJKVWY0987654321"
	return func(f *file, only func(int) bool) []int {
		free := strings.IndexFunc(letters, func(r rune) bool {
			return !slices.ContainsFunc(f.lines,
				func(l line) bool { return l.kind == ruleLine && bytes.IndexByte(l.value, byte(r)) >= 0 })
		})
		if free < 0 {
			return nil
		}
		return each(func(l line) (line, bool) {
			if l.kind != ruleLine {
				return l, false
			}
			first := 0
			for first < len(l.value) && !which(l.value, first) {
				first++
			}
			if first == len(l.value) {
				return l, false
			}
			text := append(make([]byte, 0, len(l.value)+1), l.value[:first]...)
			for i, c := range l.value[first:] {
				i += first
				if !which(l.value, i) {
					text = append(text, c)
					continue
				}
				if i == 0 {
					text = append(text, '/') // for a star
				}
				text = append(text, letters[free])
			}
			l.write(text)
			return l, true
		})(f, only)
	}
}

// longDelay leaves out crawl-delays: no parser forbids a page for want of one.
var longDelay = step{
	"long_delay", "a crawl-delay that the parser does not accept",
	"write a number of seconds, 300 at most, in a group; written anew, the file leaves it out",
	dropThose((*file).oddDelays),
}

// oddDelays finds crawl-delays that parsers refuse or take for a wish to be left alone: no
// number, more than the five minutes that most accept, or before any name.
func (f *file) oddDelays() []bool {
	found := make([]bool, len(f.lines))
	named := false
	for i := range f.lines {
		l := &f.lines[i]
		named = named || l.kind == agentLine
		field, value, _ := strings.Cut(string(uncommented(l.text)), ":")
		if l.kind != otherLine || !strings.EqualFold(strings.TrimSpace(field), "crawl-delay") {
			continue
		}
		seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		found[i] = !named || err != nil || !(seconds >= 0 && seconds <= 300)
	}
	return found
}

// dropNames leaves out user-agent lines, the rules of groups that have no other, and the
// lines of other fields that are theirs: these may mean something before the next name.
func dropNames(which func(l *line) bool) func(*file, func(int) bool) []int {
	return func(f *file, only func(int) bool) (touched []int) {
		drops := func(l line) bool { return l.kind == agentLine && which(&l) && only(l.number) }
		kept := f.lines[:0]
		for from, to := 0, 0; from < len(f.lines); from = to {
			for rules := false; to < len(f.lines) && !(rules && f.lines[to].kind == agentLine); to++ {
				rules = rules || f.lines[to].kind == ruleLine
			}
			group := f.lines[from:to]
			gone := slices.ContainsFunc(group, drops) &&
				!slices.ContainsFunc(group, func(l line) bool { return l.kind == agentLine && !drops(l) })
			theirs := false // the lines that follow are of a name that is left out
			for _, l := range group {
				switch {
				case drops(l):
					touched, theirs = append(touched, l.number), true
				case l.kind == agentLine || l.kind == ruleLine && !gone:
					kept, theirs = append(kept, l), false
				case l.kind == blankLine || l.kind == otherLine && !gone && !theirs:
					kept = append(kept, l)
				}
			}
		}
		f.lines = kept
		return touched
	}
}
