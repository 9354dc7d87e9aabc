package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/exit"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/audit/meaning"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// checkRun judges the URLs of a list by the policies that a run holds.
func (f *flags) checkRun(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(f.Profiles) > 1 {
		return exit.Usagef("--urls takes one profile")
	}
	in, m, err := cli.OpenRun(ctx, f.out, f.run)
	if err != nil {
		return err
	}
	defer in.Close()
	asked := ""
	if f.Set.Changed("profile") {
		asked = f.Profiles[0]
	}
	name, err := ProfileOf(m, asked)
	if err != nil {
		return err
	}
	profile, err := past.Profile(m, name)
	if err != nil {
		return err
	}
	run, err := past.Read(ctx, in, m.Run)
	if err != nil {
		return err
	}
	entry, remark := AgentOf(run.Registry, f.agent)
	agent := registry.Robots(&entry)
	if profile, err = past.JudgedBy(m, profile, &entry); err != nil {
		return err
	}
	if err := agent.Validate(); err != nil {
		return exit.UsageError{Err: err}
	}
	lost := journal.Needed(m.Without, "fetches")
	if !slices.Contains(m.Tables, "fetches") || len(lost) > 0 {
		return exit.Usagef("run %s does not say how hosts answered: it lacks %s", m.Run, cmp.Or(strings.Join(lost, ", "), "the table fetches"))
	}
	c := &RunChecker{Run: lookup.Open(in, m), Profile: profile, Agent: agent, of: make(map[string]map[string]*URLJudge)}
	defer c.Run.Close()
	list := f.newList(stdout)
	io.WriteString(stderr, remark)
	err = f.eachURL(ctx, stdin, func(s registry.Sample) error {
		if s.Origin == nil {
			return &userfile.Error{Path: list.name, Line: s.Line, Err: errors.New("is a path; give absolute URLs, whose hosts are looked up in the run")}
		}
		var err error
		if list.after, err = c.judgeOf(ctx, s.Origin.Host, s.Origin.String()); err != nil {
			return err
		}
		return list.judge(s)
	})
	if err != nil {
		return errors.Join(err, list.out.Flush())
	}
	return list.finish()
}

// AgentOf returns an agent as a run's registry defines it. Any other name is taken as a
// product token.
func AgentOf(r *past.Registry, name string) (agent schema.Agent, remark string) {
	for _, a := range r.Agents {
		if strings.EqualFold(a.Name, name) {
			return a, ""
		}
	}
	return schema.Agent{Name: name, Tokens: []string{name}}, fmt.Sprintf("the run has no agent %s: taken as a product token\n", visible.Text(name))
}

// mostHostsKept bounds the hosts whose files are kept, for lists that are not sorted.
const mostHostsKept = 1024

// A RunChecker looks up who judges URLs.
type RunChecker struct {
	Run     *lookup.Run
	Profile *robots.Profile
	Agent   robots.Agent
	of      map[string]map[string]*URLJudge // by host and origin
}

// judgeOf returns who judges the URLs of an origin.
func (c *RunChecker) judgeOf(ctx context.Context, host, origin string) (*URLJudge, error) {
	of, ok := c.of[host]
	if !ok {
		targets, err := c.Run.Targets(ctx, host)
		if err != nil {
			return nil, err
		}
		of = make(map[string]*URLJudge)
		targets = lookup.Last(targets)
		for i := range targets {
			if of[targets[i].Origin], err = c.judge(ctx, &targets[i]); err != nil {
				return nil, err
			}
		}
		if len(c.of) >= mostHostsKept {
			clear(c.of)
		}
		c.of[host] = of
	}
	if l := of[origin]; l != nil {
		return l, nil
	}
	why := "the host is not in the run"
	if len(of) > 0 {
		why = "the run has other origins of the host only"
	}
	return &URLJudge{explained: c.nobody(), Unknown: why}, nil
}

// nobody judges by an empty file.
func (c *RunChecker) nobody() explained {
	e := explained{Profile: c.Profile, judge: robots.NewJudge(c.Profile, []robots.Agent{c.Agent})}
	e.File.Parse(nil, c.Profile)
	e.judge.Load(&e.File)
	return e
}

// judge returns who judges the URLs of a target: its body, or its rows of groups and
// rules, which hold what the first profile read.
func (c *RunChecker) judge(ctx context.Context, t *lookup.Target) (*URLJudge, error) {
	body, err := lookup.Body(ctx, c.Run, t)
	if err != nil {
		return nil, err
	}
	return c.JudgeBody(ctx, t, body)
}

// JudgeBody is judge with the body of the target, nil if the run does not keep it.
func (c *RunChecker) JudgeBody(ctx context.Context, t *lookup.Target, body []byte) (*URLJudge, error) {
	capture, err := earlier.CaptureOf(c.Run.Manifest, &t.Fetch, body)
	if err != nil {
		return nil, err
	}
	if body != nil || t.KeptDigest() == nil {
		return newURLJudge(c.Profile, c.Agent, capture), nil
	}
	l := &URLJudge{explained: c.nobody()}
	if l.answer = c.Profile.Answer(capture.Facts()); !l.answer.AsksRules() {
		return l, nil
	}
	l.Unknown = "the tables do not decide: make the run with --keep-bodies"
	if c.Profile.Name != past.Face(c.Run.Manifest) || !meaning.ReadsTables(c.Profile) || !c.hasRules() {
		return l, nil
	}
	groups, err := lookup.Rows[schema.Group](ctx, c.Run, "groups", t)
	if err != nil {
		return nil, err
	}
	rules, err := lookup.Rows[schema.Rule](ctx, c.Run, "rules", t)
	if err != nil {
		return nil, err
	}
	if file := meaning.FromRows(c.Profile, groups, rules); file != nil {
		l.File, l.Unknown = file.File, ""
		l.File.Truncated = t.BodyTruncated
		l.judge.Load(&l.File)
		l.lines = make([]string, len(l.File.Rules))
	}
	return l, nil
}

// hasRules reports whether the run has the tables groups and rules, whole.
func (c *RunChecker) hasRules() bool {
	for _, table := range []string{"groups", "rules"} {
		if !slices.Contains(c.Run.Tables, table) || slices.ContainsFunc(c.Run.Without, func(column string) bool { return strings.HasPrefix(column, table+".") }) {
			return false
		}
	}
	return true
}
