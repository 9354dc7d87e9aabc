package expect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
)

const ofCoverage = "coverage"

// coverageBar says how much of what a host lists its agents may fetch at least.
type coverageBar struct {
	Agent   words  `yaml:"agent"` // the same as agents of the expectation
	AtLeast string `yaml:"at_least"`

	percent float64
}

// checkCoverage takes the agents of coverage for those of the expectation, and reads the bar.
func (x *expectation) checkCoverage() (key string, err error) {
	c := x.Coverage
	if x.what != ofCoverage {
		return "", nil
	}
	if c == nil {
		return ofCoverage, errors.New(
			"coverage is empty: give an agent and a share, as in {agent: Googlebot, at_least: 99%}, " +
				"or a share, and category beside coverage")
	}
	if len(c.Agent) > 0 {
		if _, given := x.lines["agents"]; given {
			return "agents", errors.New("agents are those of coverage already; give them once")
		}
		x.Agents, x.lines["agents"] = c.Agent, x.lines[ofCoverage]
	}
	text, isShare := strings.CutSuffix(c.AtLeast, "%")
	c.percent, err = strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !isShare || !(c.percent > 0 && c.percent <= 100) {
		return ofCoverage, fmt.Errorf("at_least %q: use a share of the listed pages above 0%% and up to 100%%, such as 99%%",
			c.AtLeast)
	}
	return "", nil
}

// ofPages checks how much of the sample of what a host lists agents may fetch. Neither an
// outage nor a wall says it.
func (c *Checker) ofPages(s *selection, meant []int, batch []schema.Coverage) {
	for i := range batch {
		p := &batch[i]
		c.listed[p.Seq] = true
		for _, k := range s.at(c, meant, p.Seq, p.Host) {
			x := c.expectations.list[k]
			if !x.isOf(p.Agent, p.Category) || !x.Profile.has(p.Profile) || p.Sampled == 0 {
				continue
			}
			if p.Class == summary.ClassNames[summary.ClassUnknown] || p.Undefined > 0 || c.walled[p.Seq] {
				s.unknown(c, k)
				continue
			}
			s.checked(c, k, p.Host)
			if 100*float64(p.Allowed) >= x.Coverage.percent*float64(p.Sampled) {
				continue
			}
			c.breach(k, Breach{Host: p.Host, Agent: new(p.Agent), Profile: new(p.Profile), URL: p.Example, Line: p.RuleLine,
				Found: openPages(p)})
		}
	}
}

// openPages tells the pages that are open: of the sample and, if it is not all that is listed, of
// that.
func openPages(p *schema.Coverage) string {
	of := summary.Pages{Allowed: int64(p.Allowed), Sampled: int64(p.Sampled), Listed: p.Listed}
	text := "coverage: " + change.Coverage(of)
	if of.Listed > of.Sampled {
		_, low, high := summary.ShareOfPages(of.Allowed, of.Sampled, of.Listed)
		text += fmt.Sprintf(", %.1f%% to %.1f%% of the %d that are listed", 100*low, 100*high, of.Listed)
	}
	return text
}

// ofUnlisted checks the targets of a segment that have no rows of coverage, because no sitemap
// shows what they list. An agent that is shut out may fetch none of it, and the same rules often
// close the sitemaps to the census too. targets are those that expectations cover, nil if that
// is not known.
func (c *Checker) ofUnlisted(ctx context.Context, in store.Store, parts map[string][]journal.Part,
	targets []int64) error {
	meant := c.meant(ofCoverage)
	rest := slices.DeleteFunc(slices.Clone(targets), func(seq int64) bool { return c.listed[seq] })
	if len(meant) == 0 || targets != nil && len(rest) == 0 {
		return nil
	}
	of := rowio.Selection{Columns: checkedColumns["policies"]}
	if targets != nil {
		of.Wanted = rowio.Within(rest)
	}
	lists, err := c.lists(ctx, in, parts["sitemap_files"], of.Wanted)
	if err != nil {
		return err
	}
	s := new(selection)
	return rowio.Runs(ctx, in, parts["policies"], of, func(_ string, seq int64, rows []schema.Policy) error {
		for i := range rows {
			if !c.listed[seq] {
				c.unlisted(s, meant, &rows[i], lists[seq])
			}
		}
		return nil
	})
}

// lists returns what targets list that have no rows of coverage, as keys of the metric
// sitemap_host.
func (c *Checker) lists(ctx context.Context, in store.Store, parts []journal.Part,
	wanted func(least, greatest int64) bool) (map[int64]string, error) {
	out := make(map[int64]string)
	err := rowio.Targets(ctx, in, parts,
		rowio.Selection{Columns: []string{"seq", "kind", "outcome", "urls"}, Wanted: wanted},
		func(seq int64, files []schema.SitemapFile) error {
			if !c.listed[seq] {
				out[seq] = evaluate.HostLists(files, 0)
			}
			return nil
		})
	return out, err
}

// unlisted checks a policy of a target of which no sitemap shows pages of its own; lists says why.
func (c *Checker) unlisted(s *selection, meant []int, p *schema.Policy, lists string) {
	for _, k := range s.at(c, meant, p.Seq, p.Host) {
		x, promise := c.expectations.list[k], c.promises[k]
		if !x.isOf(p.Agent, p.Category) || !x.Profile.has(p.Profile) {
			continue
		}
		switch {
		case p.Class == summary.ClassNames[summary.ClassUnknown], c.walled[p.Seq]:
			s.unknown(c, k)
		case lists == summary.ListsNobody:
			s.hide(promise, k, &promise.unlisted)
		case lists != summary.ListsClosed && lists != summary.ListsDead && lists != summary.ListsUncaptured &&
			lists != summary.ListsSpared:
			// It lists nothing.
		case p.Class == summary.ClassNames[robots.DisallowAll]:
			s.checked(c, k, p.Host)
			c.breach(k, Breach{Host: p.Host, Agent: new(p.Agent), Profile: new(p.Profile), Line: p.GroupLine,
				Found: "coverage: the agent is shut out, so nothing that the host lists is open to it"})
		case lists == summary.ListsClosed:
			s.hide(promise, k, &promise.shut)
		default:
			s.hide(promise, k, &promise.unlisted)
		}
	}
}
