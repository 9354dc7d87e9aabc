package audit

import (
	"context"
	"errors"
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

// rulesDiff is what two runs let compare by meaning.
type rulesDiff struct {
	profiles []*robots.Profile // of both runs, the first one first
	roomy    *robots.Profile   // the first without its limit of size, nil where the tables do not hold its reading
	bodies   bool              // both runs have the bodies, and some profile needs them
	agents   [2][]robots.Agent // that both runs judge, of one name at one index
	differ   bool              // some of these are defined otherwise
	known    map[[2]string][]*rulesResult
	rows     int // of known
}

// planRules finds out how the meaning of rules can be compared. own says that
// profiles of one's own are defined otherwise.
func (d *differ) planRules(own bool) {
	a, b := d.runs[0], d.runs[1]
	has := func(table string) bool { return slices.Contains(a.Tables, table) && slices.Contains(b.Tables, table) }
	if !has("agents") {
		d.note("the meaning of rules is not compared: one of the runs has no table agents")
		return
	}
	if !has("groups") || !has("rules") {
		return // which is noted as of every table
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
		if r.bodies = has("bodies"); !r.bodies {
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

// agents reads the registries of both runs.
func (d *differ) agents(ctx context.Context) error {
	if d.rules == nil {
		return nil
	}
	var lists [2][]evaluate.Agent
	for i, m := range d.runs {
		var err error
		if lists[i], err = readAgents(ctx, d.Dir, m); err != nil {
			return err
		}
	}
	r := d.rules
	for _, x := range lists[1] {
		i := slices.IndexFunc(lists[0], func(y evaluate.Agent) bool { return x.Name == y.Name })
		if i < 0 {
			continue
		}
		before, after := lists[0][i].Robots(), x.Robots()
		r.agents[0], r.agents[1] = append(r.agents[0], before), append(r.agents[1], after)
		r.differ = r.differ || !slices.Equal(before.Tokens, after.Tokens) || !slices.Equal(before.FallsBackTo, after.FallsBackTo) ||
			before.UserAgent != after.UserAgent || before.IgnoresStar != after.IgnoresStar
	}
	return nil
}

// readAgents is the registry of a run, from its table agents.
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
	return r != nil && a.digest != "" && b.digest != "" && (a.digest != b.digest || r.differ)
}

// asks reports whether the bodies of a pair are needed.
func (r *rulesDiff) asks(p *pair) bool { return r.compares(p) && r.bodies }

// readBodies adds the wanted bodies of a part, for each target that wants one.
// It reads one at a time: a body may be half a megabyte.
func readBodies(ctx context.Context, dir string, p sink.Part, list []wanted, into *sorter) error {
	of := make(map[string][]int64)
	for _, w := range list {
		if w.digest != "" {
			of[w.digest] = append(of[w.digest], w.n)
		}
	}
	if len(of) == 0 {
		return nil
	}
	f, err := scan.OpenPart(ctx, dir, p)
	if err != nil {
		return err
	}
	defer f.Close()
	r := parquet.NewGenericReader[sink.Body](f)
	defer r.Close()
	for len(of) > 0 && ctx.Err() == nil {
		one := make([]sink.Body, 1)
		n, err := r.Read(one)
		if n == 0 && err == io.EOF {
			break // a run may lack a body that it could not keep
		}
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, target := range of[one[0].ContentDigest] {
			var key encoder
			key.ordered(target)
			key = append(key, tableBodies)
			// A value of no bytes would be none: an empty body has its mark.
			if err := into.add(key, append([]byte{1}, one[0].Body...)); err != nil {
				return err
			}
		}
		delete(of, one[0].ContentDigest)
	}
	return ctx.Err()
}

// undecided says in the column after that rules could not be compared.
const undecided = "undecided"

// rules tells agents whose policy means something else, where no change of its
// class says so, and groups of others that do.
func (c *comparison) rules(p *pair) error {
	r := c.d.rules
	if c.proven = r != nil; !r.compares(p) {
		return nil
	}
	results := r.of(p)
	for k, profile := range r.profiles {
		if k == 0 && (p.sides[0].outcome != string(robots.ConditionalAllow) || p.sides[1].outcome != string(robots.ConditionalAllow)) {
			continue // its rules do not decide
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

// anyPartial reports whether any agent has policies under a profile whose
// meaning their classes do not tell.
func (c *comparison) anyPartial(profile string) bool {
	id := c.d.names.id(profile)
	for key, class := range c.classes {
		if key.profile == id && class[0] == class[1] && class[0] == summary.ClassNames[robots.Partial] {
			return true
		}
	}
	return false
}

func (c *comparison) ruleRows(p *pair, profile string, result *rulesResult) error {
	var told map[string]bool // tokens whose groups have a row
	for i := range result.rows {
		x := &result.rows[i]
		row := sink.Change{Kind: "rules", Severity: minor, Agent: &x.agent, Profile: &profile, After: &x.how, LineBefore: x.lines[0], LineAfter: x.lines[1]}
		if x.closing {
			row.Severity = major
		}
		if x.path != "" {
			row.URL = &x.path
			if strings.HasPrefix(x.path, "//") {
				row.URL = sink.Some(c.base.Origin + x.path) // else it would name a host
			}
		}
		if x.stranger {
			if told == nil {
				told = c.groupsTold(p)
			}
			if told[x.agent] {
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

// sameClass reports whether no row tells of the class of a policy that it
// changed, or is not known.
func (c *comparison) sameClass(profile string, x *ruleRow) bool {
	if !slices.Contains(c.d.tables, tablePolicies) {
		return x.sameClass
	}
	class, ok := c.classes[agentProfile{c.d.names.id(profile), c.d.names.id(x.agent)}]
	return ok && class[0] == class[1] && class[0] != summary.ClassNames[summary.ClassUnknown]
}

// groupsTold are the tokens of which a row of kind group tells.
func (c *comparison) groupsTold(p *pair) map[string]bool {
	out := make(map[string]bool)
	eachToken(p, func(token string, a, b *tokenGroups) error {
		out[token] = c.tellsGroup(token, a, b)
		return nil
	})
	return out
}
