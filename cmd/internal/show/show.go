// Package show has the commands show and history, which tell what runs have about one host.
//
//   - show.go, view.go, print.go: the command show, and one host of one run
//   - answers.go, changes.go, file.go, groups.go, listed.go, profiles.go, words.go: parts of that view
//   - history*.go: the command history
package show

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/net/publicsuffix"

	"github.com/robocensus/robocensus/cmd/internal/check"
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/lookup"
	"github.com/robocensus/robocensus/sink/store"
)

const hostHelp = `Shows what a run has found out about each HOST: how it answered, what its file is,
whose words it has, what it says about use, which documents of consent it has (if the run
asked for them), what its sitemaps are and how much of what they list search engines may fetch
(if the run read sitemaps), and, for each group that decides, its lines, the rules by
which it shuts out or closes a part, and whom of each category it binds; --agents names
them. With --agent, what the agent may do, and by which lines. Where the run keeps bodies,
the lines of the file that decide are shown in their places. HOST is a host, an origin or
a URL. The rows are looked up by index, which costs some 600 requests to an object store
for a run of a million hosts, and 50 for one of 20,000.

With --agent and --url, show lists what every profile makes of a URL: those of the run, and
all built-in ones, so those of the parsers that crawlers use. Who lets the agent in, who
keeps it out, and which lines decide. That takes a run that keeps bodies.

With --json, the output is one array with an object for each origin (and each capture):

    {"run", "date", "host", "origin", "rank", "labels", "fetched", "outcome", "reason",
     "status", "hops", "error_class", "challenge", "bytes", "truncated", "lines", "groups",
     "rules", "sitemaps", "findings", "templates", "statements", "front_page", "answers",
     "pages", "documents", "sitemap_files", "coverage", "profile", "categories", "deciding",
     "agents", "urls", "before", "changes", "notes", "body"}

lines, groups, rules, sitemaps and findings are null where no file was read: where there is
none, in an outage, and behind a wall (challenge). findings counts lines by class. labels,
answers (those to requests for robots.txt; pages has the others), documents, sitemap_files
and coverage are rows of the tables of their names, the last of Googlebot, bingbot and
--agent; templates and statements are those of templates and preferences. front_page says
whether its header was read, null if nobody looked. categories has, for each category,
agents by class and the names of those that are shut out (closed). deciding has, for each
group that decides, {"tokens", "lines", "class", "template", "rules", "binds"}, with binds
for each category {"category", "agents", "others"}; without tokens, what holds where no
group does. agents has those of --agent: {"agent", "category", "class", "match",
"group_agent", "group_line", "crawl_delay", "template", "ai_train", "ai_input", "search",
"rules"}, with rules those of their groups: {"line", "kind", "pattern"}. urls has those of
--url for each agent: {"agent", "url", "readings"}, with readings one for each profile,
{"profile", "verdict", "reason", "line", "pattern"}, and "remark" if the run cannot tell.
before is the complete run before this one, and changes what changed since under the profile
for the agents, as robocensus diff finds it for the last capture: rows of the table changes;
null if the two cannot be compared. notes say what is not compared. body is the file, as far
as it is text, if the run keeps bodies (--keep-bodies): the last copy where reason is
stale_copy, the page of a wall behind one, and null where a copy was not judged.

With --sql, the output is the queries that give the same from the tables.

Exit codes: 0 done, 64 usage, 65 a host is not in the run or the run is damaged, 74 I/O,
130 interrupted.`

const hostExamples = `  robocensus show www.example.com --out out
  robocensus show example.com --out out --run 20261120T101500Z --agent GPTBot
  robocensus show example.com --out out --agent GPTBot --url /private/page.html`

type showFlags struct {
	out, run, profile string
	agents, urls      []string
	names             bool
	json, sql         bool
	incomplete        *bool
}

func Command() *cobra.Command {
	f := new(showFlags)
	c := &cobra.Command{
		Use: "show HOST... --out DIR [--run RUN] [--agent AGENT] [flags]", Short: "Show what a run found out about a host",
		Long: hostHelp, Example: hostExamples,
	}
	s := c.Flags()
	cli.OutVar(c, &f.out)
	s.StringVar(&f.run, "run", cli.Latest, "`RUN` to look into")
	s.StringArrayVar(&f.agents, "agent", nil, "also show what this `AGENT` may do, and by which lines; repeatable")
	s.BoolVar(&f.names, "agents", false, "name the agents that each group of the file binds")
	s.StringArrayVar(&f.urls, "url", nil,
		"also show what all profiles make of this `URL` or path for each --agent; repeatable")
	s.StringVar(&f.profile, "profile", "", "`NAME` of a profile of the run (default its first)")
	cli.JSONVar(s, &f.json, "one array")
	s.BoolVar(&f.sql, "sql", false, "print the queries that give the same")
	f.incomplete = cli.Incomplete(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return f.show(c.Context(), args, c.OutOrStdout())
	}
	return c
}

func (f *showFlags) show(ctx context.Context, args []string, stdout io.Writer) error {
	switch {
	case f.out == "":
		return cli.ErrNoOut
	case len(args) == 0:
		return cli.Usagef("HOST is missing: give one or more hosts of the run")
	case len(f.urls) > 0 && len(f.agents) == 0:
		return cli.Usagef("--url needs --agent: say for which agent")
	case f.json && f.sql:
		return cli.Usagef("--json and --sql exclude each other: give one of them")
	}
	for _, url := range f.urls {
		if err := check.CheckURL(url, false); err != nil {
			return err
		}
	}
	var asked []fetch.Origin // without a scheme for all origins of a host
	for _, word := range args {
		o, err := check.OriginOf(word)
		if err != nil {
			return err
		}
		asked = append(asked, o)
	}
	in, err := cli.OpenOut(ctx, f.out, &f.run)
	if err != nil {
		return err
	}
	defer in.Close()
	m, err := cli.RunOf(in, f.run, *f.incomplete, journal.ReadManifest)
	if err != nil {
		return err
	}
	profile, err := check.ProfileOf(m, f.profile)
	if err != nil {
		return err
	}
	for _, table := range []string{"fetches", "policies"} {
		if lacks := lacking(m, table); lacks != "" {
			return cli.Usagef("%s", lacks)
		}
	}
	r := lookup.Open(in, m)
	defer r.Close()
	views := []*hostView{}
	for _, o := range asked {
		found, err := f.find(ctx, in, r, o, profile)
		if err != nil {
			return err
		}
		views = append(views, found...)
	}
	if len(f.urls) > 0 {
		if err := f.addURLs(ctx, in, r, profile, views); err != nil {
			return err
		}
	}
	if err := addChanges(ctx, in, r, f.agents, views); err != nil {
		return err
	}
	switch {
	case f.sql:
		showQueries(stdout, m.Run, asked, profile, f.agents, f.urls, func(table string) bool {
			return slices.Contains(m.Tables, table)
		})
		return nil
	case f.json:
		return cli.JSON(stdout, views)
	}
	for i, v := range views {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		v.print(&cli.Text{Out: stdout})
	}
	return nil
}

// lacking says that a run has no table, "" if it has.
func lacking(m *journal.Manifest, table string) string {
	if slices.Contains(m.Tables, table) {
		return ""
	}
	return fmt.Sprintf("run %s has no table %s, which says %s", m.Run, table,
		map[string]string{"fetches": "how hosts answered", "policies": "what agents may do"}[table])
}

// find returns what a run has about a host, or about one of its origins.
func (f *showFlags) find(ctx context.Context, in store.Store, r *lookup.Run, o fetch.Origin, profile string) (
	views []*hostView, err error) {
	targets, err := r.Targets(ctx, o.Host)
	if err != nil {
		return nil, err
	}
	last := lookup.Last(targets)
	for i := range targets {
		if o.Scheme != "" && targets[i].Origin != o.String() {
			continue
		}
		v, err := viewOf(ctx, r, &targets[i], profile, f.agents)
		if err == nil {
			err = v.addAgents(f.agents)
		}
		if err != nil {
			return nil, err
		}
		v.names = f.names
		v.superseded = !slices.ContainsFunc(last, func(t lookup.Target) bool { return t.Seq == targets[i].Seq })
		views = append(views, v)
	}
	if len(views) > 0 {
		return views, nil
	}
	near, err := nearby(ctx, r, o.Host)
	if err != nil {
		return nil, err
	}
	for _, t := range targets {
		near = append(near, t.Origin)
	}
	what, hint, part := o.Host, "", ""
	if len(near) == 0 {
		published, err := store.Exists(in, "checksums.sha256")
		if err != nil {
			return nil, err
		}
		if published {
			hint = "; a data set that is published may have hashes in place of names"
		}
	}
	if o.Scheme != "" {
		what = o.String()
	}
	if len(near) > 0 {
		hint = "; it has " + strings.Join(slices.Compact(near), ", ")
	}
	if !r.Complete() {
		part = "what is committed of "
	}
	return nil, &userfile.Error{Path: what, Err: fmt.Errorf("is not in %srun %s%s", part, r.Manifest.Run, hint)}
}

// nearby returns the hosts of a run that may have been meant.
func nearby(ctx context.Context, r *lookup.Run, host string) (near []string, err error) {
	bare := strings.TrimPrefix(host, "www.")
	others := []string{bare, "www." + bare}
	if domain, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
		others = append(others, domain, "www."+domain)
	}
	targets, err := r.Targets(ctx, others...)
	for _, t := range targets {
		if t.Host != host {
			near = append(near, t.Host)
		}
	}
	return near, err
}

// addChanges adds what changed on the hosts since the complete run before, as diff finds
// it, whether or not it has compared the two runs.
func addChanges(ctx context.Context, in store.Store, r *lookup.Run, agents []string, views []*hostView) error {
	complete, err := journal.CompleteRuns(in)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(complete, func(other *journal.Manifest) bool { return other.Run == r.Manifest.Run })
	if at <= 0 {
		return nil
	}
	var runs [2]*past.Run
	for i := range runs {
		if runs[i], err = past.Read(ctx, in, complete[at-1+i].Run); err != nil {
			return err
		}
	}
	of := make(map[string][]*hostView) // by origin
	var hosts []string
	for _, v := range views {
		v.Before = &complete[at-1].Run
		of[v.Origin], hosts = append(of[v.Origin], v), append(hosts, v.Host)
	}
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)
	rows, notes, err := diff.Hosts(ctx, in, runs[0], runs[1], func(ctx context.Context, run *past.Run) ([]lookup.Target,
		error) {
		if run.ID() == r.Manifest.Run {
			return r.Targets(ctx, hosts...) // its parts are open
		}
		earlier := lookup.Open(in, run.Manifest)
		defer earlier.Close()
		return earlier.Targets(ctx, hosts...)
	})
	if errors.Is(err, diff.ErrNotComparable) {
		for _, v := range views {
			v.Notes = []string{err.Error()}
		}
		return nil
	}
	for _, v := range views {
		if v.Changes = []changeView{}; v.superseded {
			v.Notes = append(v.Notes, "a later capture of the origin counts")
			continue
		}
		v.Notes = append(v.Notes, notes...)
	}
	for i := range rows {
		for _, v := range of[rows[i].Origin] {
			if !v.superseded && isAsked(&rows[i], v.Profile, agents) {
				v.Changes = append(v.Changes, changeView(rows[i]))
			}
		}
	}
	return err
}
