package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/visible"
)

// listedBounds say how much of one site is read. All of it is in memory.
var listedBounds = sitemap.Bounds{Files: 100, Bytes: 100 << 20, Sample: sitemap.MaxSample}

// siteList is what the sitemaps of a site list, as JSON has it.
type siteList struct {
	Origin       string        `json:"origin"` // whose URLs are judged, "" if none has one
	Sitemaps     []siteMap     `json:"sitemaps"`
	Indexed      int64         `json:"sitemaps_listed"` // by the indexes among them
	Listed       int64         `json:"listed"`
	Judged       int           `json:"judged"` // different ones
	Outside      int64         `json:"outside"`
	BeyondFolder int64         `json:"beyond_folder"`
	Agents       []siteShare   `json:"agents"`
	Closing      []siteClosing `json:"closing"` // the line that closes most first

	urls []sitemap.Sampled
}

// siteMap is a sitemap that was asked for or read.
type siteMap struct {
	URL     string            `json:"url"`
	Kind    sitemap.Kind      `json:"kind"`
	Status  int               `json:"status,omitempty"` // of a request
	Outcome usage.PageOutcome `json:"outcome"`
	Remarks []sitemap.Remark  `json:"remarks,omitempty"`
	trouble string            // why not all of it was read, or ""
	asked   bool
}

// siteShare is how much of what is listed an agent may fetch.
type siteShare struct {
	Agent      string `json:"agent"`
	Profile    string `json:"profile"`
	Allowed    int    `json:"allowed"`
	Disallowed int    `json:"disallowed"`
	Undefined  int    `json:"undefined"`
}

// siteClosing is a line, or another reason, that closes listed URLs to agents.
type siteClosing struct {
	Reason  string   `json:"reason"`
	Line    int32    `json:"line"` // 0 if no rule decides
	Pattern string   `json:"pattern"`
	Agents  []string `json:"agents"` // to which it closes the same number, and the same one first
	URLs    int      `json:"urls"`
	Example string   `json:"example"`
	why     string
}

// checkSitemap judges what a sitemap lists for each agent, and shows it in sum.
func (f *checkFlags) checkSitemap(
	ctx context.Context, args []string, profiles []*robots.Profile, stdin io.Reader, stdout, stderr io.Writer,
) error {
	switch {
	case len(args) < 1 || len(args) > 2 || len(args)+len(f.agents) < 2:
		return cli.Usagef("give a robots.txt file or a host, --sitemap URL|FILE and --agent AGENT; see robocensus check " +
			"--help")
	case len(profiles) > 1:
		return cli.Usagef("--sitemap takes one profile")
	}
	asked, err := f.findAgents(ctx, append(args[1:], f.agents...))
	if err != nil {
		return err
	}
	shown := slices.Clone(profiles)
	for _, agent := range asked {
		shown = append(shown, f.ForAgent(profiles, agent.Agent)...)
		io.WriteString(stderr, agent.remark)
	}
	capture, list, err := f.readListed(ctx, args[0], shown, stdin)
	if err != nil {
		return err
	}
	var all verdicts
	for i, agent := range asked {
		l := newURLJudge(f.ForAgent(profiles, agent.Agent)[0], registry.Robots(&agent.Agent), capture)
		if i == 0 {
			l.sayCut(stderr, args[0])
		}
		all.join(list.judge(l, agent.Name))
	}
	slices.SortStableFunc(list.Closing, func(a, b siteClosing) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), cmp.Compare(a.Line, b.Line))
	})
	if f.json {
		err = cli.JSON(stdout, list)
	} else {
		list.print(stdout)
	}
	if err != nil {
		return err
	}
	return all.code()
}

// readListed returns the file that decides, and what the sitemap lists.
func (f *checkFlags) readListed(
	ctx context.Context, name string, profiles []*robots.Profile, stdin io.Reader,
) (*fetch.Capture, *siteList, error) {
	isHost, isURL := isLive([]string{name}), strings.Contains(f.sitemap, "://")
	asked, host := name, fetch.Origin{}
	var plans []fetch.Plan
	if isURL {
		var err error
		if host, _, err = fetch.Parse(f.sitemap, ""); err != nil {
			return nil, nil, cli.UsageError{Err: err}
		}
		if host.Scheme != "http" && host.Scheme != "https" {
			return nil, nil, cli.Usagef("--sitemap asks over http and https only; give such a URL or a file")
		}
		bounds := listedBounds
		bounds.From, bounds.Profile = f.sitemap, profiles[0]
		plans = append(plans, bounds.Plan())
	}
	var capture, answer *fetch.Capture
	if !isHost {
		asked = f.sitemap
		body, err := f.ReadRobots(ctx, name, stdin)
		if err != nil {
			return nil, nil, err
		}
		capture = fileCapture(body)
	}
	if isHost || isURL {
		captures, err := f.captures(ctx, []string{liveURL(asked)}, profiles, plans...)
		if err != nil {
			return nil, nil, err
		}
		answer = captures[0]
		if host = answer.Origin; isHost {
			capture = answer
		}
	}
	list := &siteList{Closing: []siteClosing{}}
	if !isURL {
		of, err := f.readLocal(ctx, list, host)
		if err != nil {
			return nil, nil, err
		}
		if m := &list.Sitemaps[0]; m.Kind == sitemap.None {
			return nil, nil, f.notListed(m.trouble)
		}
		return capture, list, f.close(list, of)
	}
	if len(answer.Further) == 0 {
		return nil, nil, f.notListed("was not asked for: " + answered(answer, profiles[0]))
	}
	for i, further := range answer.Further {
		if err := list.add(further); err != nil {
			return nil, nil, err
		}
		if m := &list.Sitemaps[i]; i == 0 && m.Kind == sitemap.None {
			return nil, nil, f.notListed(m.trouble)
		}
	}
	return capture, list, f.close(list, host)
}

// close takes the sample of all sitemaps. To list nothing that can be judged is an error:
// nothing would be closed of it.
func (f *checkFlags) close(list *siteList, host fetch.Origin) error {
	if host != (fetch.Origin{}) {
		list.Origin = host.String()
	}
	list.urls = sitemap.Smallest(sitemap.MaxSample, list.urls)
	list.Judged = len(list.urls)
	switch {
	case list.Judged > 0:
		return nil
	case list.Outside > 0:
		return f.notListed(fmt.Sprintf("lists no URL of %s, but %s of other origins", list.Origin,
			words.Count(list.Outside, "URL")))
	case list.Indexed > 0:
		return f.notListed(fmt.Sprintf("is an index of %s and lists no page that could be read",
			words.Count(list.Indexed, "sitemap")))
	}
	return f.notListed("lists no page")
}

func (f *checkFlags) notListed(why string) error {
	return &userfile.Error{Path: visible.Text(remote.Name(f.sitemap)), Err: errors.New(visible.Text(why))}
}

// readLocal reads the list of a file.
func (f *checkFlags) readLocal(ctx context.Context, l *siteList, host fetch.Origin) (fetch.Origin, error) {
	file, err := os.Open(f.sitemap)
	if err != nil {
		return host, &userfile.Error{Path: f.sitemap, Err: errors.Unwrap(err)}
	}
	defer file.Close()
	cli.EndBySignal(ctx) // a read of a pipe cannot be interrupted
	r, of, err := listedBounds.Read(file, host)
	if err != nil {
		return of, &userfile.Error{Path: f.sitemap, Err: err}
	}
	l.take(siteMap{URL: f.sitemap, Outcome: usage.PageRead}, &r)
	return of, nil
}

// add takes a sitemap that was asked for.
func (l *siteList) add(f *fetch.Further) error {
	m := siteMap{URL: f.URL, Status: f.Status(), Outcome: f.Outcome, trouble: words.PageOutcome.Of(string(f.Outcome)),
		asked: len(f.Hops) > 0}
	switch {
	case m.asked && f.Outcome == usage.PageDisallowed:
		m.trouble = "redirects to a URL that robots.txt closes to this census"
	case f.Error != "":
		m.trouble = words.ErrorClass.Of(string(f.Error))
	case f.Outcome == usage.PageStatus:
		m.trouble = fmt.Sprintf("answers with status %d", m.Status)
	}
	r := sitemap.Reading{Kind: sitemap.None}
	if f.Reading != nil {
		var err error
		if r, err = sitemap.ReadingOf(f); err != nil {
			return err
		}
	}
	l.take(m, &r)
	return nil
}

// take takes what was read of a sitemap.
func (l *siteList) take(m siteMap, r *sitemap.Reading) {
	m.Kind, m.Remarks = r.Kind, r.Remarks
	remarks := make([]string, len(r.Remarks))
	for i, remark := range r.Remarks {
		remarks[i] = string(remark)
	}
	switch {
	case m.Outcome == usage.PageRead && r.Kind == sitemap.None && slices.Contains(r.Remarks, sitemap.HTML):
		m.trouble = "is a web page and no sitemap"
	case m.Outcome == usage.PageRead && r.Kind == sitemap.None:
		m.trouble = "is no sitemap (" + strings.Join(remarks, ", ") + ")"
	case r.IsDamaged():
		m.trouble = "not all of it could be read (" + strings.Join(remarks, ", ") + ")"
	case m.Outcome == usage.PageRead:
		m.trouble = ""
	}
	l.Sitemaps = append(l.Sitemaps, m)
	l.Indexed += r.Sitemaps
	l.Listed += r.Listed
	l.Outside += r.Outside
	l.BeyondFolder += r.BeyondFolder
	l.urls = append(l.urls, r.Sample...)
}

// judge judges the list for an agent.
func (l *siteList) judge(by *URLJudge, agent string) (all verdicts) {
	share := siteShare{Agent: agent, Profile: by.Profile.Name}
	closing := make(map[Decision]*siteClosing)
	for i := range l.urls {
		url := l.urls[i].URL
		v := by.Verdict(url)
		all.add(v.Value)
		switch v.Value {
		case robots.Permitted:
			share.Allowed++
			continue
		case robots.Undefined:
			share.Undefined++
			continue
		}
		share.Disallowed++
		d := DecisionOf(&by.File, v)
		if closing[d] == nil {
			closing[d] = &siteClosing{Reason: d.Reason, Line: d.Line, Pattern: d.Pattern, Example: url, why: by.Why(v)}
		}
		closing[d].URLs++
	}
	l.Agents = append(l.Agents, share)
	for _, c := range closing {
		same := slices.IndexFunc(l.Closing, func(o siteClosing) bool {
			return o.Reason == c.Reason && o.Line == c.Line && o.Pattern == c.Pattern && o.why == c.why &&
				o.URLs == c.URLs && o.Example == c.Example
		})
		if same < 0 {
			same, l.Closing = len(l.Closing), append(l.Closing, *c)
		}
		l.Closing[same].Agents = append(l.Closing[same].Agents, agent)
	}
	return all
}

// Lines of the screen that are shown of each kind.
const (
	shownMaps    = 5
	shownClosing = 10
)

// print shows the list on one screen.
func (l *siteList) print(out io.Writer) {
	judged := words.Number(int64(l.Judged)) + " judged, each once"
	if l.Judged == sitemap.MaxSample {
		judged = "a sample of " + words.Number(int64(l.Judged)) + " judged"
	}
	fmt.Fprintf(out, "%s listed of %s; %s\n", words.Count(l.Listed, "URL"), cmp.Or(visible.Text(l.Origin), "no origin"),
		judged)
	if l.Outside > 0 {
		fmt.Fprintf(out, "  %s of other origins, not judged\n", words.Count(l.Outside, "URL"))
	}
	if l.BeyondFolder > 0 {
		fmt.Fprintf(out, "  %s beyond the folder of the sitemap\n", words.Count(l.BeyondFolder, "URL"))
	}
	if l.Indexed > 0 {
		asked := int64(0)
		for i := range l.Sitemaps[1:] {
			if l.Sitemaps[1+i].asked {
				asked++
			}
		}
		fmt.Fprintf(out, "  %s listed by indexes, %s asked for\n", words.Count(l.Indexed, "sitemap"), words.Number(asked))
	}
	troubled := slices.DeleteFunc(slices.Clone(l.Sitemaps), func(m siteMap) bool { return m.trouble == "" })
	for _, m := range troubled[:min(len(troubled), shownMaps)] {
		fmt.Fprintf(out, "  %s: %s\n", Shortened(visible.Text(m.URL)), m.trouble)
	}
	if more := len(troubled) - shownMaps; more > 0 {
		fmt.Fprintf(out, "  and %s that could not be read, or not all of it\n", words.Count(int64(more), "more sitemap"))
	}
	rows := make([][]string, len(l.Agents))
	for i, a := range l.Agents {
		rows[i] = []string{visible.Text(a.Agent)}
		for _, n := range []int{a.Allowed, a.Disallowed, a.Undefined} {
			rows[i] = append(rows[i], words.Number(int64(n)))
		}
	}
	fmt.Fprintln(out)
	(&cli.Text{Out: out}).Rows([]string{"agent", "open", "closed", "undefined"}, 1, rows)
	if len(l.Closing) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", cli.Paint(out, cli.Bold, "What closes listed URLs"))
	for _, c := range l.Closing[:min(len(l.Closing), shownClosing)] {
		agents := make([]string, len(c.Agents))
		for i, name := range c.Agents {
			agents[i] = visible.Text(name)
		}
		urls, to := words.Count(int64(c.URLs), "URL"), words.Tied(agents, "agents")
		fmt.Fprintf(out, "  %s\n      %s to %s, such as %s\n", c.why, urls, to, Shortened(visible.Text(c.Example)))
	}
	if more := len(l.Closing) - shownClosing; more > 0 {
		fmt.Fprintf(out, "  and %s, with fewer URLs or as many: see --json\n", words.Count(int64(more), "more line"))
	}
}
