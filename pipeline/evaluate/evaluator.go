package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Shared is what the evaluators of a run share: the configuration, the URL samples,
// the cache of parsed bodies and that of comparisons.
type Shared struct {
	config   Config
	columns  []column          // one per profile
	judges   []*robots.Profile // per reading
	samples  *samples
	contents *contents
	pairs    *robots.PairStore[robots.Difference] // of two profiles

	explained explained
}

// Prepare prepares the URL samples of a run for its profiles.
func Prepare(c Config) *Shared {
	columns, judges := c.columnsOf()
	return &Shared{
		config: c, columns: columns, judges: judges, samples: newSamples(c.Samples, judges),
		contents: newContents(len(judges)), pairs: &robots.PairStore[robots.Difference]{
			Undecided: robots.DifferenceUndecided},
	}
}

// NewCounts returns empty counters for the agents and profiles of the run.
func (s *Shared) NewCounts() *summary.Counts {
	return summary.New(s.config.Agents, s.config.ProfileNames())
}

// Evaluator makes rows of captures. It serves one goroutine and reuses its memory.
type Evaluator struct {
	*Shared
	readings []reading
	counts   *summary.Counts   // counts of the current segment
	examples summary.Examples  // examples of the current segment
	paired   []int             // reused by countClosed
	bodies   map[string]bool   // digests written in the current segment
	note     note              // note of the current segment
	memo     memo              // verdicts on the current target
	second   secondFile        // answers to identities
	found    []documents.Found // of the current target

	categories                  []string              // of the agents
	categoryOf                  []int                 // per agent: its place among them
	closing                     []closing             // per category; reused by countCategories
	agentNames, agentCategories []string              // per agent
	deadNames                   map[string]string     // by their lower case
	tokenNames                  map[string]bool       // of policy tokens, in lower case
	explainers                  []*portable.Explainer // per agent; see Config.explainers
	plain                       robots.File

	// Row buffers, reused for every target.
	groups      []schema.Group
	rules       []schema.Rule
	sitemaps    []schema.Sitemap
	lines       []schema.Line
	parted      []schema.Line // on which parsers part
	order       []uint64      // see orderLines
	signals     []schema.Signal
	preferences []schema.Preference
	stated      []schema.Preference // of other documents
	templates   []schema.Template
	policies    []schema.Policy
	statements  []statement // per row of policies
	verdicts    []schema.Verdict
	covers      []schema.Coverage
	run         run
	labelled    []target.Label
	labelRows   []schema.Label
	labelValues []summary.LabelValue
	indexes     []int32            // group indexes that rows point at
	sameHost    []bool             // per sitemap of the current target
	counted     map[[2]string]bool // keys counted for the current target; see once
}

// reading is the current capture as one profile reads it.
type reading struct {
	profile  *robots.Profile
	agents   []int // the agents that it judges, ascending; the judge has everybody beside them, and further policy tokens
	slots    []int // per agent: its place among them
	firsts   []int // the readings of these agents under the first profile, if another profile judges by it too
	judge    *robots.Judge
	beside   *robots.Judge          // the same, but it lets everybody have /robots.txt; nil if no other reading does
	tokens   [][]robots.TokenPolicy // per slot: the policy tokens that bind the agent
	answer   answer.Answer
	body     []byte // nil for none
	hash     bodyHash
	cut      bool         // the body is not complete
	file     robots.File  // the body, once parsed
	first    *robots.File // that of the first reading
	parsed   bool
	loaded   bool     // by the judge
	aside    bool     // by beside
	patterns []string // of the file's rules, once asked for
	content  *content
	once     content // content of a body that is new
}

// Evaluator returns an evaluator for one goroutine.
func (s *Shared) Evaluator() *Evaluator {
	e := &Evaluator{
		deadNames: deadNames(s.config.NamedOnly), tokenNames: tokenNames(s.config.Agents),
		Shared: s, readings: make([]reading, len(s.judges)), counts: s.NewCounts(), bodies: make(map[string]bool),
		counted: make(map[[2]string]bool), explainers: s.config.explainers(),
	}
	e.categorise()
	for k, p := range s.judges {
		e.readings[k].profile, e.readings[k].first = p, &e.readings[0].file
	}
	for k := range e.readings {
		e.prepare(k)
	}
	return e
}

// prepare prepares reading k for the agents that it judges under any profile.
func (e *Evaluator) prepare(k int) {
	r := &e.readings[k]
	p := r.profile
	r.slots = make([]int, len(e.config.Agents))
	var agents []robots.Agent
	for i, agent := range e.config.Agents {
		judges := false
		for c := range e.columns {
			if e.columns[c].of[i] != k {
				continue
			}
			judges = true
			if first := e.columns[0].of[i]; c > 0 && !slices.Contains(r.firsts, first) {
				r.firsts = append(r.firsts, first)
			}
		}
		if judges {
			r.slots[i] = len(r.agents)
			r.agents, agents = append(r.agents, i), append(agents, registry.Robots(&agent))
		}
	}
	agents = append(agents, everybody)
	places := make(map[string]int) // of policy tokens among the judge's agents
	for i, token := range e.config.Agents {
		if token.Kind != registry.KindToken {
			continue
		}
		if slot := r.slots[i]; slot < len(r.agents) && r.agents[slot] == i {
			places[token.Name] = slot
		} else {
			places[token.Name], agents = len(agents), append(agents, registry.Robots(&token))
		}
	}
	r.judge = robots.NewJudge(p, agents)
	if !p.RobotsTxtAllowed && slices.ContainsFunc(e.readings, func(other reading) bool {
		return other.profile != nil &&
			other.profile.RobotsTxtAllowed
	}) {
		lenient := *p
		lenient.RobotsTxtAllowed = true
		r.beside = robots.NewJudge(&lenient, agents)
	}
	r.file.KeepComments, r.file.JudgeOnly = e.config.KeepComments && k == 0, k > 0
	r.tokens = make([][]robots.TokenPolicy, len(r.agents))
	tokensOf := registry.PolicyTokens(e.config.Agents)
	for slot, i := range r.agents {
		for _, token := range tokensOf(&e.config.Agents[i]) {
			r.tokens[slot] = append(r.tokens[slot], registry.TokenPolicy(&token, r.judge.Policy(places[token.Name])))
		}
	}
}

// under returns the reading that judges an agent under profile k.
func (e *Evaluator) under(k, agent int) *reading { return &e.readings[e.columns[k].of[agent]] }

// face returns the reading that answers for profile k as a whole.
func (e *Evaluator) face(k int) *reading { return &e.readings[e.columns[k].face] }

// Segment writes the rows of a segment's targets to out, in their order. The
// counters it returns are valid until the next call. An error of targets ends it.
func (e *Evaluator) Segment(out *sink.Segment, targets iter.Seq2[*target.Target, error]) (*summary.Counts, error) {
	e.counts.Reset()
	if out.LabelCounts.Wanted() {
		e.counts.KeepHosts()
	}
	e.examples.Reset()
	e.note = note{}
	clear(e.bodies)
	for t, err := range targets {
		if err == nil {
			err = e.target(t, out)
		}
		if err != nil {
			return nil, err
		}
	}
	if out.Agents.Wanted() { // in segment 0 only
		if err := out.Agents.Write(e.config.Agents...); err != nil {
			return nil, err
		}
	}
	if err := out.Summary.Write(e.counts.Rows()...); err != nil {
		return nil, err
	}
	if err := e.counts.EachByLabel(
		func(rows []schema.LabelCount) error { return out.LabelCounts.Write(rows...) }); err != nil {
		return nil, err
	}
	if err := out.Examples.Write(e.examples.Rows()...); err != nil {
		return nil, err
	}
	var err error
	if out.Note, err = json.Marshal(e.note); err != nil {
		return nil, fmt.Errorf("the note of a segment: %w", err)
	}
	return e.counts, nil
}

// receive gives reading i a capture: the answer, and the content of the body that it
// judges.
func (e *Evaluator) receive(i int, c *fetch.Capture, facts answer.Facts, asks func(*reading) questions) {
	r := &e.readings[i]
	r.answer = r.profile.Answer(facts)
	body, cut := c.Read(r.answer)
	r.body = body
	q := asks(r)
	q.cut = cut
	e.read(i, body, q)
}

// target writes the rows of one target.
func (e *Evaluator) target(t *target.Target, out *sink.Segment) error {
	c := t.Capture
	counts := out.Summary.Wanted() || out.Examples.Wanted() || out.LabelCounts.Wanted()
	judging := counts || out.Policies.Wanted() || out.Verdicts.Wanted() || out.Coverage.Wanted()
	facts := c.Facts()
	for i := range e.readings {
		e.receive(i, c, facts, func(r *reading) questions {
			return questions{
				classes: i == 0 && out.Groups.Wanted(), judging: judging && r.answer.AsksRules(),
				versusFirst: judging && e.sameBody(r),
				parity: i == 0 && e.explainers != nil && !r.answer.Walled && r.answer.Outcome == answer.ConditionalAllow &&
					(judging || out.Lines.Wanted()),
			}
		})
	}
	first := &e.readings[0]
	row := e.fetchRow(t, &facts)
	e.sameHost = e.sameHost[:0]
	if first.body != nil && (counts || out.Sitemaps.Wanted()) {
		for i := range first.file.Sitemaps {
			e.sameHost = append(e.sameHost, isSameHost(&first.file.Sitemaps[i], row.Host))
		}
	}
	if err := out.Fetches.Write(row); err != nil {
		return err
	}
	if err := e.labels(t, &row, out); err != nil {
		return err
	}
	stratum := summary.StratumOf(row.Rank)
	isFile := first.body != nil && !first.answer.Walled
	if e.preferences = e.preferences[:0]; isFile && (counts || out.Preferences.Wanted()) {
		e.preferenceRows(&row, &first.file)
	}
	e.pageRows(&row, c.Front)
	var file *robots.File
	if isFile {
		file = &first.file
	}
	if err := e.documents(c, &row, file, out); err != nil {
		return err
	}
	if counts {
		e.count(&row, stratum)
		e.countDocuments(stratum)
	}
	if isFile {
		if err := e.content(&row, out); err != nil {
			return err
		}
	}
	if err := out.Preferences.Write(e.preferences...); err != nil {
		return err
	}
	if err := out.Preferences.Write(e.stated...); err != nil {
		return err
	}
	if digest := row.KeptDigest(); digest != nil && out.Bodies.Wanted() && !e.bodies[*digest] {
		e.bodies[*digest] = true
		kept := first.body
		switch {
		case kept != nil:
		case row.CopyTime != nil:
			kept = c.Copy.Body
		default:
			kept = c.Page()
		}
		if err := out.Bodies.Write(schema.Body{ContentDigest: *digest, Body: kept}); err != nil {
			return err
		}
	}
	if len(c.Also) > 0 {
		if err := e.answers(t, &row, stratum, counts, out); err != nil {
			return err
		}
	}
	if err := e.askedPages(t, &row, stratum, counts, out); err != nil {
		return err
	}
	pages := e.listedBy(t, &row)
	if pages != nil {
		if counts {
			e.countListed(pages, stratum)
		}
		if err := cmp.Or(out.SitemapFiles.Write(pages.Files...), out.URLs.Write(pages.URLs...)); err != nil {
			return err
		}
	}
	listed := e.samples.absolute[c.Origin]
	if len(listed) > 0 {
		e.note.Samples = append(e.note.Samples, listed[0].index)
	}
	if !judging {
		return nil
	}
	if err := e.judgements(&row, listed, t.Paths, stratum, out); err != nil || pages == nil {
		return err
	}
	return e.coverage(&row, pages, stratum, counts, out)
}
