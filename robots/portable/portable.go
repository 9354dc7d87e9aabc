// Package portable finds the lines of a file on which the parsers of crawlers part.
//
// It asks each parser about every crawler that the file names, and one that it does not
// name, on paths that the rules name. Then it writes the file ever more plainly: each step
// changes what some parsers misread and leaves google's reading as it is, also on paths that
// nobody is asked about, unless it would take too long to compare them. A step after which
// fewer answers differ is a cause, as a person would find it. Where a file has several, an
// earlier step may hide a later one. A needless escape in a rule, and a character that URLs
// have only escaped, are told and left as they are: google would answer otherwise.
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

	// File is the shortest file found on which the two part so; FileB64 instead if it is not
	// UTF-8.
	File    string `json:"file"`
	FileB64 []byte `json:"file_b64,omitempty"`
}

// A Report is what was found about a file.
type Report struct {
	Questions     int       `json:"questions"`      // crawlers times paths
	Differing     int       `json:"differing"`      // questions that some parser answers otherwise than google
	UnaskedAgents int       `json:"unasked_agents"` // crawlers that the file also names
	UnaskedPaths  int       `json:"unasked_paths"`  // paths that its rules also name
	Unexplained   int       `json:"unexplained"`    // differing questions whose causes would take too long to find
	Truncated     bool      `json:"truncated"`      // google reads no more than its size limit, and neither does the report
	Findings      []Finding `json:"findings"`
	File          string    `json:"rewritten"` // the file after all steps; FileB64 instead if it is not UTF-8
	FileB64       []byte    `json:"rewritten_b64,omitempty"`
}

// Whole reports whether everything was asked that the file names.
func (r *Report) Whole() bool { return r.UnaskedAgents+r.UnaskedPaths == 0 && !r.Truncated }

// Bounds on the questions about one file and on the work for all: a unit is a rule that is
// compared with 16 bytes of a path, or an eighth of a byte that a parser reads.
const (
	mostAgents = 64
	mostPaths  = 4096
	mostLines  = 64      // lines of a step that are tried one by one
	mostParts  = 256     // parts of a step's lines that are tried
	mostWork   = 1 << 30 // once it is done, no further step begins
	mostPart   = 32      // the part of it for asking all questions once, and for one example
	stepWork   = 16      // of a step, for each byte: it reads the file once or twice
)

// Check examines a file for parsers, of which the first is google.
func Check(body []byte, parsers []*robots.Profile) *Report {
	r, _ := examine(body, parsers, mostWork)
	return r
}

// examine begins no step after most work. It also returns the work that it took.
func examine(body []byte, parsers []*robots.Profile, most int) (*Report, int) {
	whole := len(body)
	if limit := parsers[0].SizeLimit; whole > limit {
		body = body[:bytes.LastIndexAny(body[:limit], "\r\n")+1] // a line that is cut does not count
	}
	c := &checker{parsers: parsers, size: len(body), most: most}
	unaskedAgents, unaskedPaths := c.ask(body)
	f := readFile(body, false)
	google, differ := c.answers(f.bytes())
	r := &Report{
		Questions: len(google), Differing: differ.questions(), Findings: []Finding{},
		UnaskedAgents: unaskedAgents, UnaskedPaths: unaskedPaths, Truncated: len(body) < whole,
	}
	var original *robots.Judge // google's policies of the file as it is
	for _, s := range steps {
		if len(differ) == 0 {
			break // the file is well as it is
		}
		if c.work > c.most {
			r.Unexplained = differ.questions()
			break
		}
		c.work += stepWork * c.size
		next := s.apply(f, nil)
		if next == nil {
			continue
		}
		same, left := c.answers(next.bytes())
		if !slices.Equal(google, same) || len(left) > len(differ) {
			continue
		}
		if original == nil {
			original = c.read(f)
		}
		lines := s.touches(f)
		if c.differ(original, next) == robots.Differs {
			if next, lines = c.part(&s, f, original, lines); next == nil {
				continue
			}
			if same, left = c.answers(next.bytes()); !slices.Equal(google, same) || len(left) > len(differ) {
				continue
			}
		}
		if len(left) < len(differ) {
			r.Findings = append(r.Findings, c.finding(&s, f, lines, google, differ, left))
		}
		f, differ = next, left
	}
	if len(differ) > 0 && r.Unexplained == 0 {
		for _, h := range hints {
			if settled := c.hint(&h, f, differ); len(settled) > 0 {
				r.Findings = append(r.Findings, c.about(h.cause, h.advice, h.touches(f), f, settled))
				differ = differ.without(settled)
			}
		}
	}
	if len(differ) > 0 && r.Unexplained == 0 {
		r.Findings = append(r.Findings, c.rest(f, differ))
	}
	r.File, r.FileB64 = textOrBytes(f.bytes())
	return r, c.work
}

// A checker asks parsers.
type checker struct {
	parsers []*robots.Profile
	judges  []*robots.Judge
	agents  []robots.Agent
	paths   []string
	escaped map[string]bool   // those of paths with a needless escape
	targets [][]robots.Target // per parser
	files   []robots.File
	size    int // of the file, in bytes
	work    int
	most    int
}

// A difference is a question that a parser answers otherwise than google.
type difference struct{ question, parser int }

func (d difference) compare(other difference) int {
	return cmp.Or(d.question-other.question, d.parser-other.parser)
}

// differences ascend.
type differences []difference

// without returns those that are not among others.
func (d differences) without(others differences) (left differences) {
	for _, x := range d {
		if _, among := slices.BinarySearchFunc(others, x, difference.compare); !among {
			left = append(left, x)
		}
	}
	return left
}

func (d differences) questions() (n int) {
	for i := range d {
		if i == 0 || d[i].question != d[i-1].question {
			n++
		}
	}
	return n
}

// ask prepares the questions about a file. It returns how many crawlers and paths that
// the file names are not asked about.
func (c *checker) ask(body []byte) (unaskedAgents, unaskedPaths int) {
	var f robots.File
	f.Parse(body, c.parsers[0])
	named := make(map[string]bool)
	add := func(name string) {
		a := robots.Agent{Name: name, Tokens: []string{name}}
		if named[name] || a.Validate() != nil {
			return
		}
		if named[name] = true; len(c.agents) < mostAgents {
			c.agents = append(c.agents, a)
		} else {
			unaskedAgents++
		}
	}
	add("ExampleBot")
	for i := range f.Agents {
		add(string(f.Agents[i].Wide))
	}
	c.files = make([]robots.File, len(c.parsers))
	rules := 0 // with which a path is compared in one round
	for _, p := range c.parsers {
		c.judges = append(c.judges, robots.NewJudge(p, c.agents))
		rules += c.load(len(c.judges)-1, body)
	}
	seen := make(map[string]bool)
	c.escaped = make(map[string]bool)
	round := 0
	path := func(p string) {
		if seen[p] {
			return
		}
		seen[p] = true
		if round += judgeWork(rules, p); len(c.paths) < 2 || len(c.paths) < mostPaths && round <= c.most/mostPart {
			c.paths = append(c.paths, p)
		} else {
			unaskedPaths++
		}
	}
	path("/")
	path("/x")
	for i := range f.Rules {
		p := concrete(&f.Rules[i])
		if p == "" {
			continue
		}
		path(p)
		path(p + "x")
		// Nobody links to a path with a needless escape: its plain form counts.
		if plain := string(unescaped([]byte(p))); plain != p {
			c.escaped[p], c.escaped[p+"x"] = true, true
			path(plain)
			path(plain + "x")
		}
	}
	for _, p := range c.parsers {
		var targets []robots.Target
		for _, path := range c.paths {
			targets = append(targets, p.Target(path))
		}
		c.targets = append(c.targets, targets)
	}
	return unaskedAgents, unaskedPaths
}

// judgeWork is the work of comparing a path with rules.
func judgeWork(rules int, path string) int { return rules * (1 + len(path)/16) }

// load reads a body as a parser does. It returns the number of rules with which one path
// is compared for all crawlers: those that follow the same rules are one.
func (c *checker) load(parser int, body []byte) (rules int) {
	c.files[parser].Parse(body, c.parsers[parser])
	c.work += 8 * len(body)
	return c.judge(parser, &c.files[parser])
}

// judge does the same for a file that the parser has read.
func (c *checker) judge(parser int, f *robots.File) (rules int) {
	c.judges[parser].Load(f)
	for i := range c.agents {
		if policy := c.judges[parser].Policy(i); policy.SameAs == i {
			rules += policy.NumRules()
		}
	}
	c.work += rules
	return rules
}

// concrete returns a path that a rule means, as URLs have it; "" if none is known.
func concrete(r *robots.Rule) string {
	text := bytes.TrimSuffix(r.Normalized, []byte("$"))
	text = bytes.ReplaceAll(bytes.TrimRight(text, "*"), []byte("*"), []byte("x"))
	if len(text) > 0 && text[0] != '/' { // also where google never matches it: others add a slash
		text = append([]byte("/"), text...)
	}
	if len(text) == 0 || bytes.IndexByte(text, '#') >= 0 {
		return ""
	}
	return string(urlEscaped(text))
}

// answers returns google's answers to all questions, and where parsers differ.
func (c *checker) answers(body []byte) (google []robots.Value, d differences) {
	n := len(c.paths)
	google = make([]robots.Value, len(c.agents)*n)
	answers := make([]robots.Value, len(google))
	for k := range c.parsers {
		rules := c.load(k, body)
		for _, path := range c.paths {
			c.work += judgeWork(rules, path)
		}
		for i := range c.agents {
			policy := c.judges[k].Policy(i)
			if policy.SameAs != i {
				copy(answers[i*n:][:n], answers[policy.SameAs*n:][:n])
				continue
			}
			for t := range c.paths {
				answers[i*n+t] = policy.Judge(&c.targets[k][t]).Value
			}
		}
		if k == 0 {
			copy(google, answers)
			continue
		}
		for q, v := range answers {
			if v != google[q] {
				d = append(d, difference{q, k})
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
		c.work += judgeWork(c.load(k, body), c.paths[t])
		v[n] = c.judges[k].Policy(i).Judge(&c.targets[k][t]).Value
	}
	return v[0], v[1]
}
