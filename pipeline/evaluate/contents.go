package evaluate

import (
	"bytes"
	"hash/maphash"
	"sync"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/lighthouse"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// content is a file as one profile reads it, with its policies for the agents.
type content struct {
	file        robots.File
	patterns    []string // the patterns of its rules, as text
	classes     []string // the classes of its groups, if asked for
	digests     []string // of its groups, if asked for
	templates   []template.Match
	wordsOf     []int32             // per group: the template whose words it is, -1 for none
	policies    []policy            // per agent, if asked for; zero for agents that the reading does not judge
	versusFirst []robots.Difference // per agent, against the first profile; if asked for
	parities    []parity            // of the agents that it names, if asked for
	errors      []lighthouse.Error  // of the first reading

	// Only cached contents have these:
	body     []byte
	asked    questions
	digest   string
	verdicts []robots.Verdict // per agent that it judges and path sample; nil if they are too many to cache
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

// contents caches parsed bodies, because most hosts use a template. The
// evaluators share it, and a cached content never changes.
//
// The cache has two generations. When the young one reaches generationBytes it
// becomes the old one, and the old one is dropped; a hit moves a content to the
// young one. A body is cached on its second appearance within about a thousand
// others: rare bodies cost no memory, and parsing one again in warm memory is as
// fast as finding it in cold memory.
type contents struct {
	mu         sync.Mutex
	young, old map[uint64]*content
	weight     int               // estimated bytes of the young generation
	met        [metBodies]uint64 // hashes of recent bodies
}

const (
	generationBytes = 4 << 20
	keptBytes       = generationBytes / 128 // a heavier content is not cached
	keptVerdicts    = 8192
	metBodies       = 1 << 10
)

// bodySeed is random, so that nobody can make bodies collide.
var bodySeed = maphash.MakeSeed()

func newContents() *contents {
	return &contents{young: make(map[uint64]*content)}
}

// find returns the content of a body, nil if it is not cached, and reports whether
// the body occurred before.
func (k *contents) find(hash uint64, body []byte, q questions) (c *content, met bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	is := func(c *content) bool { return c != nil && c.asked == q && bytes.Equal(c.body, body) }
	if c := k.young[hash]; is(c) {
		return c, true
	}
	if c := k.old[hash]; is(c) {
		k.add(hash, c)
		return c, true
	}
	slot := &k.met[hash%metBodies]
	met = *slot == hash
	*slot = hash
	return nil, met
}

func (k *contents) keep(hash uint64, c *content) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.add(hash, c)
}

func (k *contents) add(hash uint64, c *content) {
	k.young[hash] = c
	if k.weight += c.weight(); k.weight > generationBytes {
		k.old, k.young, k.weight = k.young, make(map[uint64]*content), 0
	}
}

// weight estimates the bytes that a content takes.
func (c *content) weight() int {
	f := &c.file
	parts := len(f.Groups) + len(f.Agents) + len(f.Rules) + len(f.Sitemaps) + len(f.Remarks) + len(f.Signals) + len(
		f.Usages) + len(c.errors)
	return 1024 + 3*len(c.body) + 120*parts + 48*len(c.policies) + 8*len(c.verdicts)
}

// read gives reading k the content of a body, nil for none: from the cache, or
// parsed anew.
func (e *Evaluator) read(k int, body []byte, q questions) {
	r := &e.readings[k]
	r.body, r.loaded, r.aside, q.profile = body, nil, nil, k
	paths := e.samples.paths
	hash, met := uint64(0), false
	if body != nil && len(body) <= keptBytes/8 {
		hash = maphash.Bytes(bodySeed, body) + uint64(k)
		if r.content, met = e.contents.find(hash, body, q); r.content != nil {
			return
		}
	}
	c := &r.once
	if met {
		body = bytes.Clone(body) // the file's lines point into it
		c = &content{body: body, asked: q, digest: schema.ContentDigest(body)}
	}
	r.content = c
	c.file.KeepComments, c.file.Cut = e.config.KeepComments, q.cut
	c.file.Parse(body, r.profile)
	if c.errors = c.errors[:0]; k == 0 {
		c.errors = lighthouse.Errors(c.errors, c.file.Body())
	}
	c.patterns = c.patterns[:0]
	for i := range c.file.Rules {
		c.patterns = append(c.patterns, schema.Text(c.file.Rules[i].Pattern))
	}
	c.templates, c.wordsOf = nil, nil
	if t := e.config.Templates; t != nil {
		c.templates, c.wordsOf = t.Find(&c.file)
	}
	c.classes, c.policies = c.classes[:0], c.policies[:0]
	if c.digests = c.digests[:0]; q.classes {
		r.load()
		for i := range c.file.Groups {
			c.digests = append(c.digests, c.file.GroupDigest(i))
			class := summary.ClassEmpty
			if c.file.Groups[i].Rules.Len() > 0 {
				class = r.judge.GroupClass(&c.file, i).String()
			}
			c.classes = append(c.classes, class)
		}
	}
	if q.judging {
		r.load()
		c.policies = append(c.policies, make([]policy, len(e.config.Agents))...)
		var last policy // most agents follow the group of the one before, so its cells serve
		for slot, i := range r.agents {
			p := r.judge.Policy(slot)
			entry := policy{group: last.group, line: last.line, match: p.Match, lead: r.agents[p.SameAs],
				template: c.templateOf(p)}
			if last.group == nil || last.line == nil || *last.group != p.GroupAgent || *last.line != p.GroupLine {
				entry.group, entry.line = schema.NonZero(p.GroupAgent), schema.NonZero(p.GroupLine)
			}
			if p.SameAs < slot {
				lead := &c.policies[entry.lead]
				lead.shared, entry.shared, entry.class = true, true, lead.class
			} else {
				entry.class = int(p.Class())
			}
			entry.stances = p.Stances(e.config.Labels, r.tokens[slot]...)
			if p.HasCrawlDelay {
				entry.crawlDelay = new(p.CrawlDelay)
			}
			c.policies[i], last = entry, entry
		}
		r.compareWithStar(c.policies)
	}
	if c.parities = c.parities[:0]; q.parity {
		c.parities = e.parities(c.parities, &c.file, body, q.cut)
	}
	c.versusFirst = c.versusFirst[:0]
	if q.versusFirst {
		c.versusFirst = e.compareWithFirst(c.versusFirst, k)
	}
	if !met {
		return
	}
	if n := len(r.agents) * len(paths); q.judging && n <= keptVerdicts {
		c.verdicts = make([]robots.Verdict, 0, n)
		for slot, i := range r.agents {
			if lead := c.policies[i].lead; lead < i {
				from := r.slots[lead] * len(paths)
				c.verdicts = append(c.verdicts, c.verdicts[from:from+len(paths)]...)
				continue
			}
			for s := range paths {
				c.verdicts = append(c.verdicts, r.judge.Policy(slot).Judge(&paths[s].targets[k]))
			}
		}
	}
	if c.weight() <= keptBytes {
		e.contents.keep(hash, c)
	}
}

// load gives the judge the file, for questions that the content does not answer.
func (r *reading) load() {
	if r.loaded != r.content {
		r.judge.Load(&r.content.file)
		r.loaded = r.content
	}
}
