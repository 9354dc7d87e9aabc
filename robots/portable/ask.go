package portable

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/internal/ascii"
)

// A checker asks parsers about one file.
type checker struct {
	parsers  []*robots.Profile // google, those that are asked about everybody, and crawlers' own
	general  int               // the number of those that are asked about everybody
	original *file
	names    []asked // all that are asked about

	// Those of names that are asked on single paths: one of all about whom each parser says
	// the same.
	agents  []asked
	paths   []string
	escaped map[string]bool   // those of paths with a needless escape
	targets [][]robots.Target // per parser
	judges  []*robots.Judge   // per parser, for agents
	files   []robots.File     // per parser, the file last read

	unnamed, unasked, unaskedPaths int // names that are not among names; not spoken for by agents; paths

	proofs  []*robots.Judge // per parser, for names
	exempt  *robots.Judge   // google's, if it may fetch /robots.txt too
	meaning meaning

	size int // of the file, in bytes
	work int
	most int
}

// An asked is a crawler that is asked about: by all parsers, or by its own alone.
type asked struct {
	robots.Agent
	parser int // 0 for all
}

func newChecker(parsers []*robots.Profile, most int) *checker {
	return &checker{parsers: slices.Clone(parsers), general: len(parsers), most: most, escaped: make(map[string]bool)}
}

// asks reports whether a parser is asked about a crawler.
func (c *checker) asks(a *asked, parser int) bool {
	if parser == 0 || a.parser == 0 {
		return parser < c.general
	}
	return parser == a.parser
}

func agentsOf(all []asked) (out []robots.Agent) {
	for i := range all {
		out = append(out, all[i].Agent)
	}
	return out
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

// ask prepares the questions about a file.
func (c *checker) ask(body []byte, crawlers []Crawler) {
	c.size = len(body)
	for _, x := range crawlers { // whose parser may be one more
		if !slices.ContainsFunc(c.parsers, func(p *robots.Profile) bool { return p.Name == x.Parser.Name }) {
			c.parsers = append(c.parsers, x.Parser)
		}
	}
	c.files = make([]robots.File, len(c.parsers))
	for k, p := range c.parsers {
		c.parse(&c.files[k], body, p)
	}
	c.askNames(crawlers)
	c.askPaths()
}

// nobody returns the name of a crawler that no line names, where named are in lower case.
func nobody(named map[string]bool) string {
	name := "ExampleBot"
	for n := 2; named[strings.ToLower(name)]; n++ {
		name = fmt.Sprintf("ExampleBot-%d", n)
	}
	return name
}

// askNames chooses whom is asked about: a crawler that no line names, each that a line names
// to some parser, and crawlers that a line may name to their own.
func (c *checker) askNames(crawlers []Crawler) {
	named := make(map[string]bool)
	var found []string
	for k := range c.files {
		for i := range c.files[k].Agents {
			_, wide := ascii.Tokens(bytes.TrimLeft(c.files[k].Agents[i].Value, "*"))
			if name := strings.ToLower(string(wide)); len(wide) > 0 && !named[name] {
				named[name] = true
				found = append(found, string(wide))
			}
		}
	}
	add := func(a robots.Agent, parser int) { c.names = append(c.names, asked{a, parser}) }
	token := func(name string) { add(robots.Agent{Name: name, Tokens: []string{name}}, 0) }
	token(nobody(named))
	most := c.most / mostPart
	costOf := c.costOfNames()
	for _, name := range found {
		if most -= costOf(name); len(c.names) >= fewNames && (most < 0 || len(c.names) >= mostNames) {
			c.unnamed++
			continue
		}
		if len(name) <= mostShort { // a part of many crawlers' names
			token(name + "-ExampleBot")
		}
		token(name)
	}
	for _, x := range crawlers {
		parser := slices.IndexFunc(c.parsers, func(p *robots.Profile) bool { return p.Name == x.Parser.Name })
		if x.Validate() == nil && slices.ContainsFunc(c.files, func(f robots.File) bool {
			return slices.ContainsFunc(f.Agents,
				func(a robots.AgentLine) bool { return concerns(strings.ToLower(x.Tokens[0]), a.Value) })
		}) {
			add(x.Agent, parser)
		}
	}
	c.represent()
}

// costOfNames returns a function that says what work it takes to find all parsers' policies
// for a name. A parser that looks for parts of names compares a name with each line, and a
// name with several groups has the rules of all: names that share a long group, and have one
// of their own each, have its rules again and again.
func (c *checker) costOfNames() func(name string) int {
	f := &c.files[0]
	rules := make(map[string]int)
	last := make(map[string]int32)
	for i := range f.Agents {
		a := &f.Agents[i]
		name := strings.ToLower(string(a.Wide))
		if group, again := last[name]; !again || group != a.Group {
			last[name] = a.Group
			rules[name] += f.Groups[a.Group].Rules.Len()
		}
	}
	return func(name string) int {
		name = strings.ToLower(name)
		return len(c.parsers) * (costs[naming]*len(f.Agents) + costs[loading]*rules[name])
	}
}

// mostShort is the length of a name that is asked about as part of another one too.
const mostShort = 1

// represent chooses those of names that are asked on single paths.
func (c *checker) represent() {
	all := agentsOf(c.names)
	for k, p := range c.parsers {
		j := robots.NewJudge(p, all)
		c.load(j, &c.files[k], len(all))
		c.proofs = append(c.proofs, j)
	}
	google := *c.parsers[0]
	google.RobotsTxtAllowed = true
	c.exempt = robots.NewJudge(&google, all)
	seen := make(map[string]bool)
	for i := range c.names {
		var key []byte
		for k, j := range c.proofs {
			if c.asks(&c.names[i], k) {
				key = fmt.Appendf(key, "%d ", j.Policy(i).SameAs)
			} else {
				key = append(key, '-')
			}
		}
		switch {
		case seen[string(key)]:
		case len(c.agents) < mostAgents:
			seen[string(key)] = true
			c.agents = append(c.agents, c.names[i])
		default:
			c.unasked++
		}
	}
	c.judge()
}

// judge makes the judges of the agents.
func (c *checker) judge() {
	c.judges = nil
	for _, p := range c.parsers {
		c.judges = append(c.judges, robots.NewJudge(p, agentsOf(c.agents)))
	}
}

// askPaths chooses the paths: those that the rules name to some parser.
func (c *checker) askPaths() {
	rules := 0 // with which a path is compared in one round
	for k := range c.parsers {
		rules += costs[judging]*c.policies(k) + costs[answering]*len(c.agents)
	}
	seen := make(map[string]bool)
	round := 0
	path := func(p string) {
		if seen[p] {
			return
		}
		seen[p] = true
		if round += judgeWork(rules, p); len(c.paths) < 2 || len(c.paths) < mostPaths && round <= c.most/mostPart {
			c.addPath(p)
		} else {
			c.unaskedPaths++
		}
	}
	c.targets = make([][]robots.Target, len(c.parsers))
	path("/")
	path("/x")
	known := make(map[string]bool)
	for k := range c.files {
		for i := range c.files[k].Rules {
			pattern := c.files[k].Rules[i].Pattern
			if known[string(pattern)] {
				continue
			}
			known[string(pattern)] = true
			p := concrete(pattern)
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
	}
}

// addPath makes a path one of those that are asked.
func (c *checker) addPath(path string) {
	c.paths = append(c.paths, path)
	for k, p := range c.parsers {
		c.targets[k] = append(c.targets[k], target(p, path))
	}
}

// target prepares a path, which may begin with two slashes.
func target(p *robots.Profile, path string) robots.Target { return p.Target("http://h" + path) }

// concrete returns a path that a pattern means, as URLs have it; "" if none is known.
func concrete(pattern []byte) string {
	text := bytes.TrimSuffix(pattern, []byte("$"))
	text = bytes.ReplaceAll(bytes.TrimRight(text, "*"), []byte("*"), []byte("x"))
	if len(text) > 0 && text[0] != '/' { // also where google never matches it: others add a slash
		text = append([]byte("/"), text...)
	}
	if len(text) == 0 || bytes.IndexByte(text, '#') >= 0 {
		return ""
	}
	return string(urlEscaped(text))
}

// judgeWork is the work of comparing a path with rules.
func judgeWork(rules int, path string) int { return rules * (1 + len(path)/16) }

// read reads a body as a parser does, and finds the policies. It returns the number of rules
// with which one path is compared for all crawlers.
func (c *checker) read(parser int, body []byte) (rules int) {
	c.parse(&c.files[parser], body, c.parsers[parser])
	return c.policies(parser)
}

// policies does the same for a file that a parser has read. Crawlers that follow the same
// rules are one.
func (c *checker) policies(parser int) (rules int) {
	c.load(c.judges[parser], &c.files[parser], len(c.agents))
	for i := range c.agents {
		if policy := c.judges[parser].Policy(i); c.asks(&c.agents[i], parser) && policy.SameAs == i {
			rules += policy.NumRules()
		}
	}
	return rules
}

// answers returns google's answers to all questions, and where parsers differ.
func (c *checker) answers(body []byte) (google []robots.Value, d differences) {
	n := len(c.paths)
	google = make([]robots.Value, len(c.agents)*n)
	answers := make([]robots.Value, len(google))
	for k := range c.parsers {
		rules := c.read(k, body)
		for _, path := range c.paths {
			c.spend(judging, judgeWork(rules, path))
			c.spend(answering, len(c.agents))
		}
		for i := range c.agents {
			policy := c.judges[k].Policy(i)
			same := policy.SameAs
			switch of := answers[i*n:][:n]; {
			case !c.asks(&c.agents[i], k):
				copy(of, google[i*n:])
			case same != i && c.asks(&c.agents[same], k):
				copy(of, answers[same*n:])
			default:
				for t := range of {
					of[t] = policy.Judge(&c.targets[k][t]).Value
				}
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
		c.spend(judging, judgeWork(c.read(k, body), c.paths[t]))
		v[n] = c.judges[k].Policy(i).Judge(&c.targets[k][t]).Value
	}
	return v[0], v[1]
}
