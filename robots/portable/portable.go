// Package portable finds the lines of a file on which the parsers of crawlers part.
//
// It asks each parser about every crawler that the file names to any of them, and one that
// it does not name, on paths that the rules name to any of them. A crawler whose own parser
// is documented is asked about with that parser, if a line may name it. Where no answer
// differs, the parsers' readings are compared on every path (see [robots.Distinguish]): only
// what agrees there, and with what the documents say, is portable.
//
// Then it writes the file ever more plainly: each step changes what some parsers misread. It
// is taken only if it is proven that the file then means the same to google on every path,
// for everybody whom the file names and for others (see meaning.go). A step after which
// fewer answers differ is a cause, as a person would find it. Where a file has several, an
// earlier step may hide a later one. A needless escape in a rule, and a character that URLs
// have only escaped, are told and left as they are where google would answer otherwise.
//
// An [Explainer] asks the narrower question about one crawler and its own parser: whether a
// file that names the crawler means the same to both on every path, and if not, why.
//
//   - portable.go: what is reported, and the steps as they are tried
//   - ask.go: the questions, and their answers
//   - proof.go: whether parsers agree on every path
//   - meaning.go: whether a step leaves the meaning for google as it is
//   - findings.go: causes, lines and examples
//   - documents.go: which documents read the file otherwise, and why
//   - work.go: what all this costs
//   - lines.go: files as lines
//   - steps.go, groups.go, ignored.go: the steps
//   - explain.go, needed.go, diagnoses.go: the Explainer, and the lines that it names
//   - lighthouse.go, lighthouse_sitemap.go: lines that Lighthouse calls errors, whatever parsers make of them
package portable

import (
	"bytes"
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

	// Rewritten reports whether the file as written anew follows the advice. Where google
	// would then answer otherwise it does not.
	Rewritten bool `json:"in_rewritten"`

	// File is the shortest file found on which the two part so; FileB64 instead if it is not
	// UTF-8.
	File    string `json:"file"`
	FileB64 []byte `json:"file_b64,omitempty"`
}

// An Answer says whether a file is portable.
type Answer string

const (
	Portable     Answer = "portable"      // to all parsers, and by all documents, it means what it means to google
	ParsersAgree Answer = "parsers_agree" // to all parsers it does, and some document reads it otherwise
	NotPortable  Answer = "not_portable"  // some parser reads it otherwise
	Undecided    Answer = "undecided"     // none does of what was asked, and not everything was
)

// A Report is what was found about a file.
type Report struct {
	Answer        Answer `json:"answer"`
	Questions     int    `json:"questions"`      // crawlers times paths
	Differing     int    `json:"differing"`      // questions that some parser answers otherwise than google
	UnaskedAgents int    `json:"unasked_agents"` // crawlers that the file also names
	UnaskedPaths  int    `json:"unasked_paths"`  // paths that its rules also name
	Uncompared    int    `json:"uncompared"`     // readings that would take too long to compare on every path
	Unexplained   int    `json:"unexplained"`    // differing questions whose causes would take too long to find
	// google reads no more than its size limit, and neither does the report
	Truncated bool      `json:"truncated"`
	Findings  []Finding `json:"findings"`

	Documents []Departure `json:"documents"` // why documents read it otherwise
	// readings of documents that would take too long to compare
	UncomparedDocuments int `json:"uncompared_documents"`

	File    string `json:"rewritten"` // the file after all steps; FileB64 instead if it is not UTF-8
	FileB64 []byte `json:"rewritten_b64,omitempty"`
}

// decide sets the answer.
func (r *Report) decide() {
	switch {
	case r.Differing > 0:
		r.Answer = NotPortable
	case r.UnaskedAgents+r.UnaskedPaths+r.Uncompared > 0 || r.Truncated:
		r.Answer = Undecided
	case len(r.Documents) > 0:
		r.Answer = ParsersAgree
	case r.UncomparedDocuments > 0:
		r.Answer = Undecided
	default:
		r.Answer = Portable
	}
}

// A Crawler is one whose own parser is documented.
type Crawler struct {
	robots.Agent
	Parser *robots.Profile
}

// Bounds on the questions about one file and on the work for all, of which a unit is about
// a nanosecond; see work.go.
const (
	mostNames  = 2048 // that are asked about
	fewNames   = 8    // that are asked about whatever work it takes
	mostAgents = 64   // of which parsers part in the same way, that are asked on single paths
	mostPaths  = 4096
	mostLines  = 64      // lines of a finding that are tried one by one
	mostParts  = 256     // parts of a step's lines that are tried
	mostRounds = 4       // of questions: all that comparing whole readings adds to them
	mostWork   = 7 << 27 // once it is done, no further step begins
	mostPart   = 32      // the part of it for asking all questions once, and for one example

	documentsPart = 4 // the part of mostWork that comparing documents takes in addition
)

// Check examines a file for all parsers and documents, and for the crawlers that it may name
// to their own parser.
func Check(body []byte, crawlers ...Crawler) *Report {
	r, _ := examine(body, crawlers, mostWork)
	return r
}

// named returns google and some other profiles.
func named(names []string) (out []*robots.Profile) {
	for _, name := range names {
		p, _ := robots.ProfileNamed(name)
		out = append(out, p)
	}
	return out
}

// examine begins no step after most work. It also returns the work that it took.
func examine(body []byte, crawlers []Crawler, most int) (*Report, int) {
	parsers := named(robots.ParserNames())
	whole := len(body)
	if limit := parsers[0].SizeLimit; whole > limit {
		body = body[:bytes.LastIndexAny(body[:limit], "\r\n")+1] // a line that is cut does not count
	}
	c := newChecker(parsers, most)
	c.ask(body, crawlers)
	c.original = readFile(body, false)
	c.original.hear(c.files[1:])
	r := &Report{UnaskedAgents: c.unnamed + c.unasked, UnaskedPaths: c.unaskedPaths, Truncated: len(body) < whole}
	f := c.original
	for round := range mostRounds {
		var settled bool
		if f, settled = c.simplify(r); !settled || round == mostRounds-1 && r.Differing > 0 {
			break
		}
		found, uncompared := c.prove(f, func(int) bool { return false })
		if r.Differing == 0 {
			if r.Uncompared = uncompared; uncompared+len(found) == 0 { // whatever the paths
				r.UnaskedAgents, r.UnaskedPaths = c.unnamed, 0
			}
		}
		if len(found) == 0 {
			break
		}
		c.add(found)
	}
	f, work := c.documents(r, f, named(robots.DocumentNames()), most/documentsPart)
	r.decide()
	r.File, r.FileB64 = textOrBytes(f.bytes())
	return r, c.work + work
}

// simplify takes the steps that settle differences, and reports them. It returns the file
// after them, and whether they settle all.
func (c *checker) simplify(r *Report) (f *file, settled bool) {
	f = c.original
	google, differ := c.answers(f.bytes())
	r.Questions, r.Differing, r.Unexplained, r.Findings = len(google), differ.questions(), 0, []Finding{}
	for _, s := range slices.Concat(steps, []step{longDelay}) {
		if len(differ) == 0 {
			return f, true // the file is well as it is
		}
		if c.work > c.most {
			r.Unexplained = min(differ.questions(), r.Differing)
			return f, false
		}
		c.spendStep(f)
		next := s.apply(f, nil)
		if next == nil {
			continue
		}
		lines := s.touches(f)
		if !c.same(next) {
			if next, lines = c.part(&s, f, lines); next == nil {
				continue
			}
		}
		same, left := c.answers(next.bytes())
		if !slices.Equal(google, same) || len(left) > len(differ) {
			continue
		}
		if len(left) < len(differ) {
			x := c.finding(&s, f, lines, google, differ, left)
			x.Rewritten = true
			r.Findings = append(r.Findings, x)
		}
		f, differ = next, left
	}
	if len(differ) == 0 {
		return f, true
	}
	for i := range hints {
		h := &hints[i]
		if c.work > c.most {
			r.Unexplained = min(differ.questions(), r.Differing)
			return f, false
		}
		settled := c.hint(h, f, differ)
		if len(settled) == 0 {
			continue
		}
		x := c.about(h.cause, h.advice, h.touches(f), f, settled)
		differ = differ.without(settled)
		if next, lines := c.safely(h, f); next != nil {
			x.Rewritten, f = slices.Equal(lines, x.Lines), next
		}
		r.Findings = append(r.Findings, x)
	}
	if len(differ) > 0 {
		r.Findings = append(r.Findings, c.rest(f, differ))
	}
	return f, false
}

// safely applies a step to those of its lines for which google reads the file as before.
func (c *checker) safely(s *step, f *file) (next *file, lines []int) {
	if next, lines = s.apply(f, nil), s.touches(f); next != nil && !c.same(next) {
		next, lines = c.part(s, f, lines)
	}
	slices.Sort(lines)
	return next, lines
}
