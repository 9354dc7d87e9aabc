package show

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/check"
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/store"
)

// urlView says what every profile makes of a URL for an agent: first those of the run,
// then the other built-in ones.
type urlView struct {
	Agent    string        `json:"agent"`
	URL      string        `json:"url"`
	Readings []readingView `json:"readings"`
}

type readingView struct {
	Profile string `json:"profile"`
	check.Decision
	Remark string `json:"remark,omitempty"` // why the run cannot tell
	why    string
}

// urlShower judges URLs by what a run has about a target, under all profiles.
type urlShower struct {
	run      *lookup.Run
	registry *past.Registry
	profiles []*robots.Profile
}

// newURLShower takes the profiles of a run, that named first before the others.
func newURLShower(run *lookup.Run, r *past.Registry, first string) (*urlShower, error) {
	u := &urlShower{run: run, registry: r}
	for _, name := range slices.Concat([]string{first}, run.Manifest.Profiles) {
		if slices.ContainsFunc(u.profiles, func(p *robots.Profile) bool { return p.Name == name }) {
			continue
		}
		p, err := past.Profile(run.Manifest, name)
		if err != nil {
			return nil, err
		}
		u.profiles = append(u.profiles, p)
	}
	u.profiles = check.WithOthers(u.profiles)
	return u, nil
}

// view judges a URL of a target for an agent. The profile own is that of the agent's
// parser.
func (u *urlShower) view(ctx context.Context, t *lookup.Target, body []byte, name, url string) (*urlView, error) {
	entry, _ := check.AgentOf(u.registry, name)
	v := &urlView{Agent: entry.Name, URL: url}
	found, err := lookup.FoundOf(ctx, u.run, t, body)
	if err != nil {
		return nil, err
	}
	for _, p := range u.profiles {
		p, err := past.JudgedBy(u.run.Manifest, p, &entry)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(v.Readings, func(r readingView) bool { return r.Profile == p.Name }) {
			continue
		}
		c, err := check.NewRunChecker(u.run, p, registry.Robots(&entry))
		if err != nil {
			return nil, err
		}
		v.Readings = append(v.Readings, readingOf(c.Judge(found), url))
	}
	return v, nil
}

func readingOf(l *check.URLJudge, url string) readingView {
	v := robots.Verdict{Value: robots.Undefined, Reason: robots.ReasonUndefined, Rule: -1}
	if l.Unknown == "" {
		v = l.Verdict(url)
	}
	return readingView{l.Profile.Name, check.DecisionOf(&l.File, v), l.Unknown, l.Why(v)}
}

// addURLs adds what all profiles make of the URLs for the agents, to each view that has
// their origin.
func (f *showFlags) addURLs(ctx context.Context, in store.Store, r *lookup.Run, profile string,
	views []*hostView) error {
	run, err := past.Read(ctx, in, r.Manifest.Run)
	if err != nil {
		return err
	}
	u, err := newURLShower(r, run.Registry, profile)
	if err != nil {
		return err
	}
	for _, url := range f.urls {
		found := false
		for _, v := range views {
			if o, _, err := fetch.Parse(url, ""); err == nil && o.String() != v.Origin {
				continue
			}
			found = true
			for _, agent := range f.agents {
				view, err := u.view(ctx, v.target, v.body, agent, url)
				if err != nil {
					return err
				}
				v.URLs = append(v.URLs, view)
			}
		}
		if !found {
			return cli.Usagef("--url: %s is not a URL of the hosts that are shown", url)
		}
	}
	return nil
}

// print shows who lets the agent in and who keeps it out, with one line for each opinion.
func (v *urlView) print(p *cli.Text) {
	p.Line(p.Foreign(v.Agent + " on " + v.URL))
	type opinion struct{ verdict, why string }
	held := make(map[opinion][]string)
	var order []opinion
	for _, r := range v.Readings {
		o := opinion{r.Verdict, r.why}
		if held[o] == nil {
			order = append(order, o)
		}
		held[o] = append(held[o], r.Profile)
	}
	for _, o := range order {
		p.Line(p.Foreign(fmt.Sprintf("  %-9s  %s   (%s)", o.verdict, o.why, strings.Join(held[o], ", "))))
	}
}
