package evaluate

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// content is what one profile finds in a file, for the agents that it judges. It holds
// nothing of the file's own memory but where it says so.
type content struct {
	of          []int32             // per agent that the reading judges: its policy, if asked for
	policies    []policy            // those that differ
	verdicts    []robots.Verdict    // per set of rules and path sample; nil if they are too many
	cited       []citation          // the rules of these verdicts, ascending
	versusFirst []robots.Difference // per agent, against the first profile; if asked for

	// Of the first reading:
	digest    string                     // of the body
	classes   []string                   // the classes of its groups, if asked for
	digests   []string                   // of its groups, if asked for
	templates []template.Match           // as are the words of the next
	wordsOf   []int32                    // per group: the template whose words it is, -1 for none
	parities  []parity                   // of the agents that it names, if asked for; lines stand in the body
	errors    []portable.LighthouseError // texts stand in the body
}

// citation is the cells of a rule.
type citation struct {
	rule    int32
	kind    robots.Kind
	line    int32
	pattern string
}

// policy is the policy of a file for one agent.
type policy struct {
	group      *string // the token whose group it follows
	line       *int32  // where the group begins
	match      robots.Match
	class      int
	versusStar robots.Relation // relation of its own group to the group for *
	crawlDelay *float64
	lead       int     // the first agent with the same rules
	judged     int32   // the place of these rules among those of content.verdicts
	template   *string // the template whose words its groups are
	shared     bool    // another agent has the same rules
	stances    robots.Stances
}

// questions select what to find out about a body besides its rows.
type questions struct {
	profile     int
	cut         bool // the body is not complete
	classes     bool // the classes of its groups
	judging     bool // the policies of the agents
	versusFirst bool // the comparison with the first profile
	parity      bool // the comparison with the parsers of the agents that it names
}

// contents remembers what readings find in a body, because most hosts use a template. The
// evaluators share it, and a content in it never changes.
//
// It has two generations. When the young one reaches its bound it becomes the old one, and
// the old one is dropped; a content that is found is young again.
type contents struct {
	mu         sync.Mutex
	young, old map[contentKey]*content
	weight     int // estimated bytes of the young generation
	most       int // its bound
}

// contentKey is a body and what is asked about it. The seeds of its hash are random, so that
// nobody can make bodies collide.
type contentKey struct {
	hash bodyHash
	questions
}

type bodyHash [2]uint64

var bodySeeds = [len(bodyHash{})]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

const (
	generationBytes = 8 << 20        // of one reading; twice that of several
	keptBytes       = 32 << 10       // a heavier content is not remembered
	keptVerdicts    = keptBytes >> 3 // nor more verdicts
)

func newContents(readings int) *contents {
	return &contents{young: make(map[contentKey]*content), most: min(readings, 2) * generationBytes}
}

// find returns a content, nil if it is not remembered.
func (k *contents) find(key contentKey) *content {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c := k.young[key]; c != nil {
		return c
	}
	c := k.old[key]
	if c != nil {
		k.add(key, c, c.weight())
	}
	return c
}

// keep remembers a content, unless it is too heavy.
func (k *contents) keep(key contentKey, c *content) {
	weight := c.weight()
	if weight > keptBytes {
		return
	}
	c = c.clone()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add(key, c, weight)
}

func (k *contents) add(key contentKey, c *content, weight int) {
	if k.weight += weight; k.weight > k.most {
		k.old, k.young, k.weight = k.young, make(map[contentKey]*content), weight
	}
	k.young[key] = c
}

// weight estimates the bytes that a content takes.
func (c *content) weight() int {
	n := 600 + 4*len(c.of) + 160*len(c.policies) + 8*len(c.verdicts) + len(c.versusFirst) + 96*len(c.digests) +
		48*len(c.templates) + 4*len(c.wordsOf)
	for i := range c.cited {
		n += 48 + len(c.cited[i].pattern)
	}
	for i := range c.errors {
		n += 48 + len(c.errors[i].Text)
	}
	return n + weightOf(c.parities)
}

// clone returns a content with memory of its own.
func (c *content) clone() *content {
	d := *c
	d.of, d.policies, d.verdicts = slices.Clone(c.of), slices.Clone(c.policies), slices.Clone(c.verdicts)
	d.cited, d.versusFirst = slices.Clone(c.cited), slices.Clone(c.versusFirst)
	d.classes, d.digests = slices.Clone(c.classes), slices.Clone(c.digests)
	d.parities, d.errors = cloneParities(c.parities), slices.Clone(c.errors)
	for i := range d.errors {
		d.errors[i].Text = bytes.Clone(d.errors[i].Text)
	}
	return &d
}

// read gives reading k a body, nil for none, and its content. The first reading parses
// the body, for the tables show it; others do where nothing remembered answers.
func (e *Evaluator) read(k int, body []byte, q questions) {
	r, first := &e.readings[k], &e.readings[0]
	r.body, r.cut, r.parsed, r.loaded, r.aside, q.profile = body, q.cut, false, false, false, k
	if k == 0 {
		r.parse()
	}
	if body == nil {
		r.content = &r.once
		e.examine(k, &r.once, q)
		return
	}
	if k == 0 || !same(body, first.body) {
		for i, seed := range bodySeeds {
			r.hash[i] = maphash.Bytes(seed, body)
		}
	} else {
		r.hash = first.hash
	}
	key := contentKey{r.hash, q}
	if r.content = e.contents.find(key); r.content == nil {
		r.content = &r.once
		e.examine(k, &r.once, q)
		e.contents.keep(key, &r.once)
	}
}

// examine finds out what is asked about the body of reading k.
func (e *Evaluator) examine(k int, c *content, q questions) {
	r := &e.readings[k]
	c.of, c.policies, c.cited = c.of[:0], c.policies[:0], c.cited[:0]
	c.verdicts, c.versusFirst = c.verdicts[:0], c.versusFirst[:0]
	c.classes, c.digests, c.parities, c.errors = c.classes[:0], c.digests[:0], c.parities[:0], c.errors[:0]
	c.digest, c.templates, c.wordsOf = "", nil, nil
	if k == 0 {
		c.errors = portable.LighthouseErrors(c.errors, r.file.Body())
		if r.body != nil {
			c.digest = schema.ContentDigest(r.body)
		}
	}
	if t := e.config.Templates; t != nil && (k == 0 || q.judging) {
		r.parse()
		c.templates, c.wordsOf = t.Find(&r.file)
	}
	if q.classes {
		r.load()
		for i := range r.file.Groups {
			c.digests = append(c.digests, r.file.GroupDigest(i))
			class := summary.ClassEmpty
			if r.file.Groups[i].Rules.Len() > 0 {
				class = r.judge.GroupClass(&r.file, i).String()
			}
			c.classes = append(c.classes, class)
		}
	}
	if q.judging {
		r.load()
		e.findPolicies(r, c)
		r.compareWithStar(c)
		e.judgePaths(k, c)
	}
	if q.parity {
		c.parities = e.parities(c.parities, &r.file, r.body, q.cut)
	}
	if q.versusFirst {
		c.versusFirst = e.compareWithFirst(c.versusFirst, k)
	}
	if k > 0 {
		c.templates, c.wordsOf = nil, nil
	}
}

// findPolicies finds the policies of the agents that a reading judges. Most agents have that
// of the first one with the same rules.
func (e *Evaluator) findPolicies(r *reading, c *content) {
	sets := int32(0)
	for slot := range r.agents {
		p := r.judge.Policy(slot)
		entry := policy{match: p.Match, lead: r.agents[p.SameAs], judged: sets, template: c.templateOf(p)}
		var lead *policy
		if p.SameAs < slot {
			lead = &c.policies[c.of[p.SameAs]]
			lead.shared, entry.shared, entry.class, entry.judged = true, true, lead.class, lead.judged
		} else {
			entry.class = int(p.Class())
			sets++
		}
		entry.stances = p.Stances(e.config.Labels, r.tokens[slot]...)
		if lead != nil && lead.says(&entry, p) {
			c.of = append(c.of, c.of[p.SameAs])
			continue
		}
		if p.HasCrawlDelay {
			entry.crawlDelay = new(p.CrawlDelay)
		}
		entry.group, entry.line = schema.NonZero(p.GroupAgent), schema.NonZero(p.GroupLine)
		c.of, c.policies = append(c.of, int32(len(c.policies))), append(c.policies, entry)
	}
}

// says reports whether a policy has the cells of another one with the same rules, and of the
// agent's policy in the file.
func (p *policy) says(other *policy, of *robots.Policy) bool {
	return p.match == other.match && schema.OrZero(p.group) == of.GroupAgent && schema.OrZero(p.line) == of.GroupLine &&
		(p.crawlDelay != nil) == of.HasCrawlDelay && schema.OrZero(p.crawlDelay) == of.CrawlDelay &&
		equal(p.template, other.template) && p.stances == other.stances
}

func equal[V comparable](a, b *V) bool { return a == b || a != nil && b != nil && *a == *b }

// judgePaths finds the verdicts of each set of rules on the paths for all hosts.
func (e *Evaluator) judgePaths(k int, c *content) {
	r, paths := &e.readings[k], e.samples.paths
	sets := int32(0)
	for i := range c.policies {
		sets = max(sets, c.policies[i].judged+1)
	}
	if int(sets)*len(paths) > keptVerdicts {
		return
	}
	judged := int32(0)
	for i := range c.policies {
		if c.policies[i].judged < judged {
			continue
		}
		judged++
		p := r.policy(c.policies[i].lead)
		for s := range paths {
			v := p.Judge(&paths[s].targets[k])
			c.verdicts = append(c.verdicts, v)
			if at, known := slices.BinarySearchFunc(c.cited, v.Rule, byRule); v.Rule >= 0 && !known {
				rule := &r.file.Rules[v.Rule]
				c.cited = slices.Insert(c.cited, at, citation{v.Rule, rule.Kind, rule.Line, schema.Text(rule.Pattern)})
			}
		}
	}
}

func byRule(c citation, rule int32) int { return cmp.Compare(c.rule, rule) }

// found returns the policy of an agent that the reading judges.
func (r *reading) found(agent int) *policy { return &r.content.policies[r.content.of[r.slots[agent]]] }

// parse parses the body for questions that the content does not answer.
func (r *reading) parse() {
	if r.parsed {
		return
	}
	r.parsed, r.file.Cut, r.patterns = true, r.cut, r.patterns[:0]
	r.file.ParseBeside(r.first, r.body, r.profile)
}

// texts returns the patterns of the rules, as text.
func (r *reading) texts() []string {
	r.parse()
	for i := len(r.patterns); i < len(r.file.Rules); i++ {
		r.patterns = append(r.patterns, schema.Text(r.file.Rules[i].Pattern))
	}
	return r.patterns
}

// cells returns the kind, the pattern and the line of a rule. They are valid until the next
// body.
func (r *reading) cells(rule int32) (kind, pattern *string, line *int32) {
	if i, ok := slices.BinarySearchFunc(r.content.cited, rule, byRule); ok {
		c := &r.content.cited[i]
		return &kindNames[c.kind], &c.pattern, &c.line
	}
	pattern = &r.texts()[rule]
	return &kindNames[r.file.Rules[rule].Kind], pattern, &r.file.Rules[rule].Line
}

// load gives the judge the file, for questions that the content does not answer.
func (r *reading) load() {
	if !r.loaded {
		r.parse()
		r.judge.Load(&r.file)
		r.loaded = true
	}
}
