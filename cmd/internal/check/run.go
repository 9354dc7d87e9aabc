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
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
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
func (f *checkFlags) checkRun(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(f.Profiles) > 1 {
		return cli.Usagef("--urls takes one profile")
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
	entry, remark := AgentOf(run.Registry, f.agents[0])
	agent := registry.Robots(&entry)
	if profile, err = past.JudgedBy(m, profile, &entry); err != nil {
		return err
	}
	if err := agent.Validate(); err != nil {
		return cli.UsageError{Err: err}
	}
	lost := journal.Needed(m.Without, "fetches")
	if !slices.Contains(m.Tables, "fetches") || len(lost) > 0 {
		return cli.Usagef("run %s does not say how hosts answered: it lacks %s", m.Run,
			cmp.Or(strings.Join(lost, ", "), "the table fetches"))
	}
	r := lookup.Open(in, m)
	defer r.Close()
	c, err := NewRunChecker(r, profile, agent)
	if err != nil {
		return err
	}
	list := f.newList(stdout)
	io.WriteString(stderr, remark)
	block := &block{RunChecker: c, list: list, hosts: make(map[string]bool)}
	defer cli.ShowCount(stderr, "judged", list.judged.Load)()
	err = f.readURLs(ctx, &urlInput{stderr: stderr, each: func(s registry.Sample) error {
		if s.Origin == nil {
			return &userfile.Error{Path: list.name, Line: s.Line,
				Err: errors.New("is a path; give absolute URLs, whose hosts are looked up in the run")}
		}
		if block.add(s); block.isFull() {
			return block.judge(ctx)
		}
		return nil
	}}, stdin)
	// What comes before a line that is wrong is judged.
	if err = errors.Join(block.judge(ctx), err); err != nil {
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
	return schema.Agent{Name: name, Tokens: []string{name}},
		fmt.Sprintf("the run has no agent %s: taken as a product token\n", visible.Text(name))
}

// A RunChecker judges URLs by what a run holds.
type RunChecker struct {
	run      *lookup.Run
	profile  *robots.Profile
	agent    robots.Agent
	captures func(row *schema.Fetch, body []byte) *fetch.Capture
}

// NewRunChecker returns what judges by a run, under a profile for an agent.
func NewRunChecker(r *lookup.Run, p *robots.Profile, agent robots.Agent) (*RunChecker, error) {
	captures, err := earlier.CapturesOf(r.Manifest)
	return &RunChecker{r, p, agent, captures}, err
}

// nobody judges by an empty file.
func (c *RunChecker) nobody() explained {
	e := explained{Profile: c.profile, judge: robots.NewJudge(c.profile, []robots.Agent{c.agent})}
	e.File.Parse(nil, c.profile)
	e.judge.Load(&e.File)
	return e
}

// Judge returns who judges the URLs of a capture: its body, or its rows of groups and
// rules, which hold what the first profile read.
func (c *RunChecker) Judge(f *lookup.Found) *URLJudge {
	capture := c.captures(&f.Fetch, f.Body)
	if f.Body != nil || f.KeptDigest() == nil {
		return newURLJudge(c.profile, c.agent, capture)
	}
	l := &URLJudge{explained: c.nobody()}
	if l.answer = c.profile.Answer(capture.Facts()); !l.answer.AsksRules() {
		return l
	}
	l.Unknown = "the tables do not decide: make the run with --keep-bodies"
	if !c.readsRules() {
		return l
	}
	if file := meaning.FromRows(c.profile, f.Groups, f.Rules); file != nil {
		l.File, l.Unknown = file.File, ""
		l.File.Truncated = f.BodyTruncated
		l.judge.Load(&l.File)
		l.lines = make([]string, len(l.File.Rules))
	}
	return l
}

// readsRules reports whether the tables groups and rules say what the profile reads.
func (c *RunChecker) readsRules() bool {
	return c.profile.Name == past.Face(c.run.Manifest) && meaning.ReadsTables(c.profile) && c.hasRules()
}

// hasRules reports whether the run has the tables groups and rules, whole.
func (c *RunChecker) hasRules() bool {
	for _, table := range []string{"groups", "rules"} {
		if !slices.Contains(c.run.Tables, table) ||
			slices.ContainsFunc(c.run.Without, func(column string) bool { return strings.HasPrefix(column, table+".") }) {
			return false
		}
	}
	return true
}
