package portable

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots"
)

// A Departure is why a document reads a file otherwise than google.
type Departure struct {
	Document  string `json:"document"`
	Cause     string `json:"cause"`        // what the document says or leaves open
	Lines     []int  `json:"lines"`        // that it reads otherwise, the first few
	Differing int    `json:"differing"`    // questions
	Agent     string `json:"agent"`        // one of them: the crawler
	Path      string `json:"path"`         // and the path
	Google    string `json:"google"`       // google's answer
	Answer    string `json:"answer"`       // and the document's
	Advice    string `json:"advice"`       // how to write it so that the document agrees, "" if nobody can
	Rewritten bool   `json:"in_rewritten"` // the file as written anew follows the advice

	of differences
}

// A trait is a point on which documents depart from google.
type trait struct {
	says, leaves string // what a document says, and what one says that leaves it open
	follow       func(p, google *robots.Profile)
}

// traits are in the order in which they are tried. Together they make google of a document.
var traits = []trait{
	{"it has no Allow", "", func(p, google *robots.Profile) { p.AllowField = google.AllowField }},
	{"", "it leaves open whether a path covers others that merely begin with it", func(p, google *robots.Profile) {
		p.BarePrefix = google.BarePrefix
	}},
	{"it has no wildcards", "it has no wildcards, and leaves open what a path covers", func(p, google *robots.Profile) {
		p.Wildcards, p.BarePrefix = google.Wildcards, google.BarePrefix // a profile with wildcards needs both
	}},
	{"it gives a crawler one of its groups", "it leaves open which of several groups of a crawler counts",
		func(p, google *robots.Profile) {
			p.SeveralGroups = google.SeveralGroups
		}},
	{"its groups end elsewhere", "it leaves open where a group ends", func(p, google *robots.Profile) {
		p.GroupEnd, p.UnknownEnds = google.GroupEnd, google.UnknownEnds
	}},
	{"a group without rules is none", "", func(p, google *robots.Profile) { p.NeedsRule = google.NeedsRule }},
	{"it compares the names of crawlers otherwise", "it leaves open which crawlers a name means",
		func(p, google *robots.Profile) {
			p.AgentMatch = google.AgentMatch
		}},
	{"it takes several values in a line", "", func(p, google *robots.Profile) { p.Lists = google.Lists }},
	{"it knows no misspelt fields", "it leaves open whether a field counts that is misspelt or lacks a colon",
		func(p, google *robots.Profile) {
			p.Typos, p.NearTypos, p.KeyPrefixes, p.MissingColon = google.Typos, google.NearTypos, google.KeyPrefixes,
				google.MissingColon
		}},
	{"it reads a path as if it began with a slash", "", func(p, google *robots.Profile) { p.AddSlash = google.AddSlash }},
	{"it knows no index.html that stands for its folder", "",
		func(p, google *robots.Profile) { p.IndexHTML = google.IndexHTML }},
	{"another of several rules decides", "it leaves open which of several rules decides", func(p, google *robots.Profile) {
		p.Precedence, p.Ties, p.CountTrailingStar = google.Precedence, google.Ties, google.CountTrailingStar
	}},
	{"it compares escapes otherwise", "it leaves open whether a character equals its escape",
		func(p, google *robots.Profile) {
			p.Escapes, p.Reserved = google.Escapes, google.Reserved
		}},
	{"it takes white space, NUL or part of a byte order mark for text", "",
		func(p, google *robots.Profile) { p.Reading = google.Reading }},
	{"it always allows /robots.txt", "", func(p, google *robots.Profile) { p.RobotsTxtAllowed = google.RobotsTxtAllowed }},
	{"it reads fewer bytes", "", func(p, google *robots.Profile) { p.SizeLimit = google.SizeLimit }},
}

// because finds the traits for which a document reads a body otherwise than google on a
// question. It returns the document without them, and what it says or leaves open by them.
func (c *checker) because(body []byte, d difference) (like *robots.Profile, cause string) {
	agent, path := c.agents[d.question/len(c.paths)].Agent, c.paths[d.question%len(c.paths)]
	google := c.judged(c.parsers[0], body, agent, path).Value
	was := c.judged(c.parsers[d.parser], body, agent, path).Value
	without := func(of []*trait) *robots.Profile {
		p := *c.parsers[d.parser]
		for _, t := range of {
			t.follow(&p, c.parsers[0])
		}
		return &p
	}
	agree := func(of []*trait) bool { return c.judged(without(of), body, agent, path).Value == google }
	var all []*trait
	for i := range traits {
		if t := &traits[i]; agree([]*trait{t}) {
			return without([]*trait{t}), t.text(was)
		}
		all = append(all, &traits[i])
	}
	for i := len(all) - 1; i >= 0; i-- {
		if less := slices.Delete(slices.Clone(all), i, i+1); agree(less) {
			all = less
		}
	}
	var texts []string
	for _, t := range all {
		texts = append(texts, t.text(was))
	}
	return without(all), strings.Join(texts, ", and ")
}

// text returns what a document says that answers so.
func (t *trait) text(answer robots.Value) string {
	if answer == robots.Undefined && t.leaves != "" || t.says == "" {
		return t.leaves
	}
	return t.says
}

// judged returns the verdict of one profile on a path of a body.
func (c *checker) judged(p *robots.Profile, body []byte, agent robots.Agent, path string) robots.Verdict {
	j, _ := c.readAs(p, body, []robots.Agent{agent})
	t := target(p, path)
	c.spend(judging, judgeWork(j.Policy(0).NumRules(), path))
	return j.Policy(0).Judge(&t)
}

// readAs reads a body as a profile does, for agents.
func (c *checker) readAs(p *robots.Profile, body []byte, agents []robots.Agent) (*robots.Judge, *robots.File) {
	f, j := new(robots.File), robots.NewJudge(p, agents)
	c.parse(f, body, p)
	c.load(j, f, len(agents))
	return j, f
}

// mostShown is how many of the questions of a departure name lines.
const mostShown = 64

// departures finds out why a document reads the file otherwise on some questions.
func (c *checker) departures(of differences) (found []Departure) {
	whole := c.original.bytes()
	for len(of) > 0 {
		x := of[0]
		if c.work > c.most {
			return append(found, c.departure(tooLong, nil, of))
		}
		like, cause := c.because(c.shortest(c.original, x), x)
		settled, lines := c.settled(whole, like, of)
		if !slices.Contains(settled, x) { // in the file as it is there is more to it
			like, cause = c.because(whole, x)
			settled, lines = c.settled(whole, like, of)
		}
		found, of = append(found, c.departure(cause, lines, settled)), of.without(settled)
	}
	return found
}

// tooLong is the cause of what nobody looked into.
const tooLong = "of something that would take too long to find"

// departure describes some of a document's differences, of which there is one at least.
func (c *checker) departure(cause string, lines []int, of differences) Departure {
	x, whole := of[0], c.original.bytes()
	agent, path := c.agents[x.question/len(c.paths)].Agent, c.paths[x.question%len(c.paths)]
	return Departure{
		Document: c.parsers[x.parser].Name, Cause: cause, Lines: lines, Differing: of.questions(),
		Agent: agent.Name, Path: path, of: of,
		Google: c.judged(c.parsers[0], whole, agent, path).Value.String(),
		Answer: c.judged(c.parsers[x.parser], whole, agent, path).Value.String(),
	}
}

// settled returns those of a document's differences that it does not have if read so, and
// the lines that decide the first of them then, or else for the document or for google.
func (c *checker) settled(body []byte, like *robots.Profile, of differences) (settled differences, lines []int) {
	agents := agentsOf(c.agents)
	profiles := [...]*robots.Profile{like, c.parsers[of[0].parser], c.parsers[0]}
	var judges [3]*robots.Judge
	var files [3]*robots.File
	for i, p := range profiles {
		judges[i], files[i] = c.readAs(p, body, agents)
	}
	for _, x := range of {
		a, path := x.question/len(c.paths), c.paths[x.question%len(c.paths)]
		verdict := func(i int) robots.Verdict {
			t := target(profiles[i], path)
			c.spend(answering, 1)
			c.spend(judging, judgeWork(judges[i].Policy(a).NumRules(), path))
			return judges[i].Policy(a).Judge(&t)
		}
		now := verdict(0)
		if now.Value != verdict(2).Value {
			continue
		}
		if settled = append(settled, x); len(settled) > mostShown {
			continue
		}
		for i := range judges {
			if v := verdict(i); v.Rule >= 0 {
				lines = append(lines, int(files[i].Rules[v.Rule].Line))
				break
			}
		}
	}
	slices.Sort(lines)
	return settled, slices.Compact(lines)
}

// documents compares a file as it is with what documents say, the first of which is google.
// It returns a file after those steps that bring them closer together, and parsers no
// further apart.
func (c *checker) documents(r *Report, f *file, documents []*robots.Profile, most int) (*file, int) {
	d := newChecker(documents, most)
	d.original = c.original
	body := c.original.bytes()
	d.ask(body, nil)
	google, differ := d.answers(body)
	part := func(k int) bool { return slices.ContainsFunc(differ, func(x difference) bool { return x.parser == k }) }
	found, uncompared := d.prove(d.original, part)
	if len(found) > 0 {
		d.add(found)
		google, differ = d.answers(body)
	}
	r.Documents, r.UncomparedDocuments = []Departure{}, uncompared
	for k := 1; k < len(d.parsers); k++ {
		of := slices.DeleteFunc(slices.Clone(differ), func(x difference) bool { return x.parser != k })
		if r.Documents = append(r.Documents, d.departures(of)...); len(of) == 0 && d.unnamed > 0 {
			r.UncomparedDocuments++
		}
	}
	return d.closer(c, r, f, google), d.work
}

// closer takes the steps after which documents agree with google on more questions.
func (c *checker) closer(parsers *checker, r *Report, f *file, google []robots.Value) *file {
	late := func() bool { return len(r.Documents) == 0 || c.work > c.most || parsers.work > parsers.most }
	if late() {
		return f
	}
	_, differ := c.answers(f.bytes())
	_, apart := parsers.answers(f.bytes())
	for i := range steps {
		if s := &steps[i]; len(differ) > 0 && !late() {
			c.spendStep(f)
			next := s.apply(f, nil)
			if next == nil {
				continue
			}
			same, left := c.answers(next.bytes())
			if len(left) >= len(differ) || !slices.Equal(google, same) || !c.same(next) {
				continue
			}
			if _, now := parsers.answers(next.bytes()); len(now) > len(apart) {
				continue
			}
			settled := differ.without(left)
			for k := range r.Documents {
				if x := &r.Documents[k]; len(x.of.without(settled)) < len(x.of) {
					x.Advice, x.Rewritten = s.adviceFor(f, s.touches(f)), true
				}
			}
			f, differ = next, left
		}
	}
	return f
}
