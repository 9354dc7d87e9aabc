package publish

import (
	"slices"

	"github.com/robocensus/robocensus/sink/journal"
)

// gone is what a data set does not have of its run, so that nobody can evaluate it again.
type gone struct {
	urls      bool // that only some hosts have
	labels    bool // of hosts
	answers   bool // to identities
	documents bool // their bodies, which no run keeps
	pages     bool // that hosts list
	of        *journal.Manifest
}

// Notes of what is gone.
const (
	ownURLs      = "without verdicts.url, URLs that only some hosts have cannot be re-evaluated"
	ownLabels    = "the data set does not have the labels of hosts"
	ownAnswers   = "the data set does not have what answers to identities are re-evaluated from"
	ownDocuments = "documents of consent cannot be read again"
	ownPages     = "the data set does not have the pages that hosts list"
)

// goneOf tells what is gone. A table that the run does not have may be left out, unless nothing
// was asked for that has rows there.
func goneOf(m *journal.Manifest) gone {
	source := journal.StoredIn(m.Inputs)
	mayHave := func(table, setting string) bool {
		if slices.Contains(m.Tables, table) {
			return m.RowsOf(table) > 0
		}
		asked, _ := m.Configuration[setting].(string)
		list, _ := m.Configuration[setting].([]any)
		return asked != "" || len(list) > 0 || source != nil && (source.HasCaptures || source.Value == "")
	}
	return gone{
		urls: !m.NamesURLs(), labels: !m.HasLabels(), answers: !m.HasAnswers() && mayHave("answers", "also-as"),
		documents: mayHave("documents", "documents"), pages: !m.HasURLs() && mayHave("sitemap_files", "sitemaps"), of: m,
	}
}

// why returns why a table is not compared, "" if it is.
func (g *gone) why(table string) string {
	switch table {
	case "labels", "label_counts":
		if g.labels {
			return ownLabels
		}
	case "answers":
		if g.answers {
			return ownAnswers
		}
	case "documents", "preferences":
		if g.documents && g.of.RowsOf("documents") > 0 {
			return ownDocuments
		}
	case "sitemap_files", "urls", "coverage":
		if g.pages && g.of.RowsOf(table) > 0 {
			return ownPages
		}
	}
	return ""
}

// whyDifferent returns why a table may differ although it is what was found, "" if it may not.
func (g *gone) whyDifferent(table string) string {
	switch {
	case table == "verdicts" && g.urls:
		return ownURLs
	case table == "preferences" && g.documents:
		return ownDocuments
	case table == "bodies" && g.answers:
		return ownAnswers
	}
	return ""
}

// metrics returns the metrics of a table that cannot be counted again.
func (g *gone) metrics(table string) (lost []string) {
	if table != "summary" && table != "label_counts" && table != "examples" {
		return nil
	}
	if g.urls && table != "examples" {
		lost = append(lost, "verdict")
	}
	if g.answers {
		lost = append(lost, "answer", "page_met")
	}
	if g.documents {
		lost = append(lost, "document")
	}
	if g.pages {
		lost = append(lost, "sitemap_host", "sitemap_file", "sitemap_fault", "coverage", "listed_closed")
	}
	return lost
}
