// Package check has the commands check and compare, which ask about one policy.
//
//   - check.go: the command check, of a file
//   - live.go: of an origin, which it asks first
//   - run.go, urls.go: of a list of URLs, by a file or by a run
//   - arguments.go: what the words of the command line stand for
//   - inputs.go, log.go: the list, which may be a sitemap or an access log
//   - listed.go: of what a site lists in its sitemaps, in sum
//   - portable.go: of a file, about parsers that read it differently
//   - jsonl.go: questions and answers as JSON
//   - decision.go: what decides, as JSON and as an exit code
//   - explain.go, notes.go, uses.go, lines.go: what decides, in words
//   - compare.go: the command compare
package check

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/cmd/internal/settings"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

const checkHelp = `Shows whether AGENT may fetch each URL, and why: the line that decides, its group,
the rule that came second, and the verdicts of other profiles. ROBOTS_FILE may be -
for standard input, and a URL may be a path. Without a file, check fetches the
robots.txt of each URL's origin first; a bare host stands for its front page over
https. A file in another format, such as a sitemap, a web page or a spreadsheet, is no
robots.txt.

AGENT is an agent of the registry (--agents), with its fallback tokens, or any
product token.

With --urls, check prints a line for each URL of a list, separated by tabs:

    VERDICT  URL  line 4: Disallow: /x

and with --changed-from only those that the earlier file decides differently, with
both verdicts and both lines. With --json the lines are objects of one array:
{"url", "verdict", "reason", "line", "pattern"}, and "before" with the same keys.

The list may also be a sitemap or a feed, packed or not, whose pages are judged, or an
access log in the combined format. A request of a log is judged for the agent that sent
it, by its User-Agent header. Those of others than AGENT, if it is given, and of agents that
are not in the registry are passed over. Lines that begin with the host that was asked must
be of one host. Its line, or object, also has the agent and the status that was answered:

    VERDICT  URL  line 4: Disallow: /x  GPTBot  200

With --sitemap, check shows on one screen what a site lists of itself: how many of the URLs
are open to each agent and how many closed, and the lines of robots.txt that close them: the
lines to change. Of a sitemap that is a URL, the sitemaps of an index are read too: up to 100,
one at a time, a second apart, and only where robots.txt, as its host serves it, lets
--user-agent fetch them, as run --sitemaps does. A file is read alone. URLs of other origins are
counted and not judged: others than that of the host or, if ROBOTS_FILE is a file, than that
of the sitemap or, if both are files, of the first URL. Of more than 10,000 URLs a sample of
10,000 is judged, by hash. With --json, the output is one object with "origin", "sitemaps"
({"url", "kind", "status", "outcome", "remarks"}), "sitemaps_listed", "listed", "judged",
"outside", "beyond_folder", "agents" ({"agent", "profile", "allowed", "disallowed",
"undefined"}) and "closing" ({"reason", "line", "pattern", "agents", "urls", "example"}).

With --out, --agent and --urls, check judges the URLs of many hosts from a run, without a
request: from its tables groups and rules, or bodies where it keeps them. AGENT is as the
registry of the run defines it. A URL whose host is not in the run is undefined, and so is
one that the tables do not decide; in JSON, "remark" says so. Lists sorted by host are
fastest.

With --jsonl, each line of standard input is an object

    {"robots": TEXT, "agent": TOKEN, "url": URL}

("robots_b64" for bytes; "agents" for tokens in order of preference; "profile" in
place of --profile; "uses": true to ask for them). Tokens and URL are taken
literally. Each line of output is an object

    {"verdict", "reason", "line", "pattern", "agent"}

in the same order. line is 0 if no rule decides. "truncated" is true, else absent, if
the profile's size limit cuts the file: what lies beyond does not count. "uses", if
asked for, maps ai-train, ai-input and search to what the file says about them:

    {"preference": "disallow", "mechanism": "content-usage", "line": 4}

preference is allow, disallow or unknown; then mechanism is null and line 0. If the
URL may not be fetched, no preference applies, and "uses" is empty.

With --uses, check also shows these for each URL, with the policy tokens that bind
AGENT (Google-Extended for Googlebot).

With --portable, check shows the lines of a file that the parsers of some crawlers read
otherwise than google's: which parsers, a shortest file that shows it, and how to write
the lines so that all parsers agree. It asks about every crawler that the file names to
any parser, and one that it does not, on paths that its rules name to any; and about
crawlers of the registry whom a line may name to their own parser (reads_as). Where no
answer differs, it compares the readings on every path, but for those with needless escapes
or an escaped slash. It does the same for the documents of the built-in profiles (classic-1996,
google-2012, google-2019, rfc9309): a document that leaves a question open does not agree. It
does not ask httrack, which asks for its own names alone, nor the profiles of other versions
(protego-0.2, protego-0.7, urllib-3.11): check FILE AGENT URL shows what they make of a URL.
The answer is

    PORTABLE       no parser reads the file otherwise, and no document does
    PARSERS AGREE  no parser does, and some document does: which, in which line, and why
    NOT PORTABLE   some parser does; documents that do are named too
    UNDECIDED      none does of what was asked, and what follows was left unasked: names
                   and paths of a very large file, readings whose comparison would take too
                   long, and what lies beyond google's size limit

With --json, the output is an object with "answer" (portable, parsers_agree, not_portable,
undecided), "questions", "differing", "findings", "documents" and "rewritten": the file after
all advice with which it is proven that google reads it as before, for each agent and on every
path ("in_rewritten" of a finding says whether its advice is part of it). "unasked_agents",
"unasked_paths", "uncompared", "uncompared_documents", "unexplained" and "truncated" say what
was left out. Files that are not UTF-8 are in "file_b64" and "rewritten_b64" instead, in
base64.

With --json, the output is one array with an object for each URL

    {"url", "agent", "verdict", "reason", "line", "pattern", "group_agent", "profile", "outcome", "others"}

group_agent is the token whose group decides; others maps the other profiles to
their verdicts. "truncated", and "uses" with --uses, are as with --jsonl.

Exit codes: 0 all allowed, 1 any disallowed, 2 any undefined and none disallowed;
64 usage, 65 bad input, 69 no host could be reached, 130 interrupted. With
--changed-from: 0 no verdict differs, 1 some do. With --portable: 0 all parsers
and documents agree, 1 some part, 2 undecided: none does of what was asked, and
not all was. With --jsonl: 0, or 65 if a line is not such an object.`

const checkExamples = `  robocensus check robots.txt GPTBot /private/page.html
  robocensus check https://www.example.com/ --agent Googlebot-Image
  robocensus check robots.txt --portable
  robocensus check --out out --agent GPTBot --urls urls.txt
  robocensus check new.txt Googlebot --urls paths.txt --changed-from robots.txt
  robocensus check robots.txt Googlebot --urls sitemap.xml.gz
  robocensus check robots.txt --urls access.log
  robocensus check robots.txt --sitemap https://www.example.com/sitemap.xml --agent Googlebot --agent GPTBot`

// asking is what check and compare share.
type asking struct {
	settings.Shared
	jsonl bool
}

// addTo adds the flags to a command, with their completion.
func (f *asking) addTo(c *cobra.Command) {
	f.AddTo(c)
	f.CompleteAgents(c, "agent")
}

// profiles applies the configuration file, and returns the profiles.
func (f *asking) profiles(ctx context.Context) ([]*robots.Profile, error) {
	if err := f.ApplyConfig(ctx); err != nil {
		return nil, err
	}
	profiles, err := f.ReadProfiles()
	return profiles, f.InFile(err)
}

type checkFlags struct {
	asking
	agents []string
	json   bool

	uses     bool
	portable bool

	urls, before string // list of URLs, and the earlier file
	sitemap      string // whose pages are judged in sum
	out, run     string // a run whose policies judge them

	acceptUnreachable bool
}

func newCheckFlags() *checkFlags {
	f := &checkFlags{asking: asking{Shared: settings.Shared{Set: cli.NewFlagSet("check")}}}
	f.Set.StringArrayVar(&f.agents, "agent", nil,
		"judge for this `AGENT`, by a file or, without one, by the robots.txt of each URL's origin; repeatable")
	f.Set.BoolVar(&f.jsonl, "jsonl", false, "answer questions from standard input, one JSON object per line")
	cli.JSONVar(f.Set, &f.json, "one array, an object for each URL")
	f.Set.BoolVar(&f.uses, "uses", false, "also show what may be done with each URL: train AI, ground its answers, search")
	f.Set.BoolVar(&f.portable, "portable", false,
		"show the lines of a file on which the parsers of crawlers part, and how to write them instead")
	f.Set.StringVar(&f.urls, "urls", "",
		"judge the URLs of a `FILE`, one path or absolute URL per line, a sitemap or an access log, and "+
			"print a line for each")
	f.Set.StringVar(&f.sitemap, "sitemap", "",
		"judge what a sitemap lists, `URL|FILE`, for each agent, and show the lines that close any of it; of a URL, the "+
			"sitemaps of an index too")
	f.Set.StringVarP(&f.out, "out", "o", "",
		"with --agent and --urls, judge URLs of many hosts by the policies of a run in `DIR`")
	f.Set.StringVar(&f.run, "run", cli.Latest, "`RUN` of --out")
	f.Set.StringVar(&f.before, "changed-from", "",
		"with --urls, print only URLs that an earlier robots.txt `FILE` decides differently")
	cli.Group(f.Set, "Questions and answers")
	f.AddMeaning()
	f.Set.BoolVar(&f.acceptUnreachable, "accept-unreachable", false,
		"judge hosts even if none can be reached: treat that as the hosts' failure")
	f.AddNetwork()
	return f
}

func Command() *cobra.Command {
	f := newCheckFlags()
	c := &cobra.Command{
		Use: `check ROBOTS_FILE AGENT URL...
       robocensus check HOST AGENT [PATH...]
       robocensus check [ROBOTS_FILE] URL... --agent AGENT [--agent AGENT]
       robocensus check ROBOTS_FILE|HOST [AGENT] --urls FILE [--changed-from FILE]
       robocensus check ROBOTS_FILE|HOST --sitemap URL|FILE --agent AGENT [--agent AGENT]
       robocensus check --out DIR [--run RUN] --agent AGENT --urls FILE
       robocensus check ROBOTS_FILE --portable
       robocensus check --jsonl < QUESTIONS`,
		Short: "Say whether an agent may fetch a URL, and why", Long: checkHelp, Example: checkExamples,
		RunE: func(c *cobra.Command, args []string) error {
			return f.check(c.Context(), args, c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr())
		},
	}
	f.addTo(c)
	return c
}

func (f *checkFlags) check(ctx context.Context, words []string, stdin io.Reader, stdout, stderr io.Writer) error {
	switch {
	case f.sitemap != "" && (f.urls != "" || f.before != "" || f.out != "" || f.jsonl || f.portable || f.uses):
		return cli.Usagef("--sitemap goes with --agent and --json alone: give a robots.txt file or a host, --sitemap " +
			"URL|FILE and --agent AGENT")
	case f.out != "" && (f.urls == "" || len(f.agents) != 1 || len(words) > 0 || f.jsonl || f.before != ""):
		return cli.Usagef("--out judges a list of URLs by a run: give --out DIR --agent AGENT --urls FILE")
	case f.out == "" && f.Set.Changed("run"):
		return cli.Usagef("--run needs --out: the folder of the run")
	case f.out != "":
		return f.checkRun(ctx, stdin, stdout, stderr)
	}
	profiles, err := f.profiles(ctx)
	if err != nil {
		return err
	}
	switch {
	case f.portable:
		return f.checkPortable(ctx, words, stdin, stdout)
	case f.before != "" && f.urls == "":
		return cli.Usagef("--changed-from needs --urls: the list whose verdicts may differ")
	case f.uses && (f.urls != "" || f.jsonl):
		return cli.Usagef("--uses is for URLs that are arguments; with --jsonl, a question asks with \"uses\": true")
	case f.sitemap != "":
		return f.checkSitemap(ctx, words, profiles, stdin, stdout, stderr)
	case f.urls != "":
		return f.checkURLs(ctx, words, profiles, stdin, stdout, stderr)
	case f.jsonl && f.json:
		return cli.Usagef("--jsonl and --json exclude each other: give one of them")
	case f.jsonl && (len(words) > 0 || len(f.agents) > 0):
		return cli.Usagef("--jsonl takes its questions from standard input, and no arguments")
	case f.jsonl && len(profiles) > 1:
		return cli.Usagef("--jsonl takes one profile")
	case f.jsonl:
		cli.EndBySignal(ctx)
		return f.checkJSONL(stdin, stdout, profiles[0])
	case len(f.agents) > 0 && isFile(words):
		if len(words) == 1 {
			return cli.Usagef("give one or more URLs after %s", words[0])
		}
		return f.checkFile(ctx, words[0], f.agents, words[1:], profiles, stdin, stdout, stderr)
	case len(f.agents) > 0 && len(words) == 0:
		return cli.Usagef("give one or more URLs")
	case len(f.agents) > 0:
		return f.checkLive(ctx, words, f.agents, profiles, stdout, stderr)
	case len(words) > 1 && isLive(words[:1]) && !strings.ContainsAny(words[1], "/.:"):
		return f.checkLive(ctx, urlsOf(words[0], words[2:]), words[1:2], profiles, stdout, stderr)
	case len(words) > 0 && isLive(words):
		return cli.Usagef("say for which agent: robocensus check %s --agent NAME", strings.Join(words, " "))
	case len(words) < 3:
		return cli.Usagef("give a robots.txt file, an agent and one or more URLs; or URLs and --agent; see robocensus " +
			"check --help")
	case !cli.IsFile(words[0]) && cli.IsFile(words[1]):
		return cli.Usagef("%s is a file and %s is not: the file comes first, then the agent, then the URLs", words[1],
			words[0])
	case strings.HasPrefix(words[1], "/") || strings.Contains(words[1], "://"):
		return cli.Usagef("%s is a URL and not an agent: the file comes first, then the agent, then the URLs", words[1])
	case strings.HasPrefix(words[0], "/") && !cli.IsFile(words[0]) && slices.ContainsFunc(words[2:], cli.IsFile):
		return cli.Usagef("%s is not a file: the file comes first, then the agent, then the URLs", words[0])
	}
	return f.checkFile(ctx, words[0], words[1:2], words[2:], profiles, stdin, stdout, stderr)
}

func (f *checkFlags) checkFile(
	ctx context.Context, path string, names, urls []string, profiles []*robots.Profile, stdin io.Reader, stdout,
	stderr io.Writer,
) error {
	asked, err := f.findAgents(ctx, names)
	if err != nil {
		return err
	}
	body, err := f.ReadRobots(ctx, path, stdin)
	if err != nil {
		return err
	}
	for _, url := range urls {
		if err := CheckURL(url, false); err != nil {
			return err
		}
	}
	return f.explain(ctx, asked, profiles, stdout, stderr, func(e *explainer, isFirst bool) {
		e.load(fileCapture(body))
		if isFirst {
			e.unread()
			e.signalNotes()
			e.lighthouseNotes()
		}
		for _, url := range urls {
			e.explain(url)
		}
	})
}

// explain explains to each agent what it may fetch, and returns the exit code of all.
func (f *checkFlags) explain(
	ctx context.Context, asked []askedAgent, profiles []*robots.Profile, stdout, stderr io.Writer,
	explain func(e *explainer, isFirst bool),
) error {
	var all verdicts
	var answers []explainedURL
	for i, agent := range asked {
		e, err := f.explainer(ctx, stdout, WithOthers(f.ForAgent(profiles, agent.Agent)), agent.Agent)
		if err != nil {
			return err
		}
		if f.json {
			io.WriteString(stderr, agent.remark)
		}
		io.WriteString(e.out, agent.remark)
		explain(e, i == 0)
		all.join(e.verdicts)
		answers = append(answers, e.answers...)
	}
	if f.json {
		if err := cli.JSON(stdout, answers); err != nil {
			return err
		}
	}
	return all.code()
}

// explainer returns an explainer for stdout, which with --json prints nothing.
func (f *checkFlags) explainer(ctx context.Context, stdout io.Writer, profiles []*robots.Profile, agent schema.Agent) (
	*explainer, error) {
	e := newExplainer(stdout, profiles, registry.Robots(&agent))
	if f.json {
		e.out = io.Discard
	}
	if f.uses {
		agents, _, err := f.ReadAgents(ctx)
		if err != nil {
			return nil, err
		}
		e.showUses(f.Labels, registry.PolicyTokens(agents)(&agent))
	}
	return e, nil
}

// WithOthers adds the built-in profiles, to show their verdicts beside the first
// one's.
func WithOthers(profiles []*robots.Profile) []*robots.Profile {
	out := profiles
	for _, name := range robots.ProfileNames() {
		if !slices.ContainsFunc(profiles, func(p *robots.Profile) bool { return p.Name == name }) {
			p, _ := robots.ProfileNamed(name)
			out = append(out, p)
		}
	}
	return out
}

// ProfileOf returns the profile of a run that --profile names, by default its first.
func ProfileOf(m *journal.Manifest, name string) (string, error) {
	name = cmp.Or(name, m.FirstProfile())
	if !slices.Contains(m.Profiles, name) {
		return "", cli.Usagef("--profile: run %s has no profile %q%s: its profiles are %s", m.Run, name,
			flags.Suggest(name, m.Profiles), strings.Join(m.Profiles, ", "))
	}
	return name, nil
}
