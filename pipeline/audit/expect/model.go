package expect

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/audit/meaning"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Keys of expectations that compare the rules of hosts with a model by meaning.
const (
	atLeastAsStrict = "at_least_as_strict_as"
	atMostAsStrict  = "at_most_as_strict_as"
)

// isOfModel reports whether the expectation compares hosts with a model.
func (x *expectation) isOfModel() bool { return x.what == atLeastAsStrict || x.what == atMostAsStrict }

// modelPath returns the path of the model, which is relative to the file of
// expectations.
func (x *expectation) modelPath(expectations string) string {
	name := x.AtLeastAsStrict + x.AtMostAsStrict // one of them
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(expectations), name)
}

// modelTables returns the tables that hold what a profile reads in a file.
func modelTables(p *robots.Profile) []string {
	if meaning.ReadsTables(p) {
		return []string{"groups", "rules"}
	}
	return []string{"bodies"}
}

// noModels says why hosts cannot be compared with models under a run's first profile, "" if
// they can.
func noModels(first *robots.Profile) string {
	if first.ByAgent {
		return "models are compared under the first profile, and own judges agents by different ones: put one of them first"
	}
	return ""
}

// checkModel checks, before the profile and the agents are known, that a host can fall
// short of the model.
func (x *expectation) checkModel() error {
	google, _ := robots.ProfileNamed(robots.ProfileNames()[0])
	f := meaning.Parse(google, x.model)
	if x.what == atLeastAsStrict &&
		!slices.ContainsFunc(f.Rules, func(r robots.Rule) bool { return r.Kind == robots.Disallow && r.Effective }) {
		return fmt.Errorf("%s: the model %s forbids nothing, so no host falls short of it", x.what, x.AtLeastAsStrict)
	}
	return nil
}

// modelCheck compares the hosts of a run with models.
type modelCheck struct {
	profile *robots.Profile // the run's first
	tables  bool            // groups and rules hold its reading
	judged  *robots.Profile // profile, without its size limit if tables is set
	agents  []robots.Agent
	models  map[int]*meaning.File // by expectation
	binds   map[int][]bool        // by expectation, then agent: a host can break it for the agent
	empty   *meaning.File
}

// newModelCheck prepares the comparison with models under a profile.
func newModelCheck(p *robots.Profile, agents []schema.Agent) *modelCheck {
	m := &modelCheck{profile: p, judged: p, tables: meaning.ReadsTables(p), models: make(map[int]*meaning.File),
		binds: make(map[int][]bool)}
	if m.tables {
		m.judged = meaning.WithoutLimit(p)
	}
	for i := range agents {
		m.agents = append(m.agents, registry.Robots(&agents[i]))
	}
	m.empty = m.read(nil)
	return m
}

// lacksModel returns what a run lacks to compare its hosts with the model of expectation
// k, "" for nothing.
func (c *Checker) lacksModel(m *journal.Manifest, k int) string {
	if len(m.Profiles) == 0 {
		return fmt.Sprintf("run %s names no profile", m.Run)
	}
	p, err := past.Profile(m, m.Profiles[0])
	if err != nil {
		return err.Error()
	}
	if why := noModels(p); why != "" {
		return why
	}
	for _, table := range modelTables(p) {
		if !slices.Contains(m.Tables, table) {
			return fmt.Sprintf("run %s has no table %s, by which rules are compared under %s", m.Run, table, p.Name)
		}
	}
	if !slices.ContainsFunc(c.agents, func(a schema.Agent) bool { return len(a.Tokens) > 0 }) {
		return fmt.Sprintf("run %s has no table agents, which has the tokens of agents", m.Run)
	}
	if c.model == nil {
		c.model = newModelCheck(p, c.agents)
	}
	x := c.expectations.list[k]
	c.model.models[k] = c.model.read(x.model)
	c.model.binds[k] = x.bound(c.model.models[k], c.agents)
	return c.model.cannotBreak(x, c.model.binds[k])
}

// bound says for each agent whether a host can break the expectation for it: the model
// forbids it something, or allows it something. Other agents are not checked, for nothing
// could be found out about them.
func (x *expectation) bound(model *meaning.File, agents []schema.Agent) []bool {
	none := robots.AllowAll
	if x.what == atMostAsStrict {
		none = robots.DisallowAll
	}
	out := make([]bool, len(agents))
	for i, a := range agents {
		out[i] = x.isOf(a.Name, a.Category) && model.Policy(i).Class() != none
	}
	return out
}

// cannotBreak says why no host can break the expectation, "" if one can.
func (m *modelCheck) cannotBreak(x *expectation, bound []bool) string {
	if slices.Contains(bound, true) {
		return ""
	}
	does := map[string]string{atLeastAsStrict: "forbids", atMostAsStrict: "allows"}[x.what]
	return fmt.Sprintf("the model %s%s %s nothing to any of its agents under %s", x.AtLeastAsStrict, x.AtMostAsStrict,
		does, m.profile.Name)
}

// read parses a body and finds its policies for the agents.
func (m *modelCheck) read(body []byte) *meaning.File {
	f := meaning.Parse(m.judged, body[:min(len(body), m.profile.SizeLimit)])
	f.Ask(m.judged, m.agents)
	return f
}

// A modelTarget is a target of a segment that is compared with models.
type modelTarget struct {
	host   string
	policy answer.Outcome // undefined where a wall kept the host from being read
	walled bool
	of     []int // indices of expectations
}

// isKnown reports whether the target has a policy.
func (t *modelTarget) isKnown() bool {
	return t.policy == answer.FullAllow || t.policy == answer.ConditionalAllow
}

// ofModels checks the targets of a segment against models.
func (c *Checker) ofModels(ctx context.Context, in store.Store, parts map[string][]journal.Part) error {
	meant := slices.DeleteFunc(c.meant("rules"), func(k int) bool { return !c.expectations.list[k].isOfModel() })
	if len(meant) == 0 {
		return nil
	}
	var targets []modelTarget
	var list []records.Wanted
	what := rowio.Selection{Columns: []string{"seq", "host", "outcome", "content_digest", "challenge"}}
	err := rowio.Of(ctx, in, parts["fetches"], what, func(batch []schema.Fetch) error {
		for i := range batch {
			row := &batch[i]
			t := modelTarget{host: row.Host, policy: answer.Undefined, walled: row.Challenge != nil}
			for _, k := range meant {
				if c.expectations.list[k].matches(t.host) {
					t.of = append(t.of, k)
				}
			}
			if len(t.of) == 0 {
				continue
			}
			if !t.walled {
				t.policy = answer.Outcome(row.Outcome)
			}
			if t.policy == answer.ConditionalAllow {
				list = append(list, records.Wanted{Seq: row.Seq, N: int64(len(targets)), Digest: schema.OrZero(row.ContentDigest)})
			}
			targets = append(targets, t)
		}
		return nil
	})
	if err != nil || len(targets) == 0 {
		return err
	}
	found := &store.Sorter{Scratch: c.scratch, Memory: store.SortMemory}
	defer found.Close()
	for _, table := range modelTables(c.model.profile) {
		if table == "bodies" {
			if err := records.ReadBodies(ctx, in, parts[table], list, found); err != nil {
				return err
			}
			continue
		}
		as := records.Rules
		if table == "groups" {
			as = records.Groups
		}
		for _, p := range parts[table] {
			if err := records.Read(ctx, in, p, as, list, new(records.Names), found); err != nil {
				return err
			}
		}
	}
	rows, err := records.NewFound(found)
	if err != nil {
		return err
	}
	for i := range targets {
		if err := ctx.Err(); err != nil {
			return err
		}
		of, err := rows.Take(int64(i))
		if err != nil {
			return err
		}
		c.ofModel(&targets[i], &of)
	}
	return nil
}

// ofModel compares one target with its models. An answer that allows everything is a
// policy; an outage is not, nor a wall.
func (c *Checker) ofModel(t *modelTarget, rows *records.Rows) {
	m := c.model
	var file *meaning.File
	switch {
	case t.policy == answer.FullAllow:
		file = m.empty
	case !t.isKnown():
	case len(rows[records.Bodies]) > 0:
		file = m.read(rows[records.Bodies][1:])
	case m.tables:
		if file = meaning.FromTables(m.profile, m.judged, rows[records.Groups], rows[records.Rules]); file != nil {
			file.Ask(m.judged, m.agents)
		}
	}
	for _, k := range t.of {
		p := c.promises[k]
		hid := false
		pairs := meaning.NewPairs(m.judged, m.models[k], file)
		for i := range c.agents {
			agent := &c.agents[i]
			switch {
			case !m.binds[k][i]:
				continue
			case !t.isKnown():
				p.hide(!hid, p.outageOr(t.walled))
				hid = true
				continue
			}
			p.Checked++
			c.saw(k, t.host, checked)
			if file == nil {
				p.Undecided++
				continue
			}
			c.compared(k, t, agent.Name, pairs.Of(i), m.models[k], file)
		}
	}
}

// compared checks the comparison of a host with its model for one agent.
func (c *Checker) compared(k int, t *modelTarget, agent string, x robots.Comparison, model, file *meaning.File) {
	breach, fine := x.Opens, robots.Stricter
	if c.expectations.list[k].what == atMostAsStrict {
		breach, fine = x.Closes, robots.Looser
	}
	switch {
	case breach == nil && (x.Relation == robots.Equal || x.Relation == fine):
		return
	case breach == nil:
		c.promises[k].Undecided++
		return
	}
	found := fmt.Sprintf("%v, and the model %v", breach.B.Value, breach.A.Value)
	if line := model.LineOf(breach.A); line != nil {
		found += fmt.Sprintf(" (line %d)", *line)
	}
	path := breach.Path
	c.breach(k, Breach{Host: t.host, Agent: &agent, Profile: &c.model.profile.Name, URL: &path, Found: found,
		Line: file.LineOf(breach.B)})
}
