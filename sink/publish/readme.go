package publish

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
)

// readme returns README.md, which repositories show first: what is in the folder, and how
// to open it.
func (p *dataSet) readme() []byte {
	s := new(sheet)
	w := p.Provenance.Metadata
	s.line("# %s\n\n%s\n", markdown.Replace(w.Title), w.Description)
	s.line("## Open it\n")
	s.line("The tables are Parquet files, which DuckDB, pandas, Polars, R and Spark read. With " +
		"[DuckDB](https://duckdb.org) 1.1 or newer, in this folder:\n")
	s.line("```sh\nduckdb -init views.sql\n```\n")
	if query := p.firstQuery(); query != "" {
		s.line("```sql\n%s;\n```\n", query)
	}
	s.line("Bare names are the last run; `history.TABLE` has all runs. More queries are in `queries/`.\n")
	s.line("To check that the files are those that were published, and what follows from them:\n")
	s.line("```sh\nsha256sum -c checksums.sha256\nrobocensus reproduce .\n```\n")
	s.line("robocensus, which made the data set, is at <%s>: its source, and programs to download.\n", home)
	s.line("## What is in it\n")
	s.line("| file | what |\n|---|---|")
	for _, table := range p.Selection.tables {
		if _, parts := p.sizeOf(table); parts > 0 {
			s.line("| `%s/run=ID/` | table: %s |", table, firstSentence(sink.TableMeaning(table)))
		}
	}
	for _, row := range [][2]string{
		{viewsName, "DuckDB views over the tables"},
		{queriesFolder + "/", "queries behind published figures, and behind those of " + datasheetName},
		{datasheetName, "how, when and from where; what is missing and why; limits"},
		{croissantName + "`, `" + packageName,
			"every file with its digest and every column with its type and meaning (Croissant, Data Package)"},
		{citationName, "how to cite it"},
		{provenanceName, "versions, configuration, digests of the inputs, profiles"},
		{"_runs/ID/", "the manifest of each run, and what it judged by"},
		{checksumsName, "SHA-256 of every file"},
	} {
		s.line("| `%s` | %s |", row[0], row[1])
	}
	s.line("\n## Licence and citation\n")
	s.line("%s, version %s of %s. Licence: %s\n", w.makersText(), markdown.Replace(w.Version), w.Date, w.licenceURL())
	s.line("```bibtex\n%s\n```", w.bibtex())
	return s.Bytes()
}

// firstQuery returns a query that a reader may begin with, "" if what it asks for is not
// published.
func (p *dataSet) firstQuery() string {
	switch {
	case p.shows("policies", "agent", "class"):
		return "SELECT agent, count(*) FILTER (class = 'disallow_all') AS hosts_that_shut_it_out FROM policies GROUP BY " +
			"agent ORDER BY hosts_that_shut_it_out DESC, agent LIMIT 5"
	case p.shows("fetches", "outcome"):
		return "SELECT outcome, count(*) AS hosts FROM fetches GROUP BY outcome ORDER BY hosts DESC, outcome"
	}
	return ""
}

// shows reports whether a table has parts with these columns.
func (p *dataSet) shows(table string, columns ...string) bool {
	_, parts := p.sizeOf(table)
	return parts > 0 && !slices.ContainsFunc(columns,
		func(column string) bool { return !p.Selection.shows(table, column) })
}

func firstSentence(text string) string {
	if first, _, ok := strings.Cut(text, ". "); ok {
		return first + "."
	}
	return text
}

// home is where the source and the programs are.
const home = "https://github.com/robocensus/robocensus"
