// Package recap prints the summary of a run.
//
//   - recap.go: the summary, as a run prints it at its end
//   - figures.go: its numbers, from the counters
//   - pages.go: what pages did under further identities
//   - text.go: the same of a run in an output folder
package recap

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/summary"
	"github.com/robocensus/robocensus/sink/visible"
)

const topAgents = 10

// Summarize prints the result of a run. last is the run that the views show, hosts the
// number of hosts whose captures were judged, 0 if unknown.
func Summarize(out io.Writer, c pipeline.Config, r *pipeline.Result, hosts int64, last string) {
	p := &cli.Text{Out: out}
	profile := c.Evaluate.Profiles[0].Name
	targets, done, remembered := words.Count(r.Targets, TargetOf(&c.Source)), "asked", fromMemory(r)
	switch {
	case c.Source.IsStored():
		done = "judged"
		if c.Source.HasArchives() && Several(r, hosts) {
			targets += " of " + words.Count(hosts, "host")
		}
	case remembered > 0 && r.Earlier == 0:
		done = fmt.Sprintf("asked, %s answered from memory,", words.Number(remembered))
		targets = fmt.Sprintf("%s: %s", targets, words.Number(r.Targets-remembered))
	case remembered > 0:
		done = "asked or answered from memory"
	}
	if r.Earlier > 0 {
		targets = words.Number(r.Targets-r.Earlier) + " of " + targets
	}
	text := fmt.Sprintf("\n%s %s in %s", targets, done, r.Elapsed.Round(100*time.Millisecond))
	if r.Earlier > 0 {
		text += fmt.Sprintf("; %s before the run was resumed", words.Number(r.Earlier))
	}
	var listed []string
	if r.Rejected > 0 {
		listed = append(listed, words.Number(r.Rejected)+" rejected")
	}
	if r.UnreadRanks > 0 {
		listed = append(listed, words.Count(r.UnreadRanks, "rank")+" unread")
	}
	if r.LeftLabels > 0 {
		listed = append(listed, words.Count(r.LeftLabels, "label")+" not taken")
	}
	if listed != nil {
		text += fmt.Sprintf("; %s: %s", strings.Join(listed, ", "), store.Join(r.Folder, "rejected.csv"))
	}
	p.Line(text)
	for _, text := range rejectedTexts(r.RejectedFor) {
		p.Line(text)
	}
	if skipped := skippedTexts(&c.Source, r.Skipped); len(skipped) > 0 {
		p.Line("skipped: " + strings.Join(skipped, ", "))
	}
	f := FiguresOf(profile, r.Targets, r.Counts)
	if c.Source.HasArchives() && hosts != r.Targets {
		f.noun = "capture"
	}
	showFigures(p, f, c.Evaluate.ProfileNames())
	p.Line("\nRows written to " + c.Dir)
	showRows(p, c.Tables, r.Rows)
	if c.WARCOut != "" {
		p.Line("Requests and answers written to " + c.WARCOut)
	}
	switch {
	case last != c.Run:
		p.Line(fmt.Sprintf("\nviews.sql shows run %s, the last complete one by date and ID. Its schema history has this\n"+
			"one too: SELECT ... FROM history.fetches WHERE run = '%s'", last, c.Run))
	case slices.Contains(c.Tables, "policies") && (len(f.agents) > 0 || len(f.Reasons) == 0):
		p.Line("\nAsk DuckDB about the last complete run, for example who is shut out most often:\n  " + askDuckDB(c.Dir))
	}
	if last == c.Run && slices.Contains(c.Tables, "summary") && slices.Contains(c.Tables, "policies") {
		p.Line(fmt.Sprintf("\nDraw a page of figures, or look at one host:\n"+
			"  robocensus report --out %[1]s latest --html report.html\n  robocensus show HOST --out %[1]s",
			cli.ShellWord(c.Dir)))
	}
}

// TargetOf returns what a target of a source is called.
func TargetOf(s *source.Config) string {
	if stored := s.Stored(); stored != nil {
		return stored.Target
	}
	return "host"
}

// showFigures prints the figures of a run under the first of its profiles.
func showFigures(p *cli.Text, f *figures, profiles []string) {
	if len(f.Reasons) == 0 { // no hosts, or no table summary
		return
	}
	showAnswers(p, profiles[0], f)
	showOthers(p, f)
	showPages(p, f)
	showShutOut(p, f)
	showFront(p, f)
	showListed(p, f)
	if len(profiles) > 1 {
		p.Line(fmt.Sprintf("\nThese are the figures of profile %s, the first of %d; the tables have those of each.",
			p.Foreign(profiles[0]), len(profiles)))
	}
}

// showOthers prints which hosts a wall kept from being read, and how many hosts turn an
// identity away that they let in on paper.
func showOthers(p *cli.Text, f *figures) {
	var walls []string
	total := int64(0)
	for _, vendor := range counters.Ranked(f.Walls) {
		walls, total = append(walls, words.Challenge.Of(vendor)+" "+words.Number(f.Walls[vendor])), total+f.Walls[vendor]
	}
	if total > 0 {
		p.Line(fmt.Sprintf("\nA wall answered in place of the file on %s, which %s as unread: %s.",
			words.Count(total, f.noun), words.Agree(total, "counts", "count"), p.Foreign(strings.Join(walls, ", "))))
	}
	all := summary.MetOf(f.others)
	if len(all) == 0 {
		return
	}
	var rows [][]string
	for _, m := range all {
		hosts, away := m.Compared()
		name := p.Foreign(m.Name)
		if m.Control {
			name += " (control: as we)"
		}
		rows = append(rows, []string{name, words.Number(away), words.Number(hosts), words.Percent(away, hosts)})
	}
	p.Table("Turned away from robots.txt, of the hosts that let the agent in on paper and answered us",
		[]string{"identity", "turned away", "hosts", "share"}, 1, rows)
	if !all[0].Control {
		p.Line("There is no control: a host may refuse any second request.")
	}
}

func showRows(p *cli.Text, tables []string, rows map[string]int64) {
	var list []string
	for _, t := range tables {
		list = append(list, t+" "+words.Number(rows[t]))
	}
	p.List(list)
}

// Several reports whether some hosts have several captures: a run has more targets than
// hosts.
func Several(r *pipeline.Result, hosts int64) bool { return 0 < hosts && hosts < r.Targets }

// askDuckDB returns a command that asks the tables in dir.
func askDuckDB(dir string) string {
	ask := fmt.Sprintf("duckdb -init views.sql -c \"%s\"", firstQuery)
	// DuckDB reads tables in an object store, but no script there.
	script := cli.ShellWord(store.Join(dir, "views.sql"))
	switch scheme, rest, _ := strings.Cut(dir, "://"); scheme {
	case "s3":
		return "aws s3 cp " + script + " . && " + ask
	case "gs":
		return "gcloud storage cp " + script + " . && " + ask
	case "azblob":
		container, folder, _ := strings.Cut(rest, "/")
		return "az storage blob download --file views.sql --container-name " + cli.ShellWord(container) +
			" --name " + cli.ShellWord(store.Join(folder, "views.sql")) + " && " + ask
	}
	return "cd " + cli.ShellWord(dir) + " && " + ask
}

// rejectedTexts say what to do about rejected lines that would otherwise lose answers or
// URLs without a word.
func rejectedTexts(kinds map[string]input.SkippedKind) (out []string) {
	if k := kinds["not_adjacent"]; k.N > 0 {
		out = append(out, words.Count(k.N, "URL")+
			" not judged, because other origins stand between the rows of theirs: sort the list by origin (sort -t/ -k3,3 "+
			"for a list of URLs)")
	}
	if k := kinds["damaged_record"]; k.N > 0 {
		out = append(out, fmt.Sprintf("the archives cannot be read at %s (%s): captures may be missing",
			words.Count(k.N, "place"), visible.Text(k.First)))
	}
	return out
}

// skippedTexts describe the records of a source that were skipped.
func skippedTexts(c *source.Config, s input.Skipped) (out []string) {
	capture, record := "capture", "record"
	if stored := c.Stored(); stored != nil && stored.File != "" {
		capture, record = stored.File, stored.File
	}
	for _, kind := range []struct {
		n          int64
		noun, what string
	}{{s[input.OtherURLs], "capture", "of other URLs"}, {s[input.OtherSubsets], "capture", "of other subsets"},
		{s[input.OtherHosts], capture, "of other hosts"}, {s[input.NotSampled], record, "outside the sample"},
		{s[input.Earlier], "earlier capture", "of the same hosts"}, {s[input.OtherRecords], "record", "of other kinds"}} {
		if kind.n > 0 {
			out = append(out, words.Count(kind.n, kind.noun)+" "+kind.what)
		}
	}
	return out
}

// showAnswers prints how many hosts gave which answer, and what it means.
func showAnswers(p *cli.Text, profile string, f *figures) {
	answered, _ := f.parts(answers[0].evidence)
	files := f.decided.Rules()
	isStored := f.stored == f.targets
	shareOf := func(n int64) string {
		if f.targets < words.Few {
			return ""
		}
		return " (" + words.Percent(n, f.targets) + ")"
	}
	switch {
	case isStored:
		p.Line(fmt.Sprintf("The rules of %s of %s decide%s.", words.Number(files), words.Count(f.targets, "stored file"),
			shareOf(files)))
	case files > 0:
		p.Line(fmt.Sprintf("%s of %s answered%s, and the rules of %s decide%s.", words.Number(answered),
			words.Count(f.targets, f.noun), shareOf(answered), words.Number(files), shareOf(files)))
	default:
		p.Line(fmt.Sprintf("%s of %s answered%s.", words.Number(answered), words.Count(f.targets, f.noun), shareOf(answered)))
	}
	var rows [][]string
	row := func(name string, n int64) {
		rows = append(rows, []string{name, words.Number(n), words.Percent(n, f.targets)})
	}
	for i, a := range answers {
		n, parts := f.parts(a.evidence)
		if n == 0 && i > 0 {
			continue
		}
		row(a.name, n)
		for _, name := range counters.Ranked(parts) {
			row("  "+name, parts[name])
		}
	}
	head := []string{"", f.noun + "s", "of " + f.noun + "s"}
	if !isStored {
		p.Table("How they answered", head, 1, rows)
	}
	rows = nil
	for _, outcome := range counters.Ranked(f.Outcomes) {
		row(words.Outcome.Of(outcome), f.Outcomes[outcome])
	}
	if n := f.decided.Walled(); n > 0 {
		row("unknown behind a wall", n)
	}
	p.Table("What that means under profile "+p.Foreign(profile), head, 1, rows)
}

// showShutOut prints which agents are shut out by rules. An outage shuts out nobody.
func showShutOut(p *cli.Text, f *figures) {
	files := f.decided.Rules()
	if files == 0 {
		p.Line(fmt.Sprintf("\nNo %s gave rules: nobody is known to be shut out.", f.noun))
		return
	}
	if f.hasTraining {
		text := "\n" + words.Count(f.training, f.noun)
		if files >= words.Few {
			text += fmt.Sprintf(" (%s) %s an agent for AI training; %s of those with rules.",
				words.Percent(f.training, f.targets), words.Agree(f.training, "shuts out", "shut out"),
				words.Percent(f.training, files))
		} else {
			text += fmt.Sprintf(" %s an agent for AI training, of %s with rules.",
				words.Agree(f.training, "shuts out", "shut out"), words.Number(files))
		}
		p.Line(text)
	}
	if ways := f.refusing(); ways != nil {
		n := f.refusals[summary.AnyRefusal]
		p.Line(words.Count(n, f.noun) + " " + words.Agree(n, "refuses", "refuse") + " AI training in robots.txt:")
		p.List(ways)
	}
	if n := f.refusals[summary.ByTerms]; n > 0 {
		p.Line(words.Count(n, "other") + " " + words.Agree(n, "names", "name") + " a licence in robots.txt, whose terms " +
			"permit or refuse AI training.")
	}
	f.showDocumented(p)
	if len(f.agents) == 0 {
		p.Line("\nNo agent is shut out anywhere.")
		return
	}
	var rows [][]string
	for _, a := range f.agents[:min(len(f.agents), topAgents)] {
		rows = append(rows, []string{
			visible.Text(a.Category), p.Foreign(a.Agent), words.Number(a.Closed), words.Percent(a.Closed, f.targets),
			words.Percent(a.Closed, files),
			words.Number(a.ByName), words.Number(a.Partial),
		})
	}
	p.Table("Shut out most often, by "+f.noun+"s", []string{"category", "agent", f.noun + "s", "of " + f.noun + "s",
		"with rules", "by name", "partly"}, 2, rows)
	counts := make([]int64, len(f.agents))
	for i, a := range f.agents {
		counts[i] = a.Closed
	}
	if text := words.More(counts, len(rows), f.noun); text != "" {
		p.Line(text + " (report --html has all)")
	}
	p.Line(fmt.Sprintf("with rules: of the %s whose rules decide; by name: in its own group;\n"+
		"partly: %ss that close a part to it", words.Count(files, f.noun), f.noun))
}

const firstQuery = `SELECT agent, category,
    count(*) FILTER (class = 'disallow_all') AS closed, count(*) AS hosts
    FROM policies GROUP BY ALL ORDER BY closed DESC, agent LIMIT 10`

// showDocumented says how many hosts refuse AI training anywhere, where documents were asked for:
// what stands above it is of robots.txt alone.
func (f *figures) showDocumented(p *cli.Text) {
	hosts, refusing, elsewhere := int64(0), int64(0), int64(0)
	for places, n := range f.documented {
		hosts += n
		if in := summary.Refusing(places); in != nil {
			if refusing += n; in[0] != summary.InRobots {
				elsewhere += n
			}
		}
	}
	if hosts > 0 {
		text := fmt.Sprintf("That is robots.txt alone.\n"+
			"With headers, HTML and documents of consent, %s of %s to be asked for them %s AI training,\n"+
			"%s of them not in robots.txt.", words.Number(refusing), words.Count(hosts, f.noun),
			words.Agree(refusing, "refuses", "refuse"), words.Number(elsewhere))
		if n := f.documented[summary.UnreadTerms]; n > 0 {
			text += fmt.Sprintf(" %s more %s a licence whose terms nobody has read.", words.Number(n),
				words.Agree(n, "names", "name"))
		}
		p.Line(text)
	}
	var others []string
	for _, name := range counters.Ranked(f.otherwise) {
		others = append(others, fmt.Sprintf("%s: %s", p.Foreign(name), words.Count(f.otherwise[name], f.noun)))
	}
	if len(others) > 0 {
		p.Line("Something else is in place of a document of consent:")
		p.List(others)
	}
}

// showListed prints what is wrong with sitemaps, and on how many hosts a page is both listed and
// closed to a search engine, where sitemaps were read.
func showListed(p *cli.Text, f *figures) {
	asked := summary.AskedForSitemaps(f.listing)
	if asked == 0 {
		return
	}
	p.Line(fmt.Sprintf("\nPages of their own are listed by %s %s.",
		words.OfCount(f.listing[summary.HostLists], asked, f.noun), words.AskedForSitemaps(f.listing)))
	var faults []string
	for _, fault := range counters.Ranked(f.faults) {
		faults = append(faults, fmt.Sprintf("%s: %s", words.SitemapFault.Of(fault), words.Count(f.faults[fault], f.noun)))
	}
	if len(faults) > 0 {
		p.Line("A sitemap that robots.txt names:")
		p.List(faults)
	}
	var closed []string
	for _, agent := range slices.Sorted(maps.Keys(f.listedClosed)) {
		if n := f.listedClosed[agent]; n > 0 {
			closed = append(closed, fmt.Sprintf("to %s on %s", agent, words.OfCount(n, f.pagesOf[agent], f.noun)))
		}
	}
	if len(closed) > 0 {
		p.Line(p.Foreign("A page is both listed and closed " + words.And(closed) + "."))
	}
}
