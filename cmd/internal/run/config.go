package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source/earlier"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Build checks the flags and makes the configuration of a run.
func (f *Flags) Build(ctx context.Context) (c pipeline.Config, err error) {
	defer func() { err = f.InFile(err) }()
	if f.Config.Source.FromRun != "" {
		if f.Config.Source.FromRun, err = cli.FindRunFolder(ctx, f.Config.Dir, f.Config.Source.FromRun); err != nil {
			return c, err
		}
	}
	carry := func() error { return f.carryLabels(ctx) }
	for _, check := range []func() error{f.checkNamed, f.checkSecrets, f.checkSource, carry, f.checkEffect,
		f.checkRelations, f.checkValues, f.checkShard} {
		if err := check(); err != nil {
			return c, err
		}
	}
	c = f.Config
	c.ToolVersion, c.Evaluate.Labels = sink.ToolVersion(cli.ToolVersion), f.Labels
	c.Source.Remote, c.Source.Shard = f.archiveLimits(), f.shardOf()
	if err := f.setRun(ctx, &c); err != nil {
		return c, err
	}
	if err := f.setSpool(&c); err != nil {
		return c, err
	}
	if err := f.setDate(ctx, &c); err != nil {
		return c, err
	}
	if err := f.setTables(ctx, &c); err != nil {
		return c, err
	}
	if c.Evaluate.Profiles, err = f.ReadProfiles(); err != nil {
		return c, err
	}
	if err := f.files(ctx, &c); err != nil {
		return c, err
	}
	c.Evaluate.Readers = f.Readers(c.Evaluate.Profiles, c.Evaluate.Agents...)
	judges := c.Evaluate.Judges()
	if c.Fetch, err = f.FetchConfig(ctx, judges); err != nil {
		return c, err
	}
	f.setPlanned(&c)
	f.divide(&c.Fetch)
	c.Lengthen = !slices.ContainsFunc(judges, func(p *robots.Profile) bool { return !p.MaxAgeLengthens })
	if err := f.setLimits(&c); err != nil {
		return c, err
	}
	if err := f.readIdentities(ctx, &c); err != nil {
		return c, err
	}
	if f.Config.Source.FromRun != "" && f.plan == nil && !f.Set.Changed("sitemap-sample") {
		c.Evaluate.SitemapSample = sitemap.MaxSample // all that it has
	}
	if f.sitemaps.Files > 0 {
		b := sitemap.Bounds{Files: f.sitemaps.Files, Bytes: f.sitemaps.Bytes, Sample: c.Evaluate.SitemapSample,
			Profile: judges[0]}
		c.Fetch.Further = append(c.Fetch.Further, b.Plan())
	}
	if err := f.readDocuments(ctx, &c); err != nil {
		return c, err
	}
	if err := f.setPages(&c); err != nil {
		return c, err
	}
	if err := f.readExpectations(ctx, &c); err != nil {
		return c, err
	}
	c.Settings = f.settings()
	return c, nil
}

// readExpectations reads what the run is checked against, and refuses what it cannot tell.
func (f *Flags) readExpectations(ctx context.Context, c *pipeline.Config) (err error) {
	if f.expectations, err = cli.ReadExpectations(ctx, f.expect); err != nil || f.expectations == nil {
		return err
	}
	if err := f.expectations.Fit(c.Evaluate, c.Tables); err != nil || c.Source.IsStored() {
		return err
	}
	var names []string
	for _, i := range c.Fetch.Identities {
		names = append(names, i.Name)
	}
	return f.expectations.FitIdentities(names, f.askedPages != nil)
}

// unguarded lets redirects lead anywhere if special addresses may be asked.
func (f *Flags) unguarded(ctx context.Context) context.Context {
	if f.Fetch.AllowPrivate {
		return remote.Guarded(ctx, nil)
	}
	return ctx
}

// lastIncomplete returns the run to resume, "" if there is none, and the damaged ones.
func lastIncomplete(ctx context.Context, dir string) (run string, damaged []string, err error) {
	s, err := store.Open(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("look for incomplete runs: %w", err)
	}
	defer s.Close()
	return journal.LastIncomplete(s)
}

// setRun sets the ID of the run: that of the flag, of the unfinished run to resume,
// or the time.
func (f *Flags) setRun(ctx context.Context, c *pipeline.Config) (err error) {
	if c.Run == "" && f.Config.Resume && !f.Config.ForceNew {
		if c.Run, f.damaged, err = lastIncomplete(ctx, f.Config.Dir); err != nil {
			return err
		}
	}
	if c.Run == "" {
		c.Run, f.dated = time.Now().UTC().Format("20060102T150405Z"), true
		c.ForceNew = false // it would remove a run that began in the same second
	}
	if err := journal.CheckRunID(c.Run); err != nil {
		return cli.UsageError{Err: err}
	}
	if cli.StandsForRun(c.Run) {
		return cli.Usagef("--run %s: the name is reserved for a complete run; choose another ID", c.Run)
	}
	return nil
}

// setTables sets the tables: those of the flag, otherwise all but bodies and those that hosts
// were not asked for: answers under identities, documents, sitemaps and the pages that these
// list. What archives hold is not known before they are read, and a table of a run is in all of
// its segments. A run of an earlier one has the tables that can be made of that one's answers.
func (f *Flags) setTables(ctx context.Context, c *pipeline.Config) (err error) {
	for _, table := range f.tables {
		if !slices.Contains(schema.TableNames, table) {
			return cli.Usagef("--tables: no table %q%s: the tables are %s", table, flags.Suggest(table, schema.TableNames),
				strings.Join(schema.TableNames, ", "))
		}
		if !slices.Contains(c.Tables, table) {
			c.Tables = append(c.Tables, table)
		}
	}
	archives := len(c.Source.WARC) > 0 || c.Source.Paths != ""
	answers, pages, urls := f.alsoAs != "" || archives, f.sitemaps.Files > 0, false
	if c.Source.FromRun != "" {
		m, err := earlier.Head(ctx, c.Source.FromRun)
		isRead := err == nil // opening the source reports an error
		answers, pages = isRead && m.HasAnswers(), isRead && m.HasURLs()
		urls = pages && (f.keepURLs || !f.Set.Changed("keep-urls"))
		for _, flag := range []string{"keep-urls", "sitemap-sample"} {
			if isRead && !pages && f.has(flag) && f.Set.Changed(flag) && f.FromFile[flag] == 0 {
				return cli.Usagef("--%s: run %s has kept no pages that hosts list: make it again with --sitemaps N --keep-urls",
					flag, m.Run)
			}
		}
	}
	if len(c.Tables) == 0 {
		without := map[string]bool{
			"bodies": true, "answers": !answers, "documents": !archives && !f.Set.Changed("documents"),
			"sitemap_files": !pages, "coverage": !pages, "urls": !urls,
			"labels": !c.Source.HasLabels(), "label_counts": !c.Source.HasLabels(),
		}
		c.Tables = slices.DeleteFunc(slices.Clone(schema.TableNames), func(t string) bool { return without[t] })
	}
	if f.keepURLs && !slices.Contains(c.Tables, "urls") {
		c.Tables = append(c.Tables, "urls")
	}
	if f.keepBodies && !slices.Contains(c.Tables, "bodies") {
		c.Tables = append(c.Tables, "bodies")
	}
	return nil
}

// isOfLabels reports whether a table has rows of labels alone.
func isOfLabels(table string) bool { return table == "labels" || table == "label_counts" }

// setLimits sets the memory of the run and checks that memory and file descriptors
// suffice for the requests in flight.
func (f *Flags) setLimits(c *pipeline.Config) (err error) {
	requests := f.Fetch.Concurrency
	if c.Source.IsStored() {
		requests = 0
	}
	if c.Memory, err = cli.ProcessMemory(f.memory, requests); err != nil || requests == 0 {
		return err
	}
	return enoughFiles(f.Fetch.Concurrency, f.ConnectTo == "" && f.Proxy == "")
}

// files reads the agents and URL samples, by default the built-in ones.
func (f *Flags) files(ctx context.Context, c *pipeline.Config) error {
	agents, agentsInput, err := f.ReadAgents(ctx)
	if err != nil {
		return err
	}
	urls, path, err := cli.ReadOr(ctx, f.URLs, "built-in urls.txt", configs.URLs)
	if err != nil {
		return err
	}
	if c.Evaluate.Samples, err = registry.ParseSamples(path, urls); err != nil {
		return err
	}
	c.Evaluate.Agents, c.Evaluate.NamedOnly, c.Evaluate.OwnLabels = agents, f.NamedOnly, c.Source.OwnLabels()
	c.Inputs = []journal.Input{agentsInput, cli.InputOf("urls", path, urls, len(c.Evaluate.Samples)),
		cli.InputOf("uses", "built-in uses.yaml", configs.Uses, 0)}
	if err := f.readTemplates(ctx, c); err != nil {
		return err
	}
	if f.ConfigInput != nil {
		c.Inputs = append(c.Inputs, *f.ConfigInput)
	}
	return nil
}

// readTemplates reads the templates: first those of --templates, then the built-in ones.
func (f *Flags) readTemplates(ctx context.Context, c *pipeline.Config) error {
	var all []template.Template
	add := func(path string, text []byte) error {
		templates, err := registry.ParseTemplates(path, text)
		all = append(all, templates...)
		c.Inputs = append(c.Inputs, cli.InputOf("templates", path, text, len(templates)))
		return err
	}
	if f.Templates != "" {
		text, err := cli.ReadInput(ctx, f.Templates)
		if err != nil {
			return err
		}
		if err := add(remote.Name(f.Templates), text); err != nil {
			return err
		}
	}
	if err := add("built-in templates.yaml", f.BuiltInTemplates); err != nil {
		return err
	}
	c.Evaluate.Templates = template.New(all)
	return nil
}

// readIdentities reads the identities under which hosts are asked too.
func (f *Flags) readIdentities(ctx context.Context, c *pipeline.Config) (err error) {
	if f.alsoAs == "" {
		return nil
	}
	text, err := cli.ReadInput(ctx, f.alsoAs)
	if err != nil {
		return err
	}
	path := remote.Name(f.alsoAs)
	c.Fetch.Identities, err = registry.ParseIdentities(path, text, f.Fetch.UserAgent, c.Evaluate.Agents)
	c.Inputs = append(c.Inputs, cli.InputOf("identities", path, text, len(c.Fetch.Identities)))
	return err
}

// valuesOf returns the values of a flag, which has one unless it is a list.
func valuesOf(flag *pflag.Flag) (values []string, isList bool) {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return slices.Clone(list.GetSlice()), true
	}
	return []string{flag.Value.String()}, false
}

// settings returns the values of the flags that are settings, for the plan.
func (f *Flags) settings() journal.Values {
	out := make(journal.Values)
	f.Set.VisitAll(func(flag *pflag.Flag) {
		if _, ok := journal.SettingNamed(flag.Name); !ok {
			return
		}
		if flag.Name == "proxy" {
			// A password must not appear in a folder that may be published, nor may a name
			// without one: it is a token.
			if u, err := url.Parse(f.Proxy); err == nil {
				if _, hasPassword := u.User.Password(); u.User != nil && !hasPassword {
					u.User = url.User("xxxxx")
				}
				out[flag.Name] = u.Redacted()
			}
			return
		}
		// Nor may the signature of a URL.
		values, isList := valuesOf(flag)
		for i, value := range values {
			values[i] = remote.Name(value)
		}
		if isList {
			out[flag.Name] = values
		} else {
			out[flag.Name] = values[0]
		}
	})
	if len(f.Own) > 0 {
		out["profiles"] = f.OwnAsWritten
	}
	if len(f.LabelsAsWritten) > 0 {
		out["uses"] = f.LabelsAsWritten
	}
	return out
}
