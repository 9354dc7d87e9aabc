package show

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// sitemapView is a sitemap that the origin was to be asked for.
type sitemapView schema.SitemapFile

const sitemapColumns = "url, parent, line, kind, status, outcome, urls, urls_read, urls_new, outside, sitemaps, remark"

func (f sitemapView) MarshalJSON() ([]byte, error) { return schema.JSON(f, sitemapColumns) }

// coverageView is how much of what the origin lists an agent may fetch.
type coverageView schema.Coverage

const coverageColumns = "agent, listed, sampled, allowed, disallowed, undefined, rule_line, rule_pattern, example"

func (c coverageView) MarshalJSON() ([]byte, error) { return schema.JSON(c, coverageColumns) }

// addListed adds the sitemaps of the origin, and what agents may fetch of the pages there: search
// engines, and those that are named.
func (v *hostView) addListed(ctx context.Context, r *lookup.Run, t *lookup.Target, named []string) error {
	files, err := lookup.Rows[schema.SitemapFile](ctx, r, "sitemap_files", t)
	if err != nil {
		return err
	}
	for _, f := range files {
		v.Listing = append(v.Listing, sitemapView(f))
	}
	rows, err := lookup.Rows[schema.Coverage](ctx, r, "coverage", t)
	for _, c := range rows {
		isMeant := slices.Contains(evaluate.SearchEngines, c.Agent) ||
			slices.ContainsFunc(named, func(name string) bool { return strings.EqualFold(name, c.Agent) })
		if isMeant && c.Profile == v.Profile {
			v.Coverage = append(v.Coverage, coverageView(c))
		}
	}
	return err
}

// mostSitemapsShown is how many sitemaps with a fault the terminal shows.
const mostSitemapsShown = 5

func (v *hostView) printListed(p *cli.Text) {
	if len(v.Listing) == 0 {
		return
	}
	var odd []string
	pages, asked := int64(0), int64(0)
	for i := range v.Listing {
		f := &v.Listing[i]
		if summary.AskedFor((*schema.SitemapFile)(f)) {
			asked++
		}
		if pages += f.URLsNew; f.fault() != "" {
			odd = append(odd, f.fault())
		}
	}
	p.Line(fmt.Sprintf("  sitemaps: %s asked for; %s of its own listed",
		words.Number(asked), words.Count(pages, "different page")))
	for i, text := range odd {
		if i == mostSitemapsShown {
			p.Line(fmt.Sprintf("    and %s more, all in --json", words.Number(int64(len(odd)-i))))
			break
		}
		p.Line("    " + p.Foreign(text))
	}
	for i := range v.Coverage {
		p.Line("    " + p.Foreign(v.Coverage[i].words()))
	}
}

// fault tells what is wrong with a sitemap, "" for nothing.
func (f *sitemapView) fault() string {
	what := ""
	switch {
	case f.Outcome != "ok" && (f.Outcome != "damaged" || f.Kind != "none"):
		what = words.SitemapOutcome.Of(f.Outcome)
	case f.Kind == "none":
		what = "no sitemap"
	case f.URLs == 0 && f.Sitemaps == 0:
		what = "empty"
	case f.URLs > 0 && f.Outside == f.URLs:
		what = "lists pages of other origins alone"
	default:
		return ""
	}
	text := f.URL + ": " + what
	if f.Status != nil && f.Outcome != "ok" && f.Outcome != "damaged" {
		text += fmt.Sprintf(" (status %d)", *f.Status)
	}
	if f.Line != nil {
		text += fmt.Sprintf(", named in line %d", *f.Line)
	}
	return text
}

// words tells how much of what is listed the agent may fetch, and what closes most.
func (c *coverageView) words() string {
	text := fmt.Sprintf("%s may fetch %s of %s", c.Agent, words.Number(int64(c.Allowed)),
		words.Count(int64(c.Sampled), "listed page"))
	if c.Listed > int64(c.Sampled) {
		text += " that were judged"
	}
	switch {
	case c.RuleLine != nil:
		text += fmt.Sprintf("; line %d closes most", *c.RuleLine)
	case c.Undefined > 0:
		text += fmt.Sprintf("; of %s it is open", words.Number(int64(c.Undefined)))
	}
	if c.Example != nil {
		text += ", such as " + *c.Example
	}
	return text
}
