package run

import (
	"errors"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// Values of --pages: without one, the page is asked for where the file lets the agent in.
const (
	pagesAllowed = "allowed"
	pagesAll     = "all"
)

// asksPages is the value of --pages.
type asksPages string

func (a *asksPages) Type() string   { return "which" }
func (a *asksPages) String() string { return string(*a) }

func (a *asksPages) Set(text string) error {
	if text != "" && text != pagesAllowed && text != pagesAll {
		return errors.New("expected no value, or all")
	}
	*a = asksPages(text)
	return nil
}

// setPages asks for the page of --page under each identity. Nobody is asked for stored answers; the
// plan of a run that judges others again has the --pages of these.
func (f *Flags) setPages(c *pipeline.Config) error {
	if f.pages == "" || c.Source.IsStored() {
		return nil
	}
	origin := fetch.Origin{Scheme: "https", Host: "host.example", Port: 443}
	o, target, _, err := fetch.Redirect(origin.RobotsURL(), f.page)
	switch {
	case f.alsoAs == "":
		return cli.Usagef("--pages needs --also-as FILE: it is asked for under those identities")
	case err != nil || !strings.HasPrefix(f.page, "/") || strings.HasPrefix(f.page, "//") || o != origin ||
		target != f.page || len(f.page) > 1<<10:
		return cli.Usagef("--page %q: give a path as in a request, such as / or /news?page=2", f.page)
	case target == schema.RobotsPath || strings.HasPrefix(target, schema.RobotsPath+"?"):
		return cli.Usagef("--page %s: each identity is asked for it without --pages", f.page)
	}
	w := &documents.WantedPage{Path: f.page, All: f.pages == pagesAll, Identities: c.Fetch.Identities}
	if w.Control() < 0 {
		return cli.Usagef("--pages compares with a control: add an identity without user_agent to %s", f.alsoAs)
	}
	for _, i := range w.Identities {
		agent := robots.Agent{Name: "*"} // no group names it
		if k := slices.IndexFunc(c.Evaluate.Agents, func(a schema.Agent) bool { return a.Name == i.Agent }); i.IsControl {
			agent = robots.Agent{Name: "own", Tokens: client.OwnTokens(c.Fetch.UserAgent)}
		} else if k >= 0 {
			agent = registry.Robots(&c.Evaluate.Agents[k])
		}
		w.Agents = append(w.Agents, agent)
	}
	c.Fetch.Further = append(c.Fetch.Further, w.Plan())
	f.askedPages = w
	return nil
}
