package publish

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/visible"
)

// sheet writes Markdown. Text from elsewhere goes through cell.
type sheet struct{ bytes.Buffer }

func (s *sheet) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// table writes counts, the most first.
func (s *sheet) table(what, of string, counts map[string]int64) {
	if len(counts) == 0 {
		return
	}
	s.line("| %s | %s |\n|---|---:|", what, of)
	for _, key := range slices.SortedFunc(maps.Keys(counts),
		func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) }) {
		s.line("| %s | %d |", cell(key), counts[key])
	}
	s.line("")
}

// cell keeps text from being read as Markdown or HTML, and from acting on a terminal.
func cell(text string) string {
	return "`" + strings.NewReplacer("`", "'", "|", "/", "<", "‹", ">", "›").Replace(visible.Text(text)) + "`"
}

// markdown escapes text in a line of Markdown.
var markdown = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", `\<`, "#",
	`\#`)

// datasheet returns DATASHEET.md. All its figures follow from the published tables and
// manifests.
func (p *dataSet) datasheet(ctx context.Context) ([]byte, error) {
	s := new(sheet)
	w := p.Provenance.Metadata
	s.line("# %s\n\n%s\n", markdown.Replace(w.Title), w.Description)
	s.line("- Made by: %s\n- Licence: %s\n- Version: %s of %s", w.makersText(), w.licenceURL(),
		markdown.Replace(w.Version), w.Date)
	if w.Publisher != "" {
		s.line("- Published by: %s", markdown.Replace(w.Publisher))
	}
	if len(w.Funding) > 0 {
		s.line("- Funded by: %s", markdown.Replace(strings.Join(w.Funding, "; ")))
	}
	if w.Contact != "" {
		s.line("- Contact: %s", w.Contact)
	}
	s.line("\n## What is in it\n")
	s.line("| table | rows | parts | what |\n|---|---:|---:|---|")
	for _, table := range p.Selection.tables {
		if rows, parts := p.sizeOf(table); parts > 0 {
			s.line("| `%s` | %d | %d | %s |", table, rows, parts, sink.TableMeaning(table))
		}
	}
	s.line("\nTables are Parquet, one folder for each run (`TABLE/run=ID/`). `croissant.json` and `datapackage.json` "+
		"describe every column. "+
		"`duckdb -init views.sql` opens them, with `queries/` as examples: bare names are the last run, `history.TABLE` "+
		"all runs. "+
		"`"+figuresName+"` gives the figures of this sheet from the tables. "+
		"`sha256sum -c checksums.sha256` checks the files%s.\n", p.judgedAgain())
	for i, m := range p.Published {
		if err := p.aboutRun(ctx, s, m, p.Provenance.Runs[i]); err != nil {
			return nil, err
		}
	}
	p.questions(s)
	s.line("## Known limits\n")
	for _, limit := range p.limits() {
		s.line("- %s", limit)
	}
	return s.Bytes(), nil
}

// sizeOf returns the rows and the parts of a table over all runs.
func (p *dataSet) sizeOf(table string) (rows int64, parts int) {
	all := p.Changes
	if table != layout.Changes {
		all = nil
		for _, m := range p.Published {
			all = append(all, m.PartsOf(table)...)
		}
	}
	for _, part := range all {
		rows += part.Rows
	}
	return rows, len(all)
}

// makersText names the creators, with affiliation and ORCID.
func (w *Metadata) makersText() string {
	var all []string
	for _, name := range w.Creators {
		text, maker := markdown.Replace(name), w.Makers[name]
		var more []string
		for _, of := range []string{markdown.Replace(maker.Affiliation), maker.url()} {
			if of != "" {
				more = append(more, of)
			}
		}
		if more != nil {
			text += " (" + strings.Join(more, ", ") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// aboutRun writes how a run came about, and what it lacks.
func (p *dataSet) aboutRun(ctx context.Context, s *sheet, run *journal.Manifest, about *Run) error {
	s.line("## Run %s\n", cell(run.Run))
	s.line("- Date: %s. The program ran from %s to %s.", run.Date.UTC().Format(time.DateOnly),
		about.Started.UTC().Format(time.RFC3339), about.Finished.UTC().Format(time.RFC3339))
	s.line("- With: robocensus %s, schema version %d.", cell(run.ToolVersion), run.SchemaVersion)
	var from []string
	for _, in := range about.Inputs {
		if _, judges := about.fileOf(in); judges == nil && in.Role != "configuration" && len(from) < 20 {
			from = append(from, in.Role+" "+cell(in.Path))
		}
	}
	if len(from) == 0 {
		from = []string{"hosts named on the command line"}
	}
	s.line("- From: %s (digests in `%s`).", strings.Join(from, ", "), provenanceName)
	if journal.StoredIn(about.Inputs) != nil {
		s.line("- User agent: not known here; the answers were stored before the run.")
	} else {
		s.line("- User agent: %s.", cell(fmt.Sprint(about.Configuration["user-agent"])))
	}
	s.line("- Profiles: %s; the first one decides where a table has only one reading. All their fields are in `%s`.",
		cell(strings.Join(run.Profiles, ", ")), provenanceName)
	for _, of := range []struct {
		what, file string
		optional   bool
	}{
		{"Agents", about.Agents, false}, {"URL samples", about.URLSamples, false},
		{"Labels about use", about.Uses, true}, {"Templates", about.Templates, true},
		{"Templates of the run's own", about.OwnTemplates, true},
	} {
		if of.file == "" && of.optional {
			continue
		} else if of.file == "" {
			s.line("- %s: their file is not part of the data set.", of.what)
		} else {
			s.line("- %s: `%s`.", of.what, of.file)
		}
	}
	s.line("\n### What is missing, and why\n")
	s.line("- %d lines of the input gave no target and were rejected.", run.Rejected)
	if share := run.Sample(); share < 1 {
		s.line("- Of the registered domains of the input, a share of %v was taken, by hash (`--sample`).", share)
	}
	if limit := run.Limit(); limit > 0 {
		s.line("- Of these hosts, the first %d at most were taken (`--limit`).", limit)
	}
	for _, kind := range slices.Sorted(maps.Keys(run.Skipped)) {
		s.line("- %d skipped: %s.", run.Skipped[kind], markdown.Replace(visible.Text(strings.ReplaceAll(kind, "_", " "))))
	}
	if len(about.TablesLeftOut) > 0 {
		s.line("- Tables of the run that are left out: %s.", strings.Join(about.TablesLeftOut, ", "))
	}
	if len(run.Without) > 0 {
		s.line("- Columns that are left out: %s.", strings.Join(run.Without, ", "))
	}
	of := make(map[string]map[string]int64)
	for _, column := range countedColumns {
		var err error
		if of[column], err = hostsBy(ctx, p.Out, run, column); err != nil {
			return err
		}
		switch {
		case of[column] == nil:
			s.line("- No table that is published counts the hosts by %s.", strings.ReplaceAll(column, "_", " "))
		case column == "outcome":
			s.line("- The outcome of %d of %s is undefined: the first profile does not say what their answer means.",
				of[column]["undefined"], visible.Count(run.Targets, "host", "hosts"))
		case column == "challenge":
			walls := int64(0)
			for _, n := range of[column] {
				walls += n
			}
			s.line("- A wall answered in place of the file of %d of %s: they are unread, and have no outcome below, "+
				"whatever their status says.", walls, visible.Count(run.Targets, "host", "hosts"))
		}
	}
	s.line("")
	s.table("outcome", "hosts", of["outcome"])
	s.table("wall", "hosts", of["challenge"])
	s.table("error class", "hosts", of["error_class"])
	return nil
}

// judgedAgain says how robocensus reproduce judges the answers again, "" if it cannot.
func (p *dataSet) judgedAgain() string {
	lacks := func(table string) bool {
		return slices.ContainsFunc(p.Published, func(m *journal.Manifest) bool { return !slices.Contains(m.Tables, table) })
	}
	nameless := slices.ContainsFunc(p.Provenance.Runs, (*Run).Lacks)
	switch {
	case p.Provenance.HostsHashed || nameless || lacks("fetches") || len(journal.Needed(p.Provenance.Without)) > 0:
		return ""
	case lacks("bodies"):
		return "; `robocensus reproduce --bodies` judges the answers again, given the files"
	}
	return "; `robocensus reproduce` judges the answers again"
}

// limits returns what a reader must know to use the tables rightly.
func (p *dataSet) limits() (limits []string) {
	add := func(format string, args ...any) { limits = append(limits, fmt.Sprintf(format, args...)) }
	add("A robots.txt is a request to crawlers. The tables say what hosts ask for, not what crawlers do.")
	add("Each run is of one time and one place: a host may answer other user agents, addresses and times otherwise.")
	add("The hosts are those of the input. Shares are of that list, not of the web.")
	if p.Selection.shows("policies", "class") {
		add("An outage is not a policy: the class of a policy is `unknown` where the file was not seen.")
	}
	add("Null means unknown or not applicable, never zero.")
	if p.Provenance.HostsHashed {
		var lead []string
		if slices.ContainsFunc(p.Selection.tables, func(table string) bool {
			return p.Selection.shows(table, "rank") && slices.Contains(ColumnNames(), table+".rank")
		}) {
			lead = append(lead, "a rank in a public list")
		}
		if p.Selection.shows("fetches", "content_digest") {
			lead = append(lead, "a digest of a file (`content_digest`) in the index of an archive")
		}
		also := ""
		if len(lead) > 0 {
			also = ", and " + strings.Join(lead, ", or ") + ", leads to one"
		}
		add("Names of hosts are hashes (SHA-256, 32 hexadecimal digits), and columns with text that hosts wrote are left "+
			"out. "+
			"Hashes are pseudonyms: who guesses a name can check it%s.", also)
	}
	if !p.Selection.has("bodies") {
		add("The files themselves (`bodies`) are not part of the data set.")
	}
	return limits
}
