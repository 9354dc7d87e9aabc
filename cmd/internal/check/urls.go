package check

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/robocensus/robocensus/cmd/internal/cli"
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
func (f *checkFlags) checkURLs(ctx context.Context, args []string, profiles []*robots.Profile, stdin io.Reader, stdout,
	stderr io.Writer) error {
	switch {
	case f.jsonl:
		return cli.Usagef("--urls and --jsonl exclude each other: give one of them")
	case len(profiles) > 1:
		return cli.Usagef("--urls takes one profile")
	case len(f.agents) > 1:
		return cli.Usagef("--urls takes one agent")
	case len(args) < 1 || len(args)+len(f.agents) > 2:
		return cli.Usagef("give a robots.txt file or a host, an agent, and --urls FILE; see robocensus check --help")
	case args[0] == "-" && f.urls == "-", f.before == "-" && (f.urls == "-" || args[0] == "-"):
		return cli.Usagef("only one input can be standard input")
	}
	names := append(args[1:], f.agents...)
	agents, err := f.findAgents(ctx, names)
	if err != nil {
		return err
	}
	list := f.newList(stdout)
	shown := profiles
	for _, agent := range agents {
		shown = f.ForAgent(profiles, agent.Agent)
		io.WriteString(stderr, agent.remark)
	}
	capture, err := f.captureOf(ctx, args[0], shown, stdin)
	if err != nil {
		return err
	}
	if capture.Origin != (fetch.Origin{}) {
		list.origin = &capture.Origin
	}
	var before *fetch.Capture
	if f.before != "" {
		body, err := f.ReadRobots(ctx, f.before, stdin)
		if err != nil {
			return err
		}
		before = fileCapture(body)
	}
	judges := &agentJudges{checkFlags: f, profiles: profiles, capture: capture, before: before,
		known: make(map[string]*agentJudge)}
	in := &urlInput{stderr: stderr, origin: list.origin}
	if len(agents) > 0 {
		list.take(judges.of(agents[0].Agent))
		list.after.sayCut(stderr, args[0])
		list.before.sayCut(stderr, f.before)
		in.each = list.judge
	}
	skipped, elsewhere := int64(0), int64(0) // requests of others, and for other hosts
	in.logged = func(r request) error {
		agent, err := judges.sender(ctx, r.userAgent, agents)
		switch {
		case err != nil:
			return err
		case agent == nil:
			skipped++
			return nil
		}
		if list.isElsewhere(r) {
			elsewhere++
			return nil
		}
		list.take(agent.after, agent.before)
		r.agent = agent.name
		return list.judgeRequest(r)
	}
	defer cli.ShowCount(stderr, "judged", list.judged.Load)()
	if err := f.readURLs(ctx, in, stdin); err != nil {
		return errors.Join(err, list.out.Flush())
	}
	if elsewhere > 0 {
		in.note("%s of a proxy for other hosts passed over", words.Count(elsewhere, "request"))
	}
	switch {
	case skipped > 0 && len(agents) > 0:
		in.note("%s of others than %s passed over", words.Count(skipped, "request"), visible.Text(agents[0].Name))
	case skipped > 0:
		in.note("%s of others than the agents of the registry passed over", words.Count(skipped, "request"))
	}
	return list.finish()
}

// agentJudges judge the requests of an access log, each for the agent that sent it.
type agentJudges struct {
	*checkFlags
	profiles        []*robots.Profile
	capture, before *fetch.Capture // before is nil without --changed-from

	known map[string]*agentJudge // by name
	sent  map[string]*agentJudge // by User-Agent header
}

type agentJudge struct {
	name          string
	after, before *URLJudge
}

// mostHeaders bounds the headers that are remembered.
const mostHeaders = 10_000

// of returns who judges for an agent, by the file and by the one before.
func (j *agentJudges) of(agent schema.Agent) (after, before *URLJudge) {
	if known := j.known[agent.Name]; known != nil {
		return known.after, known.before
	}
	p := j.ForAgent(j.profiles, agent)[0]
	after = newURLJudge(p, registry.Robots(&agent), j.capture)
	if j.before != nil {
		before = newURLJudge(p, registry.Robots(&agent), j.before)
	}
	j.known[agent.Name] = &agentJudge{agent.Name, after, before}
	return after, before
}

// sender returns who judges for the agent that sends a header, nil if it is none of the
// registry, or another one than those that the user asks about.
func (j *agentJudges) sender(ctx context.Context, userAgent string, asked []askedAgent) (*agentJudge, error) {
	if judge, ok := j.sent[userAgent]; ok {
		return judge, nil
	}
	agent, ok, err := j.AgentOf(ctx, userAgent)
	if err != nil {
		return nil, err
	}
	if len(asked) > 0 && (!ok || !strings.EqualFold(agent.Name, asked[0].Name)) {
		// A name that is not in the registry stands in the header as it is.
		agent = asked[0].Agent
		ok = asked[0].remark != "" && strings.Contains(strings.ToLower(userAgent), strings.ToLower(agent.Name))
	}
	var judge *agentJudge
	if ok {
		j.of(agent)
		judge = j.known[agent.Name]
	}
	if j.sent == nil || len(j.sent) >= mostHeaders {
		j.sent = make(map[string]*agentJudge)
	}
	j.sent[strings.Clone(userAgent)] = judge
	return judge, nil
}

// captureOf returns the capture of a file, or fetches that of a URL's origin.
func (f *checkFlags) captureOf(ctx context.Context, name string, profiles []*robots.Profile, stdin io.Reader) (
	*fetch.Capture, error) {
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

// URLJudge is a file that judges a list of URLs.
type URLJudge struct {
	explained
	body    []byte // nil if the file is rebuilt from tables
	file    fileLines
	lines   []string // of the rules, as they are shown; "" if not yet asked for
	Unknown string   // why nothing decides, or ""
}

func newURLJudge(p *robots.Profile, agent robots.Agent, c *fetch.Capture) *URLJudge {
	l := &URLJudge{explained: explained{Profile: p, judge: robots.NewJudge(p, []robots.Agent{agent})}}
	l.load(c)
	l.body, _ = c.Read(l.answer)
	l.file = fileLines{body: l.body}
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
		if l.File.RefusedAt() == 0 && (v.Reason == robots.ReasonFullAllow || v.Reason == robots.ReasonFullDisallow ||
			v.Reason == robots.ReasonUndefined && !l.answer.AsksRules()) {
			return l.answerWords()
		}
		return noLine(v.Reason, &l.File)
	}
	if l.lines[v.Rule] == "" {
		rule := &l.File.Rules[v.Rule]
		l.lines[v.Rule] = l.file.text(rule.Line)
		if l.body == nil {
			l.lines[v.Rule] = fmt.Sprintf("line %d: %s", rule.Line,
				Shortened(visible.Text(RuleText(rule.Kind.String(), schema.Text(rule.Pattern)))))
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
	request       *request      // of an access log, that is judged; nil for a URL
	asked         request       // the first of the log that names its host

	line     []byte // memory of judge
	printed  int
	judged   atomic.Int64
	verdicts verdicts
}

// newList prints to stdout what is judged of the list that --urls names.
func (f *checkFlags) newList(stdout io.Writer) *urlList {
	return &urlList{name: remote.Name(f.urls), out: bufio.NewWriterSize(stdout, 1<<16), json: f.json}
}

// judgedURL is an element of check --urls --json.
type judgedURL struct {
	URL string `json:"url"`
	judgement
	Agent  string     `json:"agent,omitempty"`  // that sent a request of an access log
	Status int        `json:"status,omitempty"` // which the server answered
	Before *judgement `json:"before,omitempty"` // by the file of --changed-from
}

type judgement struct {
	Decision
	Remark    string `json:"remark,omitempty"`    // why nothing decides
	Truncated bool   `json:"truncated,omitempty"` // the size limit cuts the file
}

// take sets who judges.
func (l *urlList) take(after, before *URLJudge) { l.after, l.before = after, before }

func (l *urlList) judge(s registry.Sample) error {
	l.judged.Add(1)
	if s.Origin != nil && l.origin != nil && *s.Origin != *l.origin {
		return &userfile.Error{Path: l.name, Line: s.Line,
			Err: fmt.Errorf("has another origin than %s, whose robots.txt decides; give URLs of that, or paths", l.origin)}
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
func (l *urlList) text(out []byte, url string, after *URLJudge, v robots.Verdict, before *URLJudge,
	was *robots.Verdict) ([]byte, error) {
	if l.json {
		object := judgedURL{URL: url, judgement: after.judgement(v)}
		if was != nil {
			j := before.judgement(*was)
			object.Before = &j
		}
		if l.request != nil {
			object.Agent, object.Status = l.request.agent, l.request.status
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
	out = append(out, after.Why(v)...)
	if l.request != nil {
		out = append(append(append(out, '\t'), visible.Text(l.request.agent)...), '\t')
		out = strconv.AppendInt(out, int64(l.request.status), 10)
	}
	return append(out, '\n'), nil
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
		return cli.ExitDifferent
	}
	return l.verdicts.code()
}
