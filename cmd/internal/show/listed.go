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

const (
	sitemapColumns = "url, parent, line, kind, status, outcome, urls, urls_read, urls_new, outside, sitemaps, remark"

	coverageColumns = "agent, listed, sampled, allowed, disallowed, undefined, rule_line, rule_pattern, example"
)

// addCoverage adds what agents may fetch of the pages that the origin lists: search engines, and
// those that are named.
func (v *hostView) addCoverage(ctx context.Context, r *lookup.Run, t *lookup.Target, named []string) error {
	err := v.Coverage.lookUp(ctx, r, t, "coverage", coverageColumns)
	v.Coverage.rows = slices.DeleteFunc(v.Coverage.rows, func(c schema.Coverage) bool {
		isMeant := slices.Contains(evaluate.SearchEngines, c.Agent) ||
			slices.ContainsFunc(named, func(name string) bool { return strings.EqualFold(name, c.Agent) })
		return !isMeant || c.Profile != v.Profile
	})
	return err
}

// mostSitemapsShown is how many sitemaps with a fault the terminal shows.
const mostSitemapsShown = 5

func (v *hostView) printListed(p *cli.Text) {
	if len(v.Listing.rows) == 0 {
		return
	}
	var odd []string
	pages, asked := int64(0), int64(0)
	for i := range v.Listing.rows {
		f := &v.Listing.rows[i]
		if summary.AskedFor(f) {
			asked++
		}
		if pages += f.URLsNew; fault(f) != "" {
			odd = append(odd, fault(f))
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
	for i := range v.Coverage.rows {
		p.Line("    " + p.Foreign(coverageWords(&v.Coverage.rows[i])))
	}
}

// fault tells what is wrong with a sitemap, "" for nothing.
func fault(f *schema.SitemapFile) string {
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

// coverageWords tells how much of what is listed an agent may fetch, and what closes most.
func coverageWords(c *schema.Coverage) string {
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
