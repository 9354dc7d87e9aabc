// Package run has the commands run and plan.
//
// A run is made in three steps: flags and configuration file become the configuration of
// package pipeline, which fetches and commits, and its result is shown.
//
//   - run.go, help.go: the command, its flags, and what it says of them
//   - checks.go, relations.go: which values and which flags together are allowed
//   - config.go, date.go, archive_rate.go: the configuration that they make
//   - earlier.go: what a run takes over of the one that it judges again
//   - execute.go, json.go: the run itself, and what it prints
//   - shard.go, plan.go: a run of many processes
//   - dry_run.go: what would be asked and written
//   - files_*.go: the limit of open files
package run

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/settings"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch/documents"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// Flags are the flags of run, and what is known once they are read.
type Flags struct {
	settings.Shared
	runState

	Config                  pipeline.Config // what flags say; Build completes it
	archiveRate             archiveRate
	URLs, Templates, expect string
	asOf                    string
	future                  bool
	tables                  []string
	keepBodies              bool
	alsoAs, documentList    string
	documents               []string
	memory                  cli.Size
	progress                string
	json, dryRun, lines     bool
	sitemaps                sitemapBounds
	keepURLs                bool
	pages                   asksPages
	page                    string
	shards, shard, parallel int
	spool                   string
}

// runState is what the command finds out before a run: from its arguments, the files that
// flags name, the environment and the output folder.
type runState struct {
	BuiltInTemplates []byte                // those of the program, or of the one that made the run to reproduce
	expectations     *expect.List          // nil for none
	indexFrom        string                // the variable that gave the index of the shard
	plan             *journal.Plan         // nil for a run that was not planned
	asked            documents.List        // with --documents
	askedPages       *documents.WantedPage // with --pages, else nil
	dated            bool                  // the run ID is the current time: another run may have the same
	damaged          []string              // runs that --resume skips
	// labels of the run of --from-run: its hosts are not known, or --labels is given
	lost, replaced []string
}

func New() *Flags {
	f := &Flags{Shared: settings.Shared{Set: cli.NewFlagSet("run")}, archiveRate: politeArchives,
		runState: runState{BuiltInTemplates: configs.Templates}}
	s, c, in := f.Set, &f.Config, &f.Config.Source
	s.StringVar(&in.Hosts, "hosts", "",
		"`FILE` of hosts, origins or URLs to ask; - is standard input; of stored answers, take only those of these "+
			"hosts, of which 10 million take 136 MB")
	s.StringVar(&in.Column, "column", "",
		"`NAME` of the column of hosts, origins or URLs in --hosts, if its header calls it by no known name")
	s.StringArrayVar(&in.Label, "label", nil,
		"`COLUMN` of --hosts, --ranks or --labels that is a label, by which everything is counted too, such as sector; "+
			"'*' is all but host, URL and rank; tld and cdn (read from headers) need no column; of an earlier run, all "+
			"labels that it has are taken over unless --label or --labels is given, and '*' is all of its list; repeatable")
	s.StringVar(&in.Labels, "labels", "",
		"`FILE` of labels (CSV, TSV or Parquet): a column of hosts or registered domains, and one for each label, of "+
			"which --label NAME chooses")
	s.BoolVar(&in.Force, "force", false, "read --hosts although most of its lines name no host")
	s.StringArrayVar(&in.WARC, "warc", nil,
		"WARC or ARC files, a quoted `GLOB`, plain, .gz or .zst, or in a ZIP file such as a WACZ; - is standard input; "+
			"repeatable, and the files that follow one are archives too")
	s.StringVar(&in.Paths, "warc-paths", "",
		"`FILE` of WARC or ARC files, one path or URL per line, plain, .gz or .zst, such as a crawl's "+
			"robotstxt.paths.gz; may be a URL")
	s.StringArrayVar(&in.CDX, "cdx", nil,
		"index of captures: a CDX, CDXJ or JSON `FILE`, plain, .gz or .zst, or Parquet such as Common Crawl's, sorted or "+
			"not, or a quoted glob of them: read only the records of robots.txt that it names, by their place in WARC or "+
			"ARC files; - is standard input; may be a URL; repeatable; not in shards")
	s.BoolVar(&in.LastCapture, "last-capture", false,
		"take the last capture of each host from the WARC files, and follow its redirects and revisit records to "+
			"captures in them, also of other URLs; reads the files up to three times: neither standard input nor pipes, and "+
			"not in shards. With --cdx, the last capture by its date there, and no redirect is followed")
	s.StringVar(&in.Base, "warc-base", "",
		"`URL|DIR` of the relative paths in --warc-paths or --cdx, such as https://data.commoncrawl.org/; the column "+
			"warc_file has the path without it")
	s.Var(&f.archiveRate, "archive-rate",
		"ask an https server of WARC files at most `R[,N]`: R requests a second (0 for any number), N at once; a server "+
			"that answers 403, 429 or 503 is left alone as long as it asks; s3:// only if this flag is given")
	s.StringVar(&in.Bodies, "bodies", "",
		"folder or tar (`DIR|TAR`) of robots.txt files: example.com, or example.com/robots.txt (example.com_8443: that port)")
	s.StringVar(&in.FromRun, "from-run", "",
		"folder (`DIR/_runs/ID`) of an earlier run with --keep-bodies, to re-evaluate, with its labels "+
			"and the pages that its hosts list, but without documents of --documents; "+
			"a bare ID, latest or previous is a run of --out")
	s.StringVar(&in.Ranks, "ranks", "", "`FILE` of ranked hosts (as --hosts), for "+listed(unranked, "and")+
		"; an origin that it lists has its own rank, and a host with www. that of the host without, or the reverse, "+
		"if it lists only the other")
	s.Float64Var(&in.Sample, "sample", 1,
		"take a share `P` of the registered domains, above 0 and at most 1, by hash: the same domains of every list and "+
			"every crawl")
	s.Int64VarP(&in.Limit, "limit", "n", 0, "take the first `N` hosts only, of the sample if there is one")
	cli.Group(s, "Input")

	f.AddMeaning()
	s.StringVar(&f.URLs, "urls", "",
		"`FILE` of URLs to judge, one per line: a path applies to every host, an absolute URL to its origin (default a "+
			"dozen built-in paths)")
	s.StringVar(&f.Templates, "templates", "",
		"YAML `FILE` of templates, by which the tables know whose words a file has; they come before the built-in ones")
	s.StringVar(&f.expect, "expect", "",
		"YAML `FILE` of expectations about the hosts; if one is broken or cannot be checked, the exit code is 1")
	cli.Group(s, "Meaning")

	s.StringSliceVar(&in.Schemes, "schemes", []string{"https", "http"}, "schemes to try, in order, for hosts without one")
	s.IntVar(&f.Fetch.Concurrency, "concurrency", 500, "concurrent requests in total")
	f.AddNetwork()
	s.StringVar(&f.alsoAs, "also-as", "",
		"YAML `FILE` of further identities: once a host has answered, ask it again under each, one at a time and a "+
			"second apart; says who turns a crawler away that its file lets in (see configs/identities.example.yaml)")
	s.Var(&f.pages, "pages",
		"with --also-as: then ask for a page too, under each identity and under the control, which asks twice, where the "+
			"host's robots.txt lets that identity's agent fetch it; reads headers and 64 KiB; says who is served what. With "+
			"--pages=`all` also where robots.txt shuts the agent out: for hosts that you may test so, as their operators have "+
			"asked for no such request")
	s.Lookup("pages").NoOptDefVal = pagesAllowed
	s.StringVar(&f.page, "page", "/", "with --pages: `PATH` of the page, with its query")
	s.BoolVar(&f.Fetch.FrontPage, "front-page", false,
		"once a host has answered, ask for its front page too, if robots.txt lets --user-agent fetch it; keep what "+
			"headers say about use: Content-Usage, Content-Signal, X-Robots-Tag, Robots-Tag, TDM-Reservation, TDM-Policy")
	s.Var(&f.sitemaps, "sitemaps",
		"once a host has answered, read the sitemaps that its robots.txt names, else /sitemap.xml, as far as the robots.txt "+
			"of their origins lets --user-agent: `N[,BYTES]`, up to N files of a host, indexes first, and BYTES unpacked "+
			"(default 20M); 5 is usual; says how much of what a site lists each agent may fetch. Of stored captures nobody "+
			"is asked: sitemaps are found among the captures of any program (see help run)")
	s.IntVar(&c.Evaluate.SitemapSample, "sitemap-sample", 200,
		"with --sitemaps: judge at most `N` of the pages that a host lists, by hash: the same next week as long as it "+
			"lists them")
	s.BoolVar(&f.keepURLs, "keep-urls", false,
		"with --sitemaps: write the table urls too, so that these pages can be judged again; a run of an "+
			"earlier one that has them does so by itself")
	s.StringSliceVar(&f.documents, "documents", nil,
		"once a host has answered, ask it for documents too in which sites say what may be done with them (`NAMES` of "+
			"them, with commas; without any all), a second apart and only where the robots.txt of their origins lets "+
			"--user-agent fetch them, and for paths that cannot exist, to compare with; see configs/documents.yaml")
	s.Lookup("documents").NoOptDefVal = allDocuments
	s.StringVar(&f.documentList, "document-list", "",
		"YAML `FILE` of further documents, beside the built-in ones (see configs/documents.yaml); --documents names "+
			"which are asked for")
	s.StringVar(&c.Evaluate.Vantage, "vantage", "",
		"`NAME` of the place that the requests are made from, for the column vantage")
	s.StringVar(&c.State, "state", "",
		"`DIR` that keeps answers from run to run: outages, last copies, and answers fresh enough to serve again; and "+
			"which origins that hosts lead to want to be left alone (Retry-After), which otherwise a resumed run forgets")
	s.DurationVar(&c.MaxAge, "max-age", 24*time.Hour,
		"with --state: serve an answer up to this age without asking; Cache-Control may shorten the age, or lengthen it "+
			"up to seven times; 0 always asks, and so do --also-as, --front-page, --sitemaps and --documents, whatever it says")
	s.DurationVar(&f.Fetch.OutagePatience, "outage-patience", 10*time.Minute,
		"if this machine is cut off from the network, wait this long before stopping with exit code 75")
	s.BoolVar(&f.Fetch.AcceptUnreachable, "accept-unreachable", false,
		"complete the run even if no host can be reached: treat that as the hosts' failure")
	s.DurationVar(&c.Grace, "grace", 10*time.Second,
		"after Ctrl-C or SIGTERM, wait this long for the hosts in flight; --resume does not ask a host again once it has "+
			"answered")
	cli.Group(s, "Network")

	s.IntVar(&f.shards, "shards", 1, "divide the run among `N` processes, which is worth it from some "+
		"millions of hosts on: one that fails is made again alone, and others go on (see plan)")
	s.IntVar(&f.shard, "shard", -1,
		"make shard `I`, counted from 0 (default the index of this task in an array of Kubernetes, Slurm, AWS Batch or "+
			"Google Batch); needs --run, implies --resume")
	s.IntVar(&f.parallel, "parallelism", 0,
		"number `P` of shards that run at once (default all); each gets 1/P of --rate, --address-rate, --per-address, "+
			"--per-resolver and --archive-rate, at least one request at a time")
	s.StringVar(&f.spool, "spool", "",
		"`DIR` on this machine for what is not committed yet (default in DIR/_runs/ID, or for an object store in the "+
			"user's cache folder); a retry resumes what it finds there")
	for _, name := range []string{"shard", "parallelism"} {
		s.Lookup(name).DefValue = "0" // not shown
	}
	cli.Group(s, "Shards")

	s.StringVarP(&c.Dir, "out", "o", "", "`DIR` for the tables, a folder or s3://bucket/folder")
	s.StringVar(&c.Run, "run", "", "`ID` of the run (default the UTC start time, such as 20261120T101500Z)")
	s.StringVar(&f.asOf, "as-of", "",
		"`DATE` of the run, such as 2024, 2024-05, 2024-W20, 2024-05-14 or 2024-05-14T08:00:00Z, in UTC, by which runs "+
			"are ordered (default the median day of stored captures, the date of the run that is re-evaluated, or the start)")
	s.BoolVar(&f.future, "future", false,
		"accept an --as-of more than 5 minutes in the future: until then the run is the latest")
	s.BoolVar(&c.Resume, "resume", false,
		"continue an interrupted run: the one named by --run, or the last one in DIR; if there is none, begin one")
	s.BoolVar(&c.ForceNew, "force-new", false, "remove the run with this ID, complete or not, once the source has a host")
	s.StringSliceVar(&f.tables, "tables", nil,
		"tables to write (default all but bodies; answers only with --also-as, and of archives, which may have them; "+
			"sitemap_files and coverage only with --sitemaps; urls only with --keep-urls): "+strings.Join(schema.TableNames,
			", "))
	s.BoolVar(&f.keepBodies, "keep-bodies", false, "write the table bodies too")
	s.StringVar(&c.WARCOut, "warc-out", "",
		"keep every request and answer in `FILE.warc.gz`, for evidence and for --warc; the shards of a run keep theirs "+
			"in DIR/_runs/ID/warc")
	s.BoolVar(&c.DropSecrets, "warc-no-secrets", false,
		"leave the values of Set-Cookie, Cookie and Authorization out of --warc-out (Proxy-Authorization always)")
	s.BoolVar(&c.Evaluate.KeepComments, "keep-comments", false, "keep comments in the table lines")
	s.Var(&f.memory, "memory", "memory limit, a `SIZE` such as 512M or 2G (default that of the control group or "+
		"machine); bodies go to disk before it is exceeded")
	s.StringVar(&f.progress, "progress", "auto", "auto, bar, log or none")
	s.BoolVar(&f.dryRun, "dry-run", false,
		"show what would be asked and written: hosts, profiles, agents, URLs, verdicts, approximate bytes; ask and write "+
			"nothing")
	s.BoolVar(&f.lines, "lines", false,
		"print a JSON object for each host to standard output as it completes, and nothing else")
	cli.JSONVar(s, &f.json, "one object")
	cli.Group(s, "Output")
	return f
}

// AddTo adds the flags to a command, with their completion.
func (f *Flags) AddTo(c *cobra.Command) {
	f.Shared.AddTo(c)
	cli.CompleteList(c, "tables", schema.TableNames)
	cli.CompleteList(c, "schemes", schemes)
	cli.CompleteFlag(c, "progress", progressModes...)
	for _, name := range []string{"out", "state"} {
		c.MarkFlagDirname(name)
	}
	c.MarkFlagFilename("expect", "yaml", "yml")
}

var (
	schemes       = []string{"https", "http", "ftp"}
	progressModes = []string{"auto", "bar", "log", "none"}
)

func Command() *cobra.Command {
	f := New()
	c := &cobra.Command{
		Use: `run HOST... --out DIR [flags]
       robocensus run --hosts FILE --out DIR [flags]
       robocensus run --out DIR --run ID [--shard I] [flags]           of a planned run
       robocensus run ` + f.alternatives(journal.SourceFlags(nil)) + ` --out DIR [flags]`,
		Short: "Ask hosts for their robots.txt, or read stored answers, and write the tables", Long: runHelp,
		Example:     runExamples,
		Annotations: map[string]string{cli.DetailsKey: runDetails},
		RunE: func(c *cobra.Command, args []string) error {
			f.setArguments(args)
			ctx := c.Context()
			if err := f.ApplyConfig(ctx); err != nil {
				return err
			}
			if err := f.applyPlan(ctx); err != nil {
				return err
			}
			ctx = f.unguarded(ctx)
			config, err := f.Build(ctx)
			if err != nil {
				return err
			}
			if f.dryRun {
				return f.preview(ctx, config, c.OutOrStdout())
			}
			cli.LimitMemory(f.memory, config.Memory)
			defer cli.PaceGarbage()()
			if f.shards > 1 {
				return f.executeShard(ctx, config, c.OutOrStdout(), c.ErrOrStderr())
			}
			return f.Execute(ctx, config, c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.AddTo(c)
	return c
}
