package evaluate

import (
	"bytes"
	"hash/maphash"
	"sync"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/summary"
)

// content is a file as one profile reads it, and what it says to the agents.
type content struct {
	file     robots.File
	patterns []string  // of the file's rules, as text
	classes  []string  // of its groups, where they are wanted
	policies []policy  // by agent, where the file decides
	partings []parting // by agent, from the first profile

	// Of contents that are kept:
	body     []byte
	asked    questions
	digest   string
	verdicts []robots.Verdict // by agent and path of the run's samples; nil if they are too many to be kept
}

// policy is what a file says to one agent.
type policy struct {
	group      *string // whose group it follows
	line       *int32  // where that group begins
	match      robots.Match
	class      int
	versusStar robots.Relation // of a group of its own
	crawlDelay *float64
	lead       int  // the first agent whose rules are the same
	shared     bool // by another agent
}

// questions are what a reading of a file was asked besides its rows.
type questions struct {
	profile int
	cut     bool // more followed the body than is kept
	classes bool // of groups
	judging bool // of agents
	parting bool // from the first profile
}

// contents keep what files say that were met before: templates are most of the
// web. They are shared by the evaluators, and nobody changes one.
//
// Those met since there was as much as generationBytes are young, those of the
// generation before are old, and become young when they are met again. A body
// is kept when it is met for the second time within a thousand others or so:
// what is met once, or seldom, costs no memory, and to read it again where the
// memory is warm takes no longer than to look it up where it is cold.
type contents struct {
	mu         sync.Mutex
	young, old map[uint64]*content
	weight     int               // of the young
	met        [metBodies]uint64 // hashes of bodies that were met lately
}

const (
	generationBytes = 4 << 20
	keptBytes       = generationBytes / 128 // a heavier one is not kept
	keptVerdicts    = 8192
	metBodies       = 1 << 10
)

// bodySeed is this process's own, so that nobody can make bodies collide.
var bodySeed = maphash.MakeSeed()

func newContents() *contents {
	return &contents{young: make(map[uint64]*content)}
}

// find returns the content of a body, nil if it is not kept, and whether the
// body was met before.
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

// weight is about how many bytes a content takes.
func (c *content) weight() int {
	f := &c.file
	parts := len(f.Groups) + len(f.Agents) + len(f.Rules) + len(f.Sitemaps) + len(f.Remarks) + len(f.Signals)
	return 1024 + 3*len(c.body) + 120*parts + 48*len(c.policies) + 8*len(c.verdicts)
}

// read has the content of reading k be that of a body, nil for none.
func (e *Evaluator) read(k int, body []byte, q questions) {
	r := &e.readings[k]
	r.body, r.loaded, q.profile = body, nil, k
	agents, paths := len(e.config.Agents), e.samples.paths
	hash, met := uint64(0), false
	if body != nil && len(body) <= keptBytes/8 {
		hash = maphash.Bytes(bodySeed, body) + uint64(k)
		if r.content, met = e.contents.find(hash, body, q); r.content != nil {
			return
		}
	}
	c := &r.once
	if met {
		body = bytes.Clone(body) // which the file's lines point into
		c = &content{body: body, asked: q, digest: digestOf(body)}
	}
	r.content = c
	c.file.KeepComments, c.file.Cut = e.config.KeepComments, q.cut
	c.file.Parse(body, r.profile)
	c.patterns = c.patterns[:0]
	for i := range c.file.Rules {
		c.patterns = append(c.patterns, sink.Text(c.file.Rules[i].Pattern))
	}
	c.classes, c.policies = c.classes[:0], c.policies[:0]
	if q.classes {
		r.load()
		for i := range c.file.Groups {
			class := summary.ClassEmpty
			if c.file.Groups[i].Rules.Len() > 0 {
				class = r.judge.GroupClass(&c.file, i).String()
			}
			c.classes = append(c.classes, class)
		}
	}
	if q.judging {
		r.load()
		for i := range agents {
			p := r.judge.Policy(i)
			told := policy{group: sink.NonZero(p.GroupAgent), line: sink.NonZero(p.GroupLine), match: p.Match, lead: p.SameAs}
			if p.SameAs < i {
				lead := &c.policies[p.SameAs]
				lead.shared, told.shared, told.class = true, true, lead.class
			} else {
				told.class = int(p.Class())
			}
			if p.HasCrawlDelay {
				told.crawlDelay = sink.Some(p.CrawlDelay)
			}
			c.policies = append(c.policies, told)
		}
		r.compareWithStar(c.policies)
	}
	c.partings = c.partings[:0]
	if q.parting {
		c.partings = e.part(c.partings, k)
	}
	if !met {
		return
	}
	if n := agents * len(paths); q.judging && n <= keptVerdicts {
		c.verdicts = make([]robots.Verdict, 0, n)
		for i := range agents {
			if lead := c.policies[i].lead; lead < i {
				from := lead * len(paths)
				c.verdicts = append(c.verdicts, c.verdicts[from:from+len(paths)]...)
				continue
			}
			for s := range paths {
				c.verdicts = append(c.verdicts, r.judge.Policy(i).Judge(&paths[s].targets[k]))
			}
		}
	}
	if c.weight() <= keptBytes {
		e.contents.keep(hash, c)
	}
}

// load has the judge know the file, to ask it more than the content tells.
func (r *reading) load() {
	if r.loaded != r.content {
		r.judge.Load(&r.content.file)
		r.loaded = r.content
	}
}
