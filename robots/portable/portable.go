// Package portable finds the lines of a file on which the parsers of crawlers part.
//
// It asks each parser about every crawler that the file names, and one that it does not
// name, on paths that the rules name. Then it writes the file ever more plainly: each step
// changes what some parsers misread and leaves google's answers as they are. A step after
// which fewer answers differ is a cause, as a person would find it. Where a file has
// several, an earlier step may hide a later one.
//
// An [Explainer] asks the narrower question about one crawler and its own parser: whether a
// file that names the crawler means the same to both on every path, and if not, why.
package portable

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/robocensus/robocensus/robots"
)

// A Finding is a cause for which parsers part.
type Finding struct {
	Cause   string   `json:"cause"`
	Advice  string   `json:"advice"`  // how to write it so that all read alike, "" if nobody can
	Lines   []int    `json:"lines"`   // where, from 1
	Parsers []string `json:"parsers"` // that read the lines otherwise than google
	Agent   string   `json:"agent"`   // a question that they answer otherwise: the crawler
	Path    string   `json:"path"`    // and the path
	Google  string   `json:"google"`  // google's answer
	Parser  string   `json:"parser"`  // who answers otherwise
	Answer  string   `json:"answer"`  // and what
	File    string   `json:"file"`    // the shortest file found on which the two part so
}

// A Report is what was found about a file.
type Report struct {
	Questions int       `json:"questions"` // crawlers times paths
	Differing int       `json:"differing"` // questions that some parser answers otherwise than google
	Findings  []Finding `json:"findings"`
	File      string    `json:"rewritten"` // the file after all steps
}

// Bounds on the questions about one file. More rules and crawlers are not asked about.
const (
	mostAgents = 24
	mostPaths  = 256
	mostLines  = 64 // lines of a step that are tried one by one
)

// Check examines a file for parsers, of which the first is google.
func Check(body []byte, parsers []*robots.Profile) *Report {
	body = body[:min(len(body), parsers[0].SizeLimit)]
	c := &checker{parsers: parsers}
	c.ask(body)
	f := readFile(body)
	google, differ := c.answers(f.bytes())
	r := &Report{Questions: len(google), Differing: differ.questions(), Findings: []Finding{}}
	for _, s := range steps {
		next := s.apply(f, nil)
		if next == nil {
			continue
		}
		same, left := c.answers(next.bytes())
		if !slices.Equal(google, same) || len(left) > len(differ) {
			continue
		}
		if len(left) < len(differ) {
			r.Findings = append(r.Findings, c.finding(&s, f, google, differ, left))
		}
		f, differ = next, left
	}
	if len(differ) > 0 {
		r.Findings = append(r.Findings, c.rest(f, differ))
	}
	r.File = string(f.bytes())
	return r
}

// A checker asks parsers.
type checker struct {
	parsers []*robots.Profile
	judges  []*robots.Judge
	agents  []robots.Agent
	paths   []string
	targets [][]robots.Target // per parser
	files   []robots.File
}

// A difference is a question that a parser answers otherwise than google.
type difference struct{ question, parser int }

func (d difference) compare(other difference) int {
	return cmp.Or(d.question-other.question, d.parser-other.parser)
}

// differences ascend.
type differences []difference

func (d differences) questions() (n int) {
	for i := range d {
		if i == 0 || d[i].question != d[i-1].question {
			n++
		}
	}
	return n
}

// ask prepares the questions about a file.
func (c *checker) ask(body []byte) {
	var f robots.File
	f.Parse(body, c.parsers[0])
	add := func(name string) {
		a := robots.Agent{Name: name, Tokens: []string{name}}
		if a.Validate() == nil && len(c.agents) < mostAgents && !slices.ContainsFunc(c.agents, func(x robots.Agent) bool { return x.Name == name }) {
			c.agents = append(c.agents, a)
		}
	}
	add("ExampleBot")
	for i := range f.Agents {
		add(string(f.Agents[i].Wide))
	}
	seen := make(map[string]bool)
	path := func(p string) {
		if !seen[p] && len(c.paths) < mostPaths {
			seen[p] = true
			c.paths = append(c.paths, p)
		}
	}
	path("/")
	path("/x")
	for i := range f.Rules {
		if p := concrete(&f.Rules[i]); p != "" {
			path(p)
			path(p + "x")
		}
	}
	c.files = make([]robots.File, len(c.parsers))
	for _, p := range c.parsers {
		c.judges = append(c.judges, robots.NewJudge(p, c.agents))
		var targets []robots.Target
		for _, path := range c.paths {
			targets = append(targets, p.Target(path))
		}
		c.targets = append(c.targets, targets)
	}
}

// concrete returns a path that a rule means, "" if none is known.
func concrete(r *robots.Rule) string {
	text := bytes.TrimSuffix(r.Normalized, []byte("$"))
	text = bytes.ReplaceAll(bytes.TrimRight(text, "*"), []byte("*"), []byte("x"))
	if len(text) > 0 && text[0] != '/' { // also where google never matches it: others add a slash
		text = append([]byte("/"), text...)
	}
	if len(text) == 0 || bytes.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '#' }) {
		return ""
	}
	return string(text)
}

// answers returns google's answers to all questions, and where parsers differ.
func (c *checker) answers(body []byte) (google []robots.Value, d differences) {
	google = make([]robots.Value, 0, len(c.agents)*len(c.paths))
	for k, p := range c.parsers {
		c.files[k].Parse(body, p)
		c.judges[k].Load(&c.files[k])
		for i := range c.agents {
			policy := c.judges[k].Policy(i)
			for t := range c.paths {
				v := policy.Judge(&c.targets[k][t]).Value
				if k == 0 {
					google = append(google, v)
				} else if q := i*len(c.paths) + t; v != google[q] {
					d = append(d, difference{q, k})
				}
			}
		}
	}
	slices.SortFunc(d, difference.compare)
	return google, d
}

// one returns the answers of google and of a parser to one question about a body.
func (c *checker) one(body []byte, d difference) (google, other robots.Value) {
	i, t := d.question/len(c.paths), d.question%len(c.paths)
	var v [2]robots.Value
	for n, k := range [2]int{0, d.parser} {
		c.files[k].Parse(body, c.parsers[k])
		c.judges[k].Load(&c.files[k])
		v[n] = c.judges[k].Policy(i).Judge(&c.targets[k][t]).Value
	}
	return v[0], v[1]
}

// finding describes a step that settled differences.
func (c *checker) finding(s *step, f *file, google []robots.Value, before, after differences) Finding {
	var settled differences
	for _, d := range before {
		if _, stays := slices.BinarySearchFunc(after, d, difference.compare); !stays {
			settled = append(settled, d)
		}
	}
	lines := s.touches(f)
	if len(lines) <= mostLines {
		var count []int
		for _, line := range lines {
			next := s.apply(f, func(n int) bool { return n == line })
			if next == nil {
				continue
			}
			if same, left := c.answers(next.bytes()); slices.Equal(google, same) && len(left) < len(before) {
				count = append(count, line)
			}
		}
		if len(count) > 0 {
			lines = count
		}
	}
	return c.about(s.cause, s.advice, lines, f, settled)
}

// rest describes what no step settles.
func (c *checker) rest(f *file, left differences) Finding {
	var lines []int
	for i := range f.lines {
		if l := &f.lines[i]; l.kind == ruleLine && bytes.ContainsAny(l.value, "*$%?") {
			lines = append(lines, l.number)
		}
	}
	return c.about("wildcards, escapes or names that some parsers read in their own way", "", lines, f, left)
}

// about describes a cause of differences, of which there is one at least.
func (c *checker) about(cause, advice string, lines []int, f *file, d differences) Finding {
	x := Finding{Cause: cause, Advice: advice, Lines: lines}
	for _, y := range d {
		if name := c.parsers[y.parser].Name; !slices.Contains(x.Parsers, name) {
			x.Parsers = append(x.Parsers, name)
		}
	}
	slices.Sort(x.Parsers)
	x.Agent, x.Path, x.Parser = c.agents[d[0].question/len(c.paths)].Name, c.paths[d[0].question%len(c.paths)], c.parsers[d[0].parser].Name
	body := c.shortest(f, d[0])
	g, o := c.one(body, d[0])
	x.Google, x.Answer, x.File = g.String(), o.String(), string(body)
	return x
}

// shortest leaves out lines as long as google and a parser part on a question as before.
func (c *checker) shortest(f *file, d difference) []byte {
	g, o := c.one(f.bytes(), d)
	now := f
	for size := (len(f.lines) + 1) / 2; size > 0; size /= 2 {
		for from := 0; from < len(now.lines); {
			next := &file{bom: now.bom, lines: slices.Concat(now.lines[:from], now.lines[min(from+size, len(now.lines)):])}
			if x, y := c.one(next.bytes(), d); x == g && y == o {
				now = next
			} else {
				from += size
			}
		}
	}
	return now.bytes()
}
