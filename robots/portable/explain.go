package portable

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/robots"
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
	for _, s := range slices.Concat(steps, diagnoses("x")) {
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
	files   [2]robots.File
	as      *robots.Judge // of the file as it is, for google
	is      robots.File
	witness [2]robots.Target // a path on which the readings of the file differ
	steps   []step
	others  *step // leaves out other crawlers
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
	for i, p := range e.readers {
		e.judges[i] = robots.NewJudge(p, []robots.Agent{agent})
	}
	e.as = robots.NewJudge(e.readers[0], []robots.Agent{agent})
	// What people would try: first what changes nothing for google, then what leaves out
	// lines.
	e.steps = slices.Concat(steps, diagnoses(e.token))
	e.others = &e.steps[slices.IndexFunc(e.steps, func(s step) bool { return s.key == "other_names" })]
	return e
}

// Bounds of one explanation: work is that of [robots.Differ] for one comparison and for
// all, bytes are those of all files that are read, and lines those of a file that is
// simplified.
const (
	explainWork     = 1 << 18
	explainWorkings = 1 << 22
	explainBytes    = 4 << 20
	mostExplained   = 1000
)

// Concerns reports whether a file with a user-agent line of this value may name the
// crawler, for google or for its parser.
func (e *Explainer) Concerns(value []byte) bool {
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
	return len(name) > 0 && (strings.Contains(e.token, string(name)) || bytes.Contains(name, []byte(e.token)))
}

// Compare compares the two readings of a file. It finds causes as people do: the first
// simplification of the file after which both agree is the cause. If none is enough, those
// are causes that it takes together.
func (e *Explainer) Compare(body []byte, cut bool) (p Parity) {
	e.bytes, e.work = explainBytes, explainWorkings
	body = body[:min(len(body), e.readers[0].SizeLimit)]
	google, parser := e.policies(body, cut)
	p = Parity{Named: google.Match == robots.OwnGroup || parser.Match == robots.OwnGroup, Google: google.Class(), Parser: parser.Class(), GroupLine: parser.GroupLine}
	if p.GroupLine == 0 {
		p.GroupLine = google.GroupLine
	}
	if !p.Named {
		return p
	}
	if p.Difference = e.differ(google, parser); p.Difference == robots.Differs {
		path := "/"
		w, _, work := robots.Distinguish(google, parser, explainWork, true)
		if e.work -= work; w != nil {
			path = w.Path
		}
		for i, reader := range e.readers {
			e.witness[i] = reader.Target(path)
		}
		e.is.Cut = cut
		e.is.Parse(body, e.readers[0])
		e.as.Load(&e.is)
		p.Causes = e.causes(readFile(body), cut)
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

// policies returns the policies of a file for the crawler as google and as its parser read
// it. They are valid until the next call.
func (e *Explainer) policies(body []byte, cut bool) (google, parser *robots.Policy) {
	e.bytes -= len(body) + 1
	for i, p := range e.readers {
		e.files[i].Cut = cut
		e.files[i].Parse(body, p)
		e.judges[i].Load(&e.files[i])
	}
	return e.judges[0].Policy(0), e.judges[1].Policy(0)
}

// agree reports whether no normalized URL shows a difference after a step.
// One that people are advised to take must change nothing for google.
func (e *Explainer) agree(f *file, s *step, cut bool) bool {
	google, parser := e.policies(f.bytes(), cut)
	if google.Judge(&e.witness[0]).Value != parser.Judge(&e.witness[1]).Value {
		return false
	}
	if e.differ(google, parser) == robots.Differs {
		return false
	}
	return s.advice == "" || e.differ(e.as.Policy(0), google) == robots.Same
}

// causes finds out why the readings of a file differ: first without other crawlers' groups,
// which is less to read, if that is why for the whole file too.
func (e *Explainer) causes(whole *file, cut bool) []Cause {
	if less := e.others.apply(whole, nil); less != nil && !e.agree(less, e.others, cut) {
		if of, lines := e.settle(less, cut); of != nil && e.agree(applied(whole, of), of[len(of)-1], cut) {
			return whole.named(of, lines)
		}
	}
	if of, lines := e.settle(whole, cut); of != nil {
		return whole.named(of, lines)
	}
	return []Cause{{Key: Unexplained}}
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
func (e *Explainer) settle(f *file, cut bool) (of []*step, lines [][]int) {
	if len(f.lines) > mostExplained || e.spent() {
		return nil, nil
	}
	for i := range e.steps {
		s := &e.steps[i]
		if next := s.apply(f, nil); next != nil && e.agree(next, s, cut) {
			return []*step{s}, [][]int{e.lines(s, f, cut)}
		}
		if e.spent() {
			return nil, nil
		}
	}
	// Together: then each step that is not needed is left out.
	last := &e.steps[len(e.steps)-1]
	now := f
	for i := range e.steps {
		if next := e.steps[i].apply(now, nil); next != nil {
			of, now = append(of, &e.steps[i]), next
		}
	}
	if !e.agree(now, last, cut) {
		return nil, nil
	}
	for i := len(of) - 1; i >= 0 && len(of) > 1; i-- {
		if less := slices.Delete(slices.Clone(of), i, i+1); e.agree(applied(f, less), last, cut) {
			of = less
		}
		if e.spent() {
			return nil, nil
		}
	}
	for _, s := range of {
		lines = append(lines, s.touches(f))
	}
	return of, lines
}

// linesAt returns lines as the file was given.
func (f *file) linesAt(numbers []int) (lines []Line) {
	for _, n := range numbers {
		lines = append(lines, Line{n, f.lines[n-1].text})
	}
	return lines
}

// lines returns the lines of which each alone is enough for a step; all that the step
// changes if none is.
func (e *Explainer) lines(s *step, f *file, cut bool) []int {
	lines := s.touches(f)
	if len(lines) == 1 || len(lines) > mostLines {
		return lines
	}
	var enough []int
	for _, line := range lines {
		if e.spent() {
			return lines
		}
		if next := s.apply(f, func(n int) bool { return n == line }); next != nil && e.agree(next, s, cut) {
			enough = append(enough, line)
		}
	}
	if len(enough) > 0 {
		return enough
	}
	return lines
}

// diagnoses are steps that show a cause by leaving out lines, for a crawler with a token
// in lower case. They may change what google answers, so nobody is advised to take them.
func diagnoses(token string) []step {
	names := func(l *line) bool { return l.kind == agentLine && l.token != token && l.token != "*" }
	rules := func(has func(l *line) bool) func(*file, func(int) bool) []int {
		return drop(func(f *file, i int) bool { l := &f.lines[i]; return l.kind == ruleLine && has(l) })
	}
	return []step{
		{"part_of_name", "a name that is part of the crawler's", "", dropNames(func(l *line) bool {
			name := strings.ToLower(strings.ReplaceAll(string(l.value), "*", ""))
			return names(l) && name != "" && strings.Contains(token, name)
		})},
		{"other_names", "names of other crawlers in its list or before it", "", dropNames(names)},
		{"long_delay", "a crawl-delay that the parser does not accept", "", drop(func(f *file, i int) bool { return f.lines[i].isOddDelay() })},
		{"wildcards", "wildcards in a path", "", rules(func(l *line) bool { return bytes.ContainsAny(l.value, "*$") })},
		{"query", "a query in a path", "", rules(func(l *line) bool { return bytes.IndexByte(l.value, '?') >= 0 })},
		{"escaped_path", "escapes in a path, or characters that some escape", "", rules(func(l *line) bool {
			return bytes.ContainsFunc(l.value, func(r rune) bool { return r > '~' || strings.ContainsRune("%[];", r) })
		})},
		{"index", "a path that ends in index.html", "", rules(func(l *line) bool {
			return bytes.HasSuffix(l.value, []byte("index.htm")) || bytes.HasSuffix(l.value, []byte("index.html"))
		})},
	}
}

// isOddDelay reports whether a line is a crawl-delay that parsers refuse or take for a
// wish to be left alone: no number, or more than the five minutes that most accept.
func (l *line) isOddDelay() bool {
	field, value, _ := strings.Cut(string(uncommented(l.text)), ":")
	if l.kind != otherLine || !strings.EqualFold(strings.TrimSpace(field), "crawl-delay") {
		return false
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	return err != nil || !(seconds >= 0 && seconds <= 300)
}

// dropNames leaves out user-agent lines, the rules of groups that have no other, and the
// lines of other fields that are theirs: these may mean something before the next name.
func dropNames(which func(l *line) bool) func(*file, func(int) bool) []int {
	return func(f *file, only func(int) bool) (touched []int) {
		drops := func(l line) bool { return l.kind == agentLine && which(&l) && only(l.number) }
		var kept []line
		for from, to := 0, 0; from < len(f.lines); from = to {
			for rules := false; to < len(f.lines) && !(rules && f.lines[to].kind == agentLine); to++ {
				rules = rules || f.lines[to].kind == ruleLine
			}
			group := f.lines[from:to]
			gone := slices.ContainsFunc(group, drops) && !slices.ContainsFunc(group, func(l line) bool { return l.kind == agentLine && !drops(l) })
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
