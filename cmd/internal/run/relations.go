package run

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/sink/journal"
)

// A flagRelation says of a flag of run, if it is given, that it needs one of others, excludes
// them, or has no effect beside them.
type flagRelation struct {
	flag                    string
	needs, excludes, beside []string
	why                     string
	typed                   bool // on the command line only: a configuration file may serve runs of several sources
}

// Sources of stored answers: those that are archives, and those whose answers have no
// ranks yet.
var (
	archives = journal.SourceFlags(func(s journal.StoredSource) bool { return s.HasCaptures })
	unranked = journal.SourceFlags(func(s journal.StoredSource) bool { return s.Value != "" })
)

var flagRelations = []flagRelation{
	{flag: "warc-base", needs: []string{"warc-paths", "cdx"}, why: "it is where the paths of the list begin"},
	{flag: "column", needs: []string{"hosts"}, why: "it is of that list", typed: true},
	{flag: "force", needs: []string{"hosts"}, why: "it is for that list", typed: true},
	{flag: "archive-rate", needs: archives, why: "it is for servers of WARC files", typed: true},
	{flag: "last-capture", needs: archives, why: "only archives have several captures of a host", typed: true},
	{flag: "ranks", needs: unranked, why: "a list of hosts and an earlier run have ranks already"},
	{flag: "max-age", needs: []string{"state"}, why: "only there are answers kept"},
	{flag: "warc-no-secrets", needs: []string{"warc-out"}, why: "only there are headers kept", typed: true},
	{flag: "resolver", excludes: []string{"connect-to"}, why: "with --connect-to no name is looked up", typed: true},
	{flag: "per-resolver", beside: []string{"connect-to", "proxy"}, why: "no name is looked up", typed: true},
	{flag: "force-new", needs: []string{"run"}, why: "without it every run is new", typed: true},
	{flag: "sitemaps", beside: []string{"from-run"}, why: "no sitemap is read, and the pages are judged again that the " +
		"earlier run has kept (--sitemaps N --keep-urls)", typed: true},
	{flag: "documents", beside: []string{"from-run", "bodies"}, why: "none is kept there", typed: true},
	{flag: "front-page", beside: []string{"from-run", "bodies"}, why: "no page is kept there", typed: true},
	{flag: "sitemap-sample", needs: []string{"sitemaps", "from-run"}, why: "only they list pages", typed: true},
	{flag: "keep-urls", needs: []string{"sitemaps", "from-run"}, why: "only they list pages", typed: true},
	{flag: "page", needs: []string{"pages"}, why: "nobody is asked for it otherwise", typed: true},
	{flag: "resume", excludes: []string{"force-new"}, why: "give one of them", typed: true},
	{flag: "lines", excludes: []string{"json"}, why: "give one of them"},
	{flag: "dry-run", excludes: []string{"lines", "json"}, why: "--dry-run prints text"},
}

// checkRelations refuses flags that lack others, or contradict them.
func (f *Flags) checkRelations() error {
	for _, r := range flagRelations {
		if !f.Set.Changed(r.flag) || !f.has(r.flag) || r.typed && f.FromFile[r.flag] > 0 {
			continue
		}
		if len(r.needs) > 0 && !slices.ContainsFunc(r.needs, f.has) {
			return cli.Usagef("--%s needs %s: %s", r.flag, f.anyOf(r.needs), r.why)
		}
		if i := slices.IndexFunc(r.excludes, f.has); i >= 0 {
			return cli.Usagef("--%s and --%s exclude each other: %s", r.flag, r.excludes[i], r.why)
		}
		if slices.ContainsFunc(r.beside, f.has) {
			return cli.Usagef("--%s does not apply with %s: %s", r.flag, f.anyOf(r.beside), r.why)
		}
	}
	return nil
}

// has reports whether a flag has a value, other than false.
func (f *Flags) has(name string) bool {
	return !slices.Contains([]string{"", "false", "[]"}, f.Set.Lookup(name).Value.String())
}

// anyOf names flags; one alone with what it takes.
func (f *Flags) anyOf(names []string) string {
	if len(names) == 1 {
		return f.alternatives(names)
	}
	return listed(names, "or")
}

// alternatives writes flags with what they take, one of which a usage line asks for.
func (f *Flags) alternatives(names []string) string {
	var each []string
	for _, name := range names {
		flag := f.Set.Lookup(name)
		if takes, _ := pflag.UnquoteUsage(flag); flag.NoOptDefVal == "" {
			name += " " + takes
		}
		each = append(each, "--"+name)
	}
	return strings.Join(each, " | ")
}

// listed names flags, of which there are several.
func listed(names []string, and string) string {
	last := len(names) - 1
	return "--" + strings.Join(names[:last], ", --") + " " + and + " --" + names[last]
}

// checkEffect refuses flags of the command line that would change nothing. A
// configuration file may set them, because it may serve runs of several sources.
func (f *Flags) checkEffect() error {
	given := func(name string) bool { return f.Set.Changed(name) && f.FromFile[name] == 0 }
	for _, source := range f.given() {
		if source == "hosts" {
			continue
		}
		for _, s := range journal.Settings {
			// Servers of archives may redirect to a special address; stored files do not
			// say their schemes.
			if !s.Asks || !given(s.Name) || s.Name == "allow-private" && slices.Contains(archives, source) ||
				s.Name == "schemes" && source == "bodies" {
				continue
			}
			return cli.Usagef("--%s does not apply to stored answers (--%s): they are not asked over the network", s.Name,
				source)
		}
	}
	in := &f.Config.Source
	labelled := slices.ContainsFunc(f.tables, isOfLabels)
	switch {
	case labelled && !in.HasLabels():
		return cli.Usagef("--tables: the tables labels and label_counts need --label or --labels")
	case in.HasLabels() && len(f.tables) > 0 && !labelled:
		return cli.Usagef("--label and --labels need the table labels or label_counts: add it to --tables")
	}
	if given("keep-comments") && f.Config.Evaluate.KeepComments && !HasComments(f.tables) {
		return cli.Usagef("--keep-comments needs the table lines: add it to --tables")
	}
	return nil
}

// HasComments reports whether comments show in tables: as rows of lines, or counted.
func HasComments(tables []string) bool {
	return len(tables) == 0 || slices.ContainsFunc([]string{"lines", "summary", "examples"},
		func(table string) bool { return slices.Contains(tables, table) })
}
