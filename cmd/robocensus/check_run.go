package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/audit/meaning"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// checkRun judges the URLs of a list by the policies that a run holds.
func (f *checkFlags) checkRun(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	if len(f.profiles) > 1 {
		return usagef("--urls takes one profile")
	}
	in, m, err := openRun(ctx, f.out, f.run, false)
	if err != nil {
		return err
	}
	defer in.Close()
	asked := ""
	if f.set.Changed("profile") {
		asked = f.profiles[0]
	}
	name, err := profileOf(m, asked)
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
	entry, remark := agentOf(run.Registry, f.agent)
	agent := registry.Robots(&entry)
	if profile, err = past.JudgedBy(m, profile, &entry); err != nil {
		return err
	}
	if err := agent.Validate(); err != nil {
		return usageError{err}
	}
	lost := sink.Needed(slices.DeleteFunc(slices.Clone(m.Without), func(column string) bool { return !strings.HasPrefix(column, "fetches.") }))
	if !slices.Contains(m.Tables, "fetches") || len(lost) > 0 {
		return usagef("run %s does not say how hosts answered: it lacks %s", m.Run, cmp.Or(strings.Join(lost, ", "), "the table fetches"))
	}
	c := &runChecker{run: lookup.Open(in, m), profile: profile, agent: agent, of: make(map[string]map[string]*urlJudge)}
	defer c.run.Close()
	list := &urlList{name: remote.Name(f.urls), out: bufio.NewWriterSize(stdout, 1<<16), json: f.json}
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

// agentOf returns an agent as a run's registry defines it. Any other name is taken as a
// product token.
func agentOf(r *past.Registry, name string) (agent sink.Agent, remark string) {
	for _, a := range r.Agents {
		if strings.EqualFold(a.Name, name) {
			return a, ""
		}
	}
	return sink.Agent{Name: name, Tokens: []string{name}}, fmt.Sprintf("the run has no agent %s: taken as a product token\n", plain(name))
}

// mostHostsKept bounds the hosts whose files are kept, for lists that are not sorted.
const mostHostsKept = 1024

// A runChecker looks up who judges URLs.
type runChecker struct {
	run     *lookup.Run
	profile *robots.Profile
	agent   robots.Agent
	of      map[string]map[string]*urlJudge // by host and origin
}

// judgeOf returns who judges the URLs of an origin.
func (c *runChecker) judgeOf(ctx context.Context, host, origin string) (*urlJudge, error) {
	of, ok := c.of[host]
	if !ok {
		targets, err := c.run.Targets(ctx, host)
		if err != nil {
			return nil, err
		}
		of = make(map[string]*urlJudge)
		for i := range targets { // of several captures, the last one counts
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
	return &urlJudge{explained: c.nobody(), unknown: why}, nil
}

// nobody judges by an empty file.
func (c *runChecker) nobody() explained {
	e := explained{profile: c.profile, judge: robots.NewJudge(c.profile, []robots.Agent{c.agent})}
	e.file.Parse(nil, c.profile)
	e.judge.Load(&e.file)
	return e
}

// judge returns who judges the URLs of a target: its body, or its rows of groups and
// rules, which hold what the first profile read.
func (c *runChecker) judge(ctx context.Context, t *lookup.Target) (*urlJudge, error) {
	body, err := lookup.Body(ctx, c.run, t)
	if err != nil {
		return nil, err
	}
	return c.judgeBody(ctx, t, body)
}

// judgeBody is judge with the body of the target, nil if the run does not keep it.
func (c *runChecker) judgeBody(ctx context.Context, t *lookup.Target, body []byte) (*urlJudge, error) {
	capture, err := source.CaptureOf(c.run.Manifest, &t.Fetch, body)
	if err != nil {
		return nil, err
	}
	if body != nil || t.KeptDigest() == nil {
		return newURLJudge(c.profile, c.agent, capture), nil
	}
	l := &urlJudge{explained: c.nobody()}
	if l.answer = c.profile.Answer(capture.Facts()); !l.answer.AsksRules() {
		return l, nil
	}
	l.unknown = "the tables do not decide: make the run with --keep-bodies"
	if c.profile.Name != past.Face(c.run.Manifest) || !meaning.ReadsTables(c.profile) || !c.hasRules() {
		return l, nil
	}
	groups, err := lookup.Rows[sink.Group](ctx, c.run, "groups", t)
	if err != nil {
		return nil, err
	}
	rules, err := lookup.Rows[sink.Rule](ctx, c.run, "rules", t)
	if err != nil {
		return nil, err
	}
	if file := meaning.FromRows(c.profile, groups, rules); file != nil {
		l.file, l.unknown = file.File, ""
		l.file.Truncated = t.BodyTruncated
		l.judge.Load(&l.file)
		l.lines = make([]string, len(l.file.Rules))
	}
	return l, nil
}

// hasRules reports whether the run has the tables groups and rules, whole.
func (c *runChecker) hasRules() bool {
	for _, table := range []string{"groups", "rules"} {
		if !slices.Contains(c.run.Tables, table) || slices.ContainsFunc(c.run.Without, func(column string) bool { return strings.HasPrefix(column, table+".") }) {
			return false
		}
	}
	return true
}
