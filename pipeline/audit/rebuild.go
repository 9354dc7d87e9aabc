package audit

import (
	"bytes"
	"strconv"

	"github.com/robocensus/robocensus/robots"
)

// ruleLine is a row of rules.
type ruleLine struct {
	group   int32 // -1 before the first
	line    int32
	allow   bool
	pattern []byte
}

func (d *decoder) rule() ruleLine {
	r := ruleLine{group: int32(d.uint()) - 1, line: int32(d.uint())}
	r.allow = d.uint() == 1
	r.pattern = d.bytes()
	return r
}

// agentLine is a value of a user-agent line.
type agentLine struct {
	line  int32
	value string
}

// readsTables says whether the tables groups and rules hold all that a profile
// reads in a file, in its first reading and in every other. They do not hold
// misspellings as written, nor what stands between user-agent lines.
func readsTables(p *robots.Profile) bool {
	for _, l := range []robots.Leniency{p.Typos, p.NearTypos, p.KeyPrefixes, p.MissingColon} {
		if l == robots.Open {
			return false
		}
	}
	return p.GroupEnd != robots.EndAtRecord
}

// rebuild writes a robots.txt that says what the rows of groups and rules of a
// target say, each line where it stood. ok is false where the rows may stand
// for several files that the profile, one of [readsTables], reads differently.
func rebuild(p *robots.Profile, groups, rules decoder) (text []byte, ok bool) {
	var agents []agentLine
	for len(groups) > 0 {
		agents = append(agents, groups.group().agents...)
	}
	line, field := int32(1), ""
	// put appends a value of a line. Some profiles read several on one line.
	put := func(at int32, name, value string) bool {
		if at == line && field != "" {
			text = append(append(text, ' '), value...)
			return field == name && p.Lists
		}
		// A body within the limit has no more lines than bytes, and one.
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
		var r ruleLine
		if len(rules) > 0 {
			r = next.rule()
		}
		if len(agents) > 0 && (len(rules) == 0 || agents[0].line < r.line) {
			a := agents[0]
			agents = agents[1:]
			if !put(a.line, "User-agent", a.value) || p.AgentMatch == robots.MatchSubstring && hasEscape([]byte(a.value)) {
				return nil, false
			}
			continue
		}
		rules = next
		name := "Disallow"
		if r.allow {
			name = "Allow"
		}
		if !put(r.line, name, string(r.pattern)) || !plainPattern(p, r.pattern) {
			return nil, false
		}
	}
	return text, true
}

// longestPattern is less than what Google's parser keeps of a line.
const longestPattern = 16_000

// plainPattern says whether the pattern of a row is read as the one of the file
// was. The tables have %XX for a byte that is no UTF-8, and for NUL: most
// profiles escape the first in the same way, and none does the second.
func plainPattern(p *robots.Profile, pattern []byte) bool {
	return len(pattern) <= longestPattern &&
		!(p.Escapes == robots.EscapesLiteral && hasEscape(pattern)) &&
		!(p.Lines == robots.LinesPlain && bytes.Contains(pattern, []byte("%00")))
}

// hasEscape says whether %XX may stand for a byte that was not text.
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

// isRebuilt says whether a file has the groups and rules of the rows that it
// was rebuilt from.
func isRebuilt(f *robots.File, groups, rules decoder) bool {
	n := 0
	for ; len(groups) > 0; n++ {
		g := groups.group()
		if n == len(f.Groups) || f.Groups[n].Line != g.line || f.Groups[n].Agents.Len() != len(g.agents) {
			return false
		}
	}
	k := 0
	for ; len(rules) > 0; k++ {
		r := rules.rule()
		if k == len(f.Rules) || f.Rules[k].Line != r.line || f.Rules[k].Group != r.group || !bytes.Equal(f.Rules[k].Pattern, r.pattern) {
			return false
		}
	}
	return n == len(f.Groups) && k == len(f.Rules)
}

// A policyFile is a file as one profile reads it, and what it says to agents.
type policyFile struct {
	file  robots.File
	judge *robots.Judge
}

// newPolicyFile reads a body. agents are asked for by their index.
func newPolicyFile(p *robots.Profile, body []byte) *policyFile {
	f := new(policyFile)
	f.file.Parse(body, p)
	return f
}

// ofTables reads what the rows of groups and rules say; nil where they do not
// tell what the profile reads. roomy is the profile without its limit of size:
// the rows have what lies within, and escapes make it longer.
func ofTables(p, roomy *robots.Profile, groups, rules decoder) *policyFile {
	text, ok := rebuild(p, groups, rules)
	if !ok {
		return nil
	}
	f := newPolicyFile(roomy, text)
	if !isRebuilt(&f.file, groups, rules) {
		return nil
	}
	return f
}

func (f *policyFile) ask(p *robots.Profile, agents []robots.Agent) {
	f.judge = robots.NewJudge(p, agents)
	f.judge.Load(&f.file)
}

// lineOf is the line that decides, nil for none.
func (f *policyFile) lineOf(v robots.Verdict) *int32 {
	if v.Rule < 0 {
		return nil
	}
	line := f.file.Rules[v.Rule].Line
	return &line
}
