package expect

import (
	"cmp"
	"context"
	"slices"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// hosts finds the targets of a segment that expectations of the run cover, by the table
// that shows their rows, and those of them that a wall kept from being read; and checks
// that hosts are reachable. A table is nil if the run does not say which targets it has.
func (c *Checker) hosts(ctx context.Context, in store.Store, fetches []journal.Part) (map[string][]int64, error) {
	targets := make(map[string][]int64)
	clear(c.walled)
	clear(c.refusing)
	clear(c.listed)
	var meant []int
	for _, table := range []string{"fetches", "policies", "verdicts", "answers", "coverage", "rules"} {
		of := c.meant(table)
		if meant = append(meant, of...); len(of) > 0 && len(fetches) > 0 {
			targets[table] = []int64{}
		}
	}
	if len(meant) == 0 {
		return targets, nil
	}
	what := rowio.Selection{Columns: []string{"seq", "host", "reason", "status", "challenge"}}
	err := rowio.Of(ctx, in, fetches, what, func(batch []schema.Fetch) error {
		for i := range batch {
			t := &batch[i]
			walled := t.Challenge != nil
			for _, k := range meant {
				table := c.expectations.list[k].table()
				if !c.saw(k, t.Host, covered) {
					continue
				}
				c.promises[k].Hosts++
				if walled {
					c.walled[t.Seq] = true
				} else if status := schema.OrZero(t.Status); status == 401 || status == 403 {
					c.refusing[t.Seq] = true
				}
				if of := targets[table]; len(of) == 0 || of[len(of)-1] != t.Seq {
					targets[table] = append(of, t.Seq)
				}
				if table == "fetches" {
					c.reachable(k, t.Host, answer.Shown(answer.Reason(t.Reason), walled))
				}
			}
		}
		return nil
	})
	for _, of := range targets {
		slices.Sort(of)
	}
	return targets, err
}

// reachable checks that a host is reachable.
func (c *Checker) reachable(k int, host string, shown answer.Reason) {
	c.saw(k, host, checked)
	c.promises[k].Checked++
	if !shown.Evidence().IsCurrent() {
		c.breach(k, Breach{Host: host, Found: string(shown)})
	}
}

// part checks the expectations of one part of policies, verdicts, answers or coverage. targets are those
// that expectations cover, nil if that is not known.
func (c *Checker) part(ctx context.Context, in store.Store, p journal.Part, targets []int64) error {
	meant := c.meant(p.Table)
	if len(meant) == 0 || targets != nil && len(targets) == 0 {
		return nil
	}
	of := rowio.Selection{Columns: checkedColumns[p.Table]}
	if targets != nil {
		of.Wanted = rowio.Within(targets)
	}
	s, parts := new(selection), []journal.Part{p}
	switch p.Table {
	case "policies":
		return rowio.Of(ctx, in, parts, of, func(batch []schema.Policy) error { c.policies(s, meant, batch); return nil })
	case "verdicts":
		return rowio.Of(ctx, in, parts, of, func(batch []schema.Verdict) error { c.verdicts(s, meant, batch); return nil })
	case "answers":
		return rowio.Of(ctx, in, parts, of, func(batch []schema.Answer) error { c.answers(s, meant, batch); return nil })
	case "coverage":
		return rowio.Of(ctx, in, parts, of, func(batch []schema.Coverage) error { c.ofPages(s, meant, batch); return nil })
	}
	return nil
}

// checkedColumns are the columns that are checked of a table.
var checkedColumns = map[string][]string{
	"policies": {"seq", "host", "agent", "category", "profile", "class", "group_line", "ai_train", "ai_input", "search"},
	"verdicts": {"seq", "host", "agent", "profile", "url", "verdict", "reason", "rule_line"},
	"answers": {"seq", "host", "identity", "path", "agent", "status", "challenge", "policy", "first_difference",
		"treatment", "is_control", "verdict", "price"},
	ofCoverage: {"seq", "host", "agent", "category", "profile", "class", "listed", "sampled", "allowed", "undefined",
		"rule_line", "example"},
}

// A selection says which expectations cover the target of a row. It lasts from one batch
// of a part to the next.
type selection struct {
	begun bool
	seq   int64
	of    []int
	known map[int]seen // by expectation: what its rows said so far
	hid   map[int]bool // by expectation: what the target says is not known

	control string // what the control met on a page, "" if it was not asked
}

// at returns the expectations of meant that cover a target.
func (s *selection) at(c *Checker, meant []int, seq int64, host string) []int {
	if !s.begun || s.seq != seq {
		s.begun, s.seq, s.of, s.known, s.hid = true, seq, s.of[:0], make(map[int]seen), make(map[int]bool)
		s.control = ""
		for _, k := range meant {
			if c.saw(k, host, covered) {
				s.of = append(s.of, k)
			}
		}
	}
	return s.of
}

// checked records that a row of a target was checked.
func (s *selection) checked(c *Checker, k int, host string) {
	c.promises[k].Checked++
	if s.known[k] != checked {
		s.known[k] = checked
		c.saw(k, host, checked)
	}
}

// unknown records that a row of a target does not say what the host does.
func (s *selection) unknown(c *Checker, k int) {
	p := c.promises[k]
	s.hide(p, k, p.outageOr(c.walled[s.seq]))
}

// hide counts such a row among those that by hides.
func (s *selection) hide(p *Promise, k int, by *hidden) {
	p.hide(!s.hid[k], by)
	s.hid[k] = true
}

// stance returns what the policy states about a use, "" for nothing.
func stance(p *schema.Policy, use string) string {
	switch registry.StanceColumns[use] {
	case "ai_train":
		return schema.OrZero(p.AITrain)
	case "ai_input":
		return schema.OrZero(p.AIInput)
	case "search":
		return schema.OrZero(p.Search)
	}
	return ""
}

// policies checks classes, and what is stated about uses. It counts unknown ones separately, because neither an
// outage nor a wall is a policy.
func (c *Checker) policies(s *selection, meant []int, batch []schema.Policy) {
	for i := range batch {
		p := &batch[i]
		for _, k := range s.at(c, meant, p.Seq, p.Host) {
			x := c.expectations.list[k]
			if !x.isOf(p.Agent, p.Category) || !x.Profile.has(p.Profile) {
				continue
			}
			if p.Class == summary.ClassNames[summary.ClassUnknown] {
				s.unknown(c, k)
				continue
			}
			breach := func(found string) {
				c.breach(k, Breach{Host: p.Host, Agent: new(p.Agent), Profile: new(p.Profile), Found: found, Line: p.GroupLine})
			}
			if x.what != "preference" {
				if s.checked(c, k, p.Host); !x.Class.has(p.Class) {
					breach(p.Class)
				}
				continue
			}
			for _, use := range x.Use {
				has := cmp.Or(stance(p, use), noPreference)
				if p.Class == summary.ClassNames[robots.DisallowAll] {
					has = shutOut
				}
				if s.checked(c, k, p.Host); !x.Preference.has(has) {
					breach(use + ": " + has)
				}
			}
		}
	}
}

// verdicts checks single verdicts. Behind a wall, none is known; in an outage a verdict says what a
// crawler does for now, and nothing of what the host wants. A host that refuses does say so, under
// profiles that take a 401 or 403 for it.
func (c *Checker) verdicts(s *selection, meant []int, batch []schema.Verdict) {
	categories := make(map[string]string)
	for _, a := range c.agents {
		categories[a.Name] = a.Category
	}
	for i := range batch {
		v := &batch[i]
		for _, k := range s.at(c, meant, v.Seq, v.Host) {
			x := c.expectations.list[k]
			if !slices.Contains(x.URLs, v.URL) || !x.isOf(v.Agent, categories[v.Agent]) || !x.Profile.has(v.Profile) {
				continue
			}
			c.sawURL(k, v.URL)
			isOutage := v.Reason == string(answer.FullDisallow) && !c.refusing[v.Seq] || v.Reason == string(answer.Undefined)
			if c.walled[v.Seq] || isOutage {
				s.unknown(c, k)
				continue
			}
			s.checked(c, k, v.Host)
			if v.Verdict != x.Verdict {
				c.breach(k, Breach{Host: v.Host, Agent: new(v.Agent), Profile: new(v.Profile), URL: new(v.URL), Found: v.Verdict +
					" by " + v.Reason, Line: v.RuleLine})
			}
		}
	}
}
