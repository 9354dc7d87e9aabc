package meaning

import (
	"bytes"
	"math"
	"strconv"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// ReadsTables reports whether the tables groups and rules hold everything that a
// profile reads in a file, in all its readings. They hold neither misspellings as
// written nor the lines between user-agent lines.
func ReadsTables(p *robots.Profile) bool {
	if p.AgentValue != "" {
		return false // a dialect
	}
	for _, l := range []robots.Leniency{p.Typos, p.NearTypos, p.KeyPrefixes, p.MissingColon} {
		if l == robots.Open {
			return false
		}
	}
	return p.GroupEnd != robots.EndAtRecord
}

// rebuild returns a robots.txt with the groups and rules of a target on their
// original lines. [ReadsTables] must hold for the profile. ok is false if the rows
// could come from several files that the profile reads differently.
func rebuild(p *robots.Profile, groups, rules records.Decoder) (text []byte, ok bool) {
	var agents []records.AgentLine
	for len(groups) > 0 {
		agents = append(agents, groups.Group().Agents...)
	}
	line, field := int32(1), ""
	// put appends a value on a line. Some profiles read several values on one.
	put := func(at int32, name, value string) bool {
		if at == line && field != "" {
			text = append(append(text, ' '), value...)
			return field == name && p.Lists
		}
		// A body has at most one line more than bytes.
		if at < line || at == line && field != "" || int(at) > p.SizeLimit+1 {
			return false
		}
		for ; line < at; line++ {
			text = append(text, '\n')
		}
		field = name
		text = append(append(append(text, name...), ':'), value...)
		return true
	}
	for len(agents)+len(rules) > 0 {
		next := rules
		var r records.Rule
		if len(rules) > 0 {
			r = next.Rule()
		}
		if len(agents) > 0 && (len(rules) == 0 || agents[0].Line < r.Line) {
			a := agents[0]
			agents = agents[1:]
			if !put(a.Line, "User-agent", a.Value) || p.AgentMatch == robots.MatchSubstring && hasEscape([]byte(a.Value)) {
				return nil, false
			}
			continue
		}
		rules = next
		name := "Disallow"
		if r.Allow {
			name = "Allow"
		}
		if !put(r.Line, name, string(r.Pattern)) || !plainPattern(p, r.Pattern) {
			return nil, false
		}
	}
	return text, true
}

// longestPattern is less than the part of a line that Google's parser keeps.
const longestPattern = 16_000

// plainPattern reports whether a profile reads the pattern of a row as it read the
// one in the file. The tables have %XX for NUL and for a byte that is not UTF-8.
// Most profiles escape the latter themselves, and none escapes NUL.
func plainPattern(p *robots.Profile, pattern []byte) bool {
	return len(pattern) <= longestPattern &&
		!(p.Escapes == robots.EscapesLiteral && hasEscape(pattern)) &&
		!(p.Reading == robots.LinesPlain && bytes.Contains(pattern, []byte("%00")))
}

// hasEscape reports whether text has a %XX that may replace a byte of the file.
func hasEscape(b []byte) bool {
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			if n, err := strconv.ParseUint(string(b[i+1:i+3]), 16, 8); err == nil && (n == 0 || n >= 0x80) {
				return true
			}
		}
	}
	return false
}

// isRebuilt reports whether a rebuilt file has the groups and rules of its rows.
func isRebuilt(f *robots.File, groups, rules records.Decoder) bool {
	n := 0
	for ; len(groups) > 0; n++ {
		g := groups.Group()
		if n == len(f.Groups) || f.Groups[n].Line != g.Line || f.Groups[n].Agents.Len() != len(g.Agents) {
			return false
		}
	}
	k := 0
	for ; len(rules) > 0; k++ {
		r := rules.Rule()
		if k == len(f.Rules) || f.Rules[k].Line != r.Line || f.Rules[k].Group != r.Group ||
			!bytes.Equal(f.Rules[k].Pattern, r.Pattern) {
			return false
		}
	}
	return n == len(f.Groups) && k == len(f.Rules)
}

// A File is a file under one profile with its policies for agents.
type File struct {
	robots.File
	*robots.Judge
}

// Parse parses a body.
func Parse(p *robots.Profile, body []byte) *File {
	f := new(File)
	f.Parse(body, p)
	return f
}

// FromTables parses the file of a target's rows of groups and rules; nil if the rows
// do not determine what the profile reads. roomy is the profile without its size
// limit: the rows lie within the limit, and their escapes take more bytes.
func FromTables(p, roomy *robots.Profile, groups, rules records.Decoder) *File {
	text, ok := rebuild(p, groups, rules)
	if !ok {
		return nil
	}
	f := Parse(roomy, text)
	if !isRebuilt(&f.File, groups, rules) {
		return nil
	}
	return f
}

// FromRows is FromTables for rows that were looked up.
func FromRows(p *robots.Profile, groups []schema.Group, rules []schema.Rule) *File {
	var g, r records.Encoder
	for i := range groups {
		g.Group(&groups[i])
	}
	for i := range rules {
		r.Rule(&rules[i])
	}
	return FromTables(p, WithoutLimit(p), records.Decoder(g), records.Decoder(r))
}

// Ask finds the policies for agents, which are then known by their index.
func (f *File) Ask(p *robots.Profile, agents []robots.Agent) {
	f.Judge = robots.NewJudge(p, agents)
	f.Load(&f.File)
}

// LineOf returns the line that decides, nil for none.
func (f *File) LineOf(v robots.Verdict) *int32 {
	if v.Rule < 0 {
		return nil
	}
	line := f.Rules[v.Rule].Line
	return &line
}

// WithoutLimit returns a copy of a profile that reads files of any size.
func WithoutLimit(p *robots.Profile) *robots.Profile {
	roomy := *p
	roomy.SizeLimit = math.MaxInt
	return &roomy
}
