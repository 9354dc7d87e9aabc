package expect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

// hosts finds the targets of a segment that expectations of the run cover, by the table
// that shows their rows, and those of them that a wall kept from being read; and checks
// that hosts are reachable. A table is nil if the run does not say which targets it has.
func (c *Checker) hosts(ctx context.Context, in store.Store, fetches []journal.Part) (map[string][]int64, error) {
	targets := make(map[string][]int64)
	clear(c.walled)
	var meant []int
	for _, table := range []string{"fetches", "policies", "verdicts", "answers", "rules"} {
		of := c.meant(table)
		if meant = append(meant, of...); len(of) > 0 && len(fetches) > 0 {
			targets[table] = []int64{}
		}
	}
	if len(meant) == 0 {
		return targets, nil
	}
	err := scan.AllRows(ctx, in, fetches, scan.Selection{Columns: []string{"seq", "host", "reason"}, Optional: []string{scan.WallColumn}}, func(batch arrow.RecordBatch) error {
		seq := scan.Column[*array.Int64](batch, "seq")
		host, reason := scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "reason")
		walled := scan.Walled(batch)
		for i := range seq.Len() {
			for _, k := range meant {
				table, name := c.expectations.list[k].table(), host.Value(i)
				if !c.saw(k, name, covered) {
					continue
				}
				c.promises[k].Hosts++
				if walled(i) {
					c.walled[seq.Value(i)] = true
				}
				if of := targets[table]; len(of) == 0 || of[len(of)-1] != seq.Value(i) {
					targets[table] = append(of, seq.Value(i))
				}
				if table == "fetches" {
					c.reachable(k, name, answer.Shown(answer.Reason(reason.Value(i)), walled(i)))
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
		c.breach(k, Breach{Host: strings.Clone(host), Found: strings.Clone(string(shown))})
	}
}

// part checks the expectations of one part of policies, verdicts or answers. targets are those
// that expectations cover, nil if that is not known.
func (c *Checker) part(ctx context.Context, in store.Store, p journal.Part, targets []int64) error {
	meant := c.meant(p.Table)
	if len(meant) == 0 || targets != nil && len(targets) == 0 {
		return nil
	}
	var wanted func(least, greatest int64) bool
	if targets != nil {
		wanted = rowio.Within(targets)
	}
	columns := map[string][]string{
		"policies": {"seq", "host", "agent", "category", "profile", "class", "ai_train", "ai_input", "search"},
		"verdicts": {"seq", "host", "agent", "profile", "url", "verdict", "reason", "rule_line"},
		"answers":  {"seq", "host", "identity", "agent", "status", "challenge", "policy", "first_difference", "treatment"},
	}[p.Table]
	check := map[string]func(*selection, []int, arrow.RecordBatch){"policies": c.policies, "verdicts": c.verdicts, "answers": c.answers}[p.Table]
	var s selection
	return scan.Rows(ctx, in, p, scan.Selection{Columns: columns, Wanted: wanted}, func(batch arrow.RecordBatch) error {
		check(&s, meant, batch)
		return nil
	})
}

// A selection says which expectations cover the target of a row. It lasts from one batch
// of a part to the next.
type selection struct {
	begun bool
	seq   int64
	of    []int
	known map[int]seen // by expectation: what its rows said so far
	hid   map[int]bool // by expectation: what the target says is not known
}

// at returns the expectations of meant that cover a target.
func (s *selection) at(c *Checker, meant []int, seq int64, host string) []int {
	if !s.begun || s.seq != seq {
		s.begun, s.seq, s.of, s.known, s.hid = true, seq, s.of[:0], make(map[int]seen), make(map[int]bool)
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
	c.promises[k].hide(!s.hid[k], c.walled[s.seq])
	s.hid[k] = true
}

// policies checks classes, and what is stated about uses. It counts unknown ones separately, because neither an
// outage nor a wall is a policy.
func (c *Checker) policies(s *selection, meant []int, batch arrow.RecordBatch) {
	seq := scan.Column[*array.Int64](batch, "seq")
	host, agent := scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "agent")
	category, profile := scan.Column[*array.String](batch, "category"), scan.Column[*array.String](batch, "profile")
	class := scan.Column[*array.String](batch, "class")
	stances := make(map[string]*array.String) // by use
	for use, column := range registry.StanceColumns {
		stances[use] = scan.Column[*array.String](batch, column)
	}
	for i := range int(batch.NumRows()) {
		for _, k := range s.at(c, meant, seq.Value(i), host.Value(i)) {
			x := c.expectations.list[k]
			if !x.isOf(agent.Value(i), category.Value(i)) || !x.Profile.has(profile.Value(i)) {
				continue
			}
			if class.Value(i) == summary.ClassNames[summary.ClassUnknown] {
				s.unknown(c, k)
				continue
			}
			breach := func(found string) {
				c.breach(k, Breach{Host: strings.Clone(host.Value(i)), Agent: new(strings.Clone(agent.Value(i))), Profile: new(strings.Clone(profile.Value(i))), Found: strings.Clone(found)})
			}
			if x.what != "preference" {
				if s.checked(c, k, host.Value(i)); !x.Class.has(class.Value(i)) {
					breach(class.Value(i))
				}
				continue
			}
			for _, use := range x.Use {
				stance := cmp.Or(stances[use].Value(i), noPreference)
				if class.Value(i) == summary.ClassNames[robots.DisallowAll] {
					stance = shutOut
				}
				if s.checked(c, k, host.Value(i)); !x.Preference.has(stance) {
					breach(use + ": " + stance)
				}
			}
		}
	}
}

// verdicts checks single verdicts. Behind a wall, none is known.
func (c *Checker) verdicts(s *selection, meant []int, batch arrow.RecordBatch) {
	seq := scan.Column[*array.Int64](batch, "seq")
	host, agent := scan.Column[*array.String](batch, "host"), scan.Column[*array.String](batch, "agent")
	profile, url := scan.Column[*array.String](batch, "profile"), scan.Column[*array.String](batch, "url")
	verdict, reason := scan.Column[*array.String](batch, "verdict"), scan.Column[*array.String](batch, "reason")
	line := scan.Column[*array.Int32](batch, "rule_line")
	categories := make(map[string]string)
	for _, a := range c.agents {
		categories[a.Name] = a.Category
	}
	for i := range int(batch.NumRows()) {
		for _, k := range s.at(c, meant, seq.Value(i), host.Value(i)) {
			x := c.expectations.list[k]
			if !slices.Contains(x.URLs, url.Value(i)) || !x.isOf(agent.Value(i), categories[agent.Value(i)]) || !x.Profile.has(profile.Value(i)) {
				continue
			}
			if c.coverage[k].urls[url.Value(i)] != checked {
				c.sawURL(k, strings.Clone(url.Value(i)))
			}
			if c.walled[seq.Value(i)] {
				s.unknown(c, k)
				continue
			}
			s.checked(c, k, host.Value(i))
			if verdict.Value(i) == x.Verdict {
				continue
			}
			b := Breach{
				Host: strings.Clone(host.Value(i)), Agent: new(strings.Clone(agent.Value(i))), Profile: new(strings.Clone(profile.Value(i))),
				URL: new(strings.Clone(url.Value(i))), Found: verdict.Value(i) + " by " + reason.Value(i),
			}
			if !line.IsNull(i) {
				b.Line = new(line.Value(i))
			}
			c.breach(k, b)
		}
	}
}
