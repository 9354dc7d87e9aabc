package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/summary"
)

// rulesDiff compares the rules of two runs by meaning.
type rulesDiff struct {
	profiles []*robots.Profile            // profiles that both runs have, the first profile first
	roomy    *robots.Profile              // the first without its size limit; nil if the tables do not hold its reading
	bodies   bool                         // some profile needs bodies, and both runs have them
	agents   [2][]robots.Agent            // agents that both runs judge, in one order
	known    map[[2]string][]*rulesResult // by digests
	rows     int                          // size of known
}

// planRules decides how the meaning of rules is compared. own reports whether the
// runs define their own profiles differently.
func (d *differ) planRules(own bool) {
	a, b := d.runs[0], d.runs[1]
	if lack := d.lack("agents"); lack != "" {
		d.note("the meaning of rules is not compared: %s no table agents", lack)
		return
	}
	if d.lack("groups")+d.lack("rules") != "" {
		return // planTables has noted it
	}
	r := &rulesDiff{known: make(map[[2]string][]*rulesResult)}
	for i, name := range b.Profiles {
		if !slices.Contains(a.Profiles, name) || own && (isOwn(a, name) || isOwn(b, name)) {
			continue
		}
		p, err := profileOf(b, name)
		if err != nil {
			d.note("%v: the meaning of rules is not compared under it", err)
			if i == 0 {
				return
			}
			continue
		}
		if r.profiles = append(r.profiles, p); i == 0 && readsTables(p) {
			r.roomy = withoutLimit(p)
		}
	}
	if len(r.profiles) > 1 || r.roomy == nil {
		if r.bodies = d.lack("bodies") == ""; !r.bodies {
			without := r.profiles
			if r.roomy != nil {
				without = without[1:]
			}
			var names []string
			for _, p := range without {
				names = append(names, p.Name)
			}
			d.note("without the table bodies (--keep-bodies) the meaning of rules is undecided under %s", strings.Join(names, ", "))
		}
	}
	d.rules = r
}

// agents reads the registries of both runs and keeps the agents they share.
func (d *differ) agents(ctx context.Context) error {
	var lists [2][]evaluate.Agent
	for i, m := range d.runs {
		var err error
		if lists[i], err = readAgents(ctx, d.Dir, m); err != nil {
			return err
		}
	}
	var redefined []string
	for _, x := range lists[1] {
		i := slices.IndexFunc(lists[0], func(y evaluate.Agent) bool { return x.Name == y.Name })
		if i < 0 {
			continue
		}
		before, after := lists[0][i].Robots(), x.Robots()
		if !slices.Equal(before.Tokens, after.Tokens) || !slices.Equal(before.FallsBackTo, after.FallsBackTo) ||
			before.IgnoresStar != after.IgnoresStar || before.UserAgent != after.UserAgent {
			redefined = append(redefined, x.Name)
		}
		if r := d.rules; r != nil {
			r.agents[0], r.agents[1] = append(r.agents[0], before), append(r.agents[1], after)
		}
	}
	d.noteRedefined("agent", redefined)
	return nil
}

// readAgents reads the registry of a run from its table agents.
func readAgents(ctx context.Context, dir string, m *sink.Manifest) (out []evaluate.Agent, err error) {
	for _, p := range m.Parts {
		if p.Table != "agents" || p.Rows == 0 {
			continue
		}
		err = scan.Rows(ctx, dir, p, scan.Selection{Columns: []string{"agent", "category", "tokens", "falls_back_to", "user_agent", "ignores_star"}}, func(batch arrow.RecordBatch) error {
			text := func(name string) func(int) string {
				column := scan.Column[*array.String](batch, name)
				return func(i int) string { return strings.Clone(column.Value(i)) } // "" for null
			}
			texts := func(name string) func(int) []string {
				column := scan.Column[*array.List](batch, name)
				values := column.ListValues().(*array.String)
				return func(i int) (out []string) {
					from, to := column.ValueOffsets(i)
					for k := from; k < to; k++ {
						out = append(out, strings.Clone(values.Value(int(k))))
					}
					return out
				}
			}
			name, category, userAgent := text("agent"), text("category"), text("user_agent")
			tokens, fallbacks := texts("tokens"), texts("falls_back_to")
			star := scan.Column[*array.Boolean](batch, "ignores_star")
			for i := range int(batch.NumRows()) {
				out = append(out, evaluate.Agent{
					Name: name(i), Category: category(i), Tokens: tokens(i), FallsBackTo: fallbacks(i), UserAgent: userAgent(i), IgnoresStar: star.Value(i),
				})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// compares reports whether the rules of a pair are compared.
func (r *rulesDiff) compares(p *pair) bool {
	a, b := p.sides[0], p.sides[1]
	return r != nil && a.digest != "" && b.digest != "" && a.digest != b.digest
}

// asks reports whether the bodies of a pair are needed.
func (r *rulesDiff) asks(p *pair) bool { return r.compares(p) && r.bodies }

// readBodies adds a record with the body to a sorter for each target that needs one
// from a part. It reads one body at a time, as each may have half a megabyte.
func readBodies(ctx context.Context, dir string, parts []sink.Part, list []wanted, into *sorter) error {
	of := make(map[string][]int64)
	for _, w := range list {
		if w.digest != "" {
			of[w.digest] = append(of[w.digest], w.n)
		}
	}
	for _, p := range parts {
		if len(of) == 0 {
			return nil
		}
		if err := readBodiesOf(ctx, dir, p, of, into); err != nil {
			return err
		}
	}
	return nil
}

// readBodiesOf reads the bodies of one part, and removes those that it finds from of,
// the targets by digest.
func readBodiesOf(ctx context.Context, dir string, p sink.Part, of map[string][]int64, into *sorter) (err error) {
	defer scan.Recovered(&err)
	f, err := scan.OpenPart(ctx, dir, p)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := sink.OpenRows[sink.Body](f, p.Bytes)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.Path, err)
	}
	r := parquet.NewGenericReader[sink.Body](opened)
	defer r.Close()
	for len(of) > 0 && ctx.Err() == nil {
		one := make([]sink.Body, 1)
		n, err := r.Read(one)
		if n == 0 && err == io.EOF {
			break // a run lacks the bodies that it could not keep
		}
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, target := range of[one[0].ContentDigest] {
			var key encoder
			key.ordered(target)
			key = append(key, tableBodies)
			// The leading byte distinguishes an empty body from a missing one.
			if err := into.add(key, append([]byte{1}, one[0].Body...)); err != nil {
				return err
			}
		}
		delete(of, one[0].ContentDigest)
	}
	return ctx.Err()
}

// undecided is the value of the column after if rules could not be compared.
const undecided = "undecided"

// rules writes a row for each agent whose policy changed its meaning but not its
// class, and for each group of an agent outside the registry that changed its
// meaning.
func (c *comparison) rules(p *pair) error {
	r := c.d.rules
	if c.proven = r != nil; !r.compares(p) {
		return nil
	}
	results := r.of(p)
	for k, profile := range r.profiles {
		if k == 0 && (p.sides[0].outcome != string(robots.ConditionalAllow) || p.sides[1].outcome != string(robots.ConditionalAllow)) {
			continue // rules do not decide
		}
		result := results[k]
		if result == nil || result.more {
			c.proven = false
			if result != nil || k == 0 || c.anyPartial(profile.Name) {
				if err := c.emit(sink.Change{Kind: "rules", Severity: minor, Profile: &profile.Name, After: sink.Some(undecided)}); err != nil {
					return err
				}
			}
		}
		if result == nil {
			continue
		}
		c.proven = c.proven && result.proven
		if err := c.ruleRows(p, profile.Name, result); err != nil {
			return err
		}
	}
	return nil
}

// anyPartial reports whether the policy of any agent under a profile was and is
// partial, so that its class does not show a change of meaning.
func (c *comparison) anyPartial(profile string) bool {
	id := c.d.names.id(profile)
	for key, class := range c.classes {
		if key.profile == id && class[0] == class[1] && class[0] == summary.ClassNames[robots.Partial] {
			return true
		}
	}
	return false
}

// ruleRows writes the rows of one profile, without those that a row of another kind
// covers.
func (c *comparison) ruleRows(p *pair, profile string, result *rulesResult) error {
	var covered map[string]bool // tokens with a row of kind group
	for i := range result.rows {
		x := &result.rows[i]
		row := sink.Change{Kind: "rules", Severity: rulesSeverity(x.closing), Agent: &x.agent, Profile: &profile, After: &x.how, LineBefore: x.lines[0], LineAfter: x.lines[1]}
		if x.path != "" {
			row.URL = &x.path
			if strings.HasPrefix(x.path, "//") {
				row.URL = sink.Some(c.base.Origin + x.path) // the path alone would name a host
			}
		}
		if x.stranger {
			if covered == nil {
				covered = c.tokensWithGroupRow(p)
			}
			if covered[x.agent] {
				continue
			}
		} else {
			if !c.sameClass(profile, x) {
				continue
			}
			row.Category = c.category(x.agent)
		}
		if err := c.emit(row); err != nil {
			return err
		}
	}
	return nil
}

// sameClass reports whether the class of a policy is known and did not change.
func (c *comparison) sameClass(profile string, x *ruleRow) bool {
	if !slices.Contains(c.d.tables, tablePolicies) {
		return x.sameClass
	}
	class, ok := c.classes[agentProfile{c.d.names.id(profile), c.d.names.id(x.agent)}]
	return ok && class[0] == class[1] && class[0] != summary.ClassNames[summary.ClassUnknown]
}

// tokensWithGroupRow returns the tokens that have a row of kind group.
func (c *comparison) tokensWithGroupRow(p *pair) map[string]bool {
	out := make(map[string]bool)
	eachToken(p, func(token string, a, b *tokenGroups) error {
		out[token] = c.hasGroupRow(token, a, b)
		return nil
	})
	return out
}
