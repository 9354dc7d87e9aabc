package check

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/exit"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

// checkURLs judges the URLs of a list by one file, a line each. With --changed-from it
// prints only those that another file decides differently.
func (f *flags) checkURLs(ctx context.Context, args []string, profiles []*robots.Profile, stdin io.Reader, stdout, stderr io.Writer) error {
	switch {
	case f.jsonl:
		return exit.Usagef("--urls and --jsonl exclude each other: give one of them")
	case len(profiles) > 1:
		return exit.Usagef("--urls takes one profile")
	case len(f.agents) > 1:
		return exit.Usagef("--urls takes one agent")
	case len(args)+len(f.agents) != 2:
		return exit.Usagef("give a robots.txt file or a host, an agent, and --urls FILE; see robocensus check --help")
	case args[0] == "-" && f.urls == "-", f.before == "-" && (f.urls == "-" || args[0] == "-"):
		return exit.Usagef("only one input can be standard input")
	}
	agent, remark, err := f.FindAgent(ctx, append(args[1:], f.agents...)[0])
	if err != nil {
		return err
	}
	profiles = f.ForAgent(profiles, agent)
	list := f.newList(stdout)
	capture, err := f.captureOf(ctx, args[0], profiles, stdin)
	if err != nil {
		return err
	}
	if capture.Origin != (fetch.Origin{}) {
		list.origin = &capture.Origin
	}
	list.after = newURLJudge(profiles[0], registry.Robots(&agent), capture)
	if f.before != "" {
		body, err := f.ReadRobots(ctx, f.before, stdin)
		if err != nil {
			return err
		}
		list.before = newURLJudge(profiles[0], registry.Robots(&agent), fileCapture(body))
	}
	io.WriteString(stderr, remark)
	list.after.sayCut(stderr, args[0])
	list.before.sayCut(stderr, f.before)
	if err := f.eachURL(ctx, stdin, list.judge); err != nil {
		return errors.Join(err, list.out.Flush())
	}
	return list.finish()
}

// captureOf returns the capture of a file, or fetches that of a URL's origin.
func (f *flags) captureOf(ctx context.Context, name string, profiles []*robots.Profile, stdin io.Reader) (*fetch.Capture, error) {
	if isLive([]string{name}) {
		captures, err := f.captures(ctx, []string{liveURL(name)}, profiles)
		if err != nil {
			return nil, err
		}
		return captures[0], nil
	}
	body, err := f.ReadRobots(ctx, name, stdin)
	if err != nil {
		return nil, err
	}
	return fileCapture(body), nil
}

func fileCapture(body []byte) *fetch.Capture {
	return &fetch.Capture{Hops: []answer.Hop{{Status: 200}}, Body: body}
}

// eachURL reads the list that --urls names.
func (f *flags) eachURL(ctx context.Context, stdin io.Reader, each func(registry.Sample) error) error {
	switch {
	case f.urls == "-":
		exit.EndBySignal(ctx)
		return registry.EachSample("standard input", stdin, each)
	case remote.IsURL(f.urls):
		text, err := cli.ReadInput(ctx, f.urls)
		if err != nil {
			return err
		}
		return registry.EachSample(remote.Name(f.urls), bytes.NewReader(text), each)
	}
	file, err := os.Open(f.urls)
	if err != nil {
		return &userfile.Error{Path: remote.Name(f.urls), Err: errors.Unwrap(err)}
	}
	defer file.Close()
	exit.EndBySignal(ctx) // a read of a pipe cannot be interrupted
	return registry.EachSample(f.urls, file, each)
}

// URLJudge is a file that judges a list of URLs.
type URLJudge struct {
	explained
	body    []byte // nil if the file is rebuilt from tables
	file    fileLines
	lines   []string // of the rules, as they are shown; "" if not yet asked for
	Unknown string   // why nothing decides, or ""
}

func newURLJudge(p *robots.Profile, agent robots.Agent, c *fetch.Capture) *URLJudge {
	l := &URLJudge{explained: explained{Profile: p, judge: robots.NewJudge(p, []robots.Agent{agent})}, body: c.Whole()}
	l.file = fileLines{body: l.body}
	l.load(c)
	l.lines = make([]string, len(l.File.Rules))
	return l
}

// sayCut says that the profile reads only the beginning of a file.
func (l *URLJudge) sayCut(stderr io.Writer, name string) {
	if l == nil {
		return
	}
	if note := cutNote(&l.File, l.Profile); note != "" {
		fmt.Fprintf(stderr, "%s: %s\n", visible.Text(remote.Name(name)), note)
	}
}

// Why says what decides: a line of the file, or why none does.
func (l *URLJudge) Why(v robots.Verdict) string {
	if l.Unknown != "" {
		return l.Unknown
	}
	if v.Rule < 0 || !l.answer.AsksRules() {
		if l.File.RefusedAt() == 0 && (v.Reason == robots.ReasonFullAllow || v.Reason == robots.ReasonFullDisallow || v.Reason == robots.ReasonUndefined && !l.answer.AsksRules()) {
			return words.Reason.Of(string(l.answer.Reason))
		}
		return noLine(v.Reason, &l.File)
	}
	if l.lines[v.Rule] == "" {
		rule := &l.File.Rules[v.Rule]
		l.lines[v.Rule] = l.file.text(rule.Line)
		if l.body == nil {
			l.lines[v.Rule] = fmt.Sprintf("line %d: %s", rule.Line, Shortened(visible.Text(RuleText(rule.Kind.String(), schema.Text(rule.Pattern)))))
		}
	}
	return l.lines[v.Rule]
}

// RuleText writes a rule as a line of a file.
func RuleText(kind, pattern string) string {
	return strings.ToUpper(kind[:1]) + kind[1:] + ": " + pattern
}

// urlList prints verdicts on URLs.
type urlList struct {
	name          string // of the list
	out           *bufio.Writer
	json          bool
	origin        *fetch.Origin // of the file, nil if it is not known
	before, after *URLJudge     // before is nil without --changed-from

	line     []byte // memory of judge
	printed  int
	verdicts verdicts
}

// newList prints to stdout what is judged of the list that --urls names.
func (f *flags) newList(stdout io.Writer) *urlList {
	return &urlList{name: remote.Name(f.urls), out: bufio.NewWriterSize(stdout, 1<<16), json: f.json}
}

// judgedURL is an element of check --urls --json.
type judgedURL struct {
	URL string `json:"url"`
	judgement
	Before *judgement `json:"before,omitempty"` // by the file of --changed-from
}

type judgement struct {
	Decision
	Remark    string `json:"remark,omitempty"`    // why nothing decides
	Truncated bool   `json:"truncated,omitempty"` // the size limit cuts the file
}

func (l *urlList) judge(s registry.Sample) error {
	if s.Origin != nil && l.origin != nil && *s.Origin != *l.origin {
		return &userfile.Error{Path: l.name, Line: s.Line, Err: fmt.Errorf("has another origin than %s, whose robots.txt decides; give URLs of that, or paths", l.origin)}
	}
	v := l.after.verdict(s.URL)
	var was *robots.Verdict
	if l.before != nil {
		before := l.before.verdict(s.URL)
		if was = &before; was.Value == v.Value {
			return nil
		}
	} else {
		l.verdicts.add(v.Value)
	}
	var err error
	if l.line, err = l.text(l.line[:0], s.URL, l.after, v, l.before, was); err != nil {
		return err
	}
	return l.print(l.line)
}

// verdict is Verdict, but for a URL on which nothing decides.
func (l *URLJudge) verdict(url string) robots.Verdict {
	if l.Unknown != "" {
		return robots.Verdict{Value: robots.Undefined, Reason: robots.ReasonUndefined, Rule: -1}
	}
	return l.Verdict(url)
}

// text appends a line about a URL, or the object for it. was is nil without a file before.
func (l *urlList) text(out []byte, url string, after *URLJudge, v robots.Verdict, before *URLJudge, was *robots.Verdict) ([]byte, error) {
	if l.json {
		object := judgedURL{URL: url, judgement: after.judgement(v)}
		if was != nil {
			j := before.judgement(*was)
			object.Before = &j
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("line %s: %w", strconv.Quote(url), err)
		}
		return append(out, visible.JSON(text)...), nil
	}
	if was != nil {
		out = append(append(out, was.Value.String()...), " > "...)
	}
	out = append(append(out, v.Value.String()...), '\t')
	out = append(append(out, visible.Text(url)...), '\t')
	if was != nil {
		out = append(append(out, before.Why(*was)...), " > "...)
	}
	return append(append(out, after.Why(v)...), '\n'), nil
}

// print prints what text returned.
func (l *urlList) print(text []byte) error {
	if l.printed++; l.json {
		begin := ",\n"
		if l.printed == 1 {
			begin = "[\n"
		}
		l.out.WriteString(begin)
	}
	return written(l.out.Write(text))
}

func (l *URLJudge) judgement(v robots.Verdict) judgement {
	return judgement{DecisionOf(&l.File, v), l.Unknown, l.File.Truncated}
}

func written(_ int, err error) error {
	if err != nil {
		return fmt.Errorf("write to standard output: %w", err)
	}
	return nil
}

// finish ends the output and returns the exit code.
func (l *urlList) finish() error {
	if l.json {
		end := "\n]\n"
		if l.printed == 0 {
			end = "[]\n"
		}
		l.out.WriteString(end)
	}
	switch err := written(0, l.out.Flush()); {
	case err != nil:
		return err
	case l.before != nil && l.printed > 0:
		return exit.Different
	}
	return l.verdicts.code()
}
