package portable

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// Parity is what a file means to a crawler as google reads it, and as the crawler's own
// parser does.
type Parity struct {
	Named      bool // a group is the crawler's own, for google or for its parser
	Difference robots.Difference
	Google     robots.Class
	Parser     robots.Class
	GroupLine  int32   // where the crawler's group begins, for its parser or else for google; 0 for none
	Causes     []Cause // if they differ; of several, neither is enough alone
}

// A Cause is why two parsers read a file otherwise.
type Cause struct {
	Key   string // as in CauseTexts
	Lines []Line // where
}

// A Line is a line of the file that was compared, with its number from 1.
type Line struct {
	Number int
	Text   []byte
}

// Unexplained is the key of a cause that no simplification shows.
const Unexplained = "unexplained"

// CauseTexts holds the causes that [Explainer] knows, by their keys.
var CauseTexts = func() map[string]string {
	texts := map[string]string{Unexplained: "none that a simplification shows, or one that takes long to find"}
	for _, s := range slices.Concat(steps, diagnoses("x", new(shown))) {
		texts[s.key] = s.cause
	}
	return texts
}()

// An Explainer compares files as google and as one crawler's own parser read them. It
// serves one goroutine and reuses its memory.
type Explainer struct {
	token   string // in lower case
	readers [2]*robots.Profile
	judges  [2]*robots.Judge
	read    robots.File   // by the parser
	as      *robots.Judge // of the file as it is, for google
	shown
	witness [2]robots.Target // its path
	steps   []*step
	part    *step // leaves out names that are part of the crawler's
	others  *step // leaves out other crawlers
	unlike  step  // leaves out those whose names are not similar
	bytes   int   // that may still be read about this file
	work    int   // of comparisons that may still be done
}

// NewExplainer returns an explainer for a crawler, whose parser is not google.
func NewExplainer(google, parser *robots.Profile, agent robots.Agent) *Explainer {
	if google.RobotsTxtAllowed != parser.RobotsTxtAllowed { // what a crawler asks for anyway makes no difference
		changed := *google
		changed.RobotsTxtAllowed = parser.RobotsTxtAllowed
		google = &changed
	}
	e := &Explainer{token: strings.ToLower(agent.Tokens[0]), readers: [2]*robots.Profile{google, parser}}
	e.read.JudgeOnly = true
	for i, p := range e.readers {
		e.judges[i] = robots.NewJudge(p, []robots.Agent{agent})
	}
	e.oneWord = parser.OneWord
	e.losesQuery = parser.EmptyQueryLost || parser.Requote == rewrite.RequotePath
	e.as = robots.NewJudge(e.readers[0], []robots.Agent{agent})
	// What people would try: first what changes nothing for google, then what leaves out
	// lines. But whom a group is for comes before what it says.
	at := make(map[string]int)
	for _, s := range slices.Concat(steps, diagnoses(e.token, &e.shown)) {
		at[s.key] = len(e.steps)
		e.steps = append(e.steps, &s)
	}
	part, rules := at["part_of_name"], at["orphan_rule"]
	e.part, e.others = e.steps[part], e.steps[at["other_names"]]
	e.steps = slices.Insert(slices.Delete(e.steps, part, part+1), rules, e.part)
	e.unlike.change = dropNames(func(l *line) bool {
		return l.kind == agentLine && l.token != "*" && len(l.value) > 0 && !e.Concerns(l.value) &&
			!strings.Contains(e.token, l.token)
	})
	return e
}

// Bounds of one explanation: work is that of [robots.Differ] for one comparison and for
// all, bytes are those of all files that are read, and lines those of a file that is
// simplified.
const (
	explainWork     = 1 << 18
	explainWorkings = 1 << 22
	explainBytes    = 4 << 20
	mostExplained   = 2000
)

// Concerns reports whether a file with a user-agent line of this value may name the
// crawler, for google or for its parser.
func (e *Explainer) Concerns(value []byte) bool { return concerns(e.token, value) }

// concerns is Concerns for a token in lower case.
func concerns(token string, value []byte) bool {
	if len(value) > 64 {
		value = value[:64] // longer than any part of a token, and than what tokens stand behind
	}
	var buffer [64]byte
	name := buffer[:0]
	for _, c := range value {
		if c != '*' {
			if c >= 'A' && c <= 'Z' {
				c |= 0x20
			}
			name = append(name, c)
		}
	}
	return len(name) > 0 && (strings.Contains(token, string(name)) || bytes.Contains(name, []byte(token)))
}

// Compare compares the two readings of a file, given as google reads it. It finds causes as
// people do: the first simplification after which both agree is the cause. If none is
// enough, the causes are those that it takes together. It looks for them without other
// crawlers' groups if they then explain the whole file.
func (e *Explainer) Compare(google *robots.File) (p Parity) {
	e.bytes, e.work = explainBytes, explainWorkings
	a, b := e.policies(google)
	p = Parity{Named: a.Match == robots.OwnGroup || b.Match == robots.OwnGroup, Google: a.Class(), Parser: b.Class(),
		GroupLine: b.GroupLine}
	if p.GroupLine == 0 {
		p.GroupLine = a.GroupLine
	}
	if !p.Named {
		return p
	}
	if p.Difference = e.differ(a, b); p.Difference == robots.Differs {
		e.shown.path = "/"
		w, _, work := robots.Distinguish(a, b, explainWork, robots.PlainPaths)
		if e.work -= work; w != nil {
			e.path = w.Path
		}
		for i, reader := range e.readers {
			e.witness[i] = reader.LiteralTarget("http://h" + e.path)
		}
		whole := readFile(google.Body(), google.Truncated)
		whole.hear([]robots.File{e.read})
		e.as.Load(&whole.read)
		p.Causes = e.causes(whole)
	}
	return p
}

// differ compares two policies.
func (e *Explainer) differ(a, b *robots.Policy) robots.Difference {
	d, work := robots.Differ(a, b, explainWork)
	e.work -= work
	return d
}

// spent reports that no further step may be tried.
func (e *Explainer) spent() bool { return e.bytes < 0 || e.work < 0 }

// policies returns the crawler's policies of a file as google and as its parser read it.
// read is google's reading. The policies are valid until the next call.
func (e *Explainer) policies(read *robots.File) (google, parser *robots.Policy) {
	body := read.Body()
	e.bytes -= len(body) + 1
	e.read.Cut = read.Truncated
	e.read.ParseBeside(read, body, e.readers[1])
	e.judges[0].Load(read)
	e.judges[1].Load(&e.read)
	return e.judges[0].Policy(0), e.judges[1].Policy(0)
}

// agree reports whether no normalized URL shows a difference after a step, as far as the
// bounds let it read. One that people are advised to take must change nothing for google.
func (e *Explainer) agree(f *file, s *step) bool {
	if e.spent() {
		return false
	}
	google, parser := e.policies(&f.read)
	if google.Judge(&e.witness[0]).Value != parser.Judge(&e.witness[1]).Value {
		return false
	}
	d := e.differ(google, parser)
	if d == robots.DifferenceUndecided { // what settles a difference is worth more work
		var work int
		d, work = robots.Differ(google, parser, 4*explainWork)
		e.work -= work
	}
	if d == robots.Differs || d == robots.DifferenceUndecided {
		return false
	}
	return s.advice == "" || e.differ(e.as.Policy(0), google) == robots.Same
}

// causes finds out why the readings of a file differ. It first tries parts of the file,
// which are less to read: without other crawlers' groups, then with the groups of crawlers
// with similar names.
func (e *Explainer) causes(whole *file) []Cause {
	tried := 0
	for _, s := range []*step{e.others, &e.unlike} {
		less := s.apply(whole, nil)
		if less == nil || len(less.lines) == tried || e.agree(less, s) {
			continue
		}
		tried = len(less.lines)
		if of, lines := e.settle(less); e.hold(whole, of, lines) {
			return whole.named(of, lines)
		}
	}
	if of, lines := e.settle(whole); of != nil {
		return whole.named(of, lines)
	}
	return []Cause{{Key: Unexplained}}
}

// hold reports whether causes that were found in a part of a file explain the whole file. A
// single cause must do so by each of its lines alone. Several must do so together, and none
// of them alone.
func (e *Explainer) hold(whole *file, of []*step, lines [][]int) bool {
	switch len(of) {
	case 0:
		return false
	case 1:
		return len(lines[0]) > 0 && !slices.ContainsFunc(lines[0],
			func(n int) bool { return !e.enough(whole, of[0], []int{n}) })
	}
	if e.first(whole, of) != nil || e.spent() {
		return false
	}
	e.together = true
	defer func() { e.together = false }()
	now := whole
	for i, s := range of {
		if now = s.apply(now, func(n int) bool { return slices.Contains(lines[i], n) }); now == nil {
			return false
		}
	}
	return e.agree(now, e.steps[len(e.steps)-1])
}

// first returns the first of some steps after which the readings of a file agree, nil if
// there is none or finding it takes too long.
func (e *Explainer) first(f *file, of []*step) *step {
	for _, s := range of {
		if e.spent() {
			break
		}
		next := s.apply(f, nil)
		if next != nil && e.agree(next, s) {
			return s
		}
		f.spare = cmp.Or(next, f.spare)
	}
	return nil
}

// applied returns a file after some steps.
func applied(f *file, of []*step) *file {
	for _, s := range of {
		if next := s.apply(f, nil); next != nil {
			f = next
		}
	}
	return f
}

// named returns steps as causes.
func (f *file) named(of []*step, lines [][]int) (out []Cause) {
	for i, s := range of {
		out = append(out, Cause{s.key, f.linesAt(lines[i])})
	}
	return out
}

// settle returns the first step after which the readings of a file agree, or the steps that
// it takes together, with their lines; nil if there is none, or finding it takes too long.
func (e *Explainer) settle(f *file) (of []*step, lines [][]int) {
	if len(f.lines) > mostExplained || e.spent() {
		return nil, nil
	}
	if s := e.first(f, e.steps); s != nil {
		return []*step{s}, [][]int{e.lines(s, f)}
	}
	if e.spent() {
		return nil, nil
	}
	// Together: then each step that is not needed is left out.
	e.together = true
	defer func() { e.together = false }()
	last := e.steps[len(e.steps)-1]
	var after []*file
	now := f
	take := func(s *step) {
		if next := s.apply(now, nil); next != nil {
			of, after, now = append(of, s), append(after, next), next
		}
	}
	for _, s := range e.steps {
		if s == e.others {
			take(e.part) // steps on names may have left a part
		}
		take(s)
	}
	if !e.agree(now, last) {
		// A letter for a wildcard may part readings that the steps before bring together.
		n := slices.IndexFunc(after, func(f *file) bool { return e.agree(f, last) })
		if n < 0 {
			return nil, nil
		}
		of = of[:n+1]
	}
	for i := len(of) - 1; i >= 0 && len(of) > 1; i-- {
		before := f
		if i > 0 {
			before = after[i-1]
		}
		if e.agree(applied(before, of[i+1:]), last) {
			of = slices.Delete(of, i, i+1)
		}
		if e.spent() {
			return nil, nil
		}
	}
	var causes []*step
	now = f
	for _, s := range of {
		touched := s.touches(now)
		now = applied(now, []*step{s})
		if k := slices.Index(causes, s); k >= 0 {
			lines[k] = append(lines[k], touched...)
			slices.Sort(lines[k])
			continue
		}
		causes, lines = append(causes, s), append(lines, touched)
	}
	return causes, lines
}

// linesAt returns lines as the file was given.
func (f *file) linesAt(numbers []int) (lines []Line) {
	for _, n := range numbers {
		lines = append(lines, Line{n, f.lines[n-1].text})
	}
	return lines
}
