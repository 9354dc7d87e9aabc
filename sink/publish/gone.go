package publish

import (
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// gone is what a data set does not have of its run, so that nobody can evaluate it again.
type gone struct {
	urls      bool // that only some hosts have
	labels    bool // of hosts
	answers   bool // to identities
	documents bool // their bodies, which no run keeps
	pages     bool // that hosts list
	columns   []string
	of        *journal.Manifest
}

// Notes of what is gone.
const (
	ownURLs      = "without verdicts.url, URLs that only some hosts have cannot be re-evaluated"
	ownLabels    = "the data set does not have the labels of hosts"
	listLabels   = "labels of a list are taken from this table"
	ownAnswers   = "the data set does not have what answers to identities are re-evaluated from"
	ownDocuments = "documents of consent cannot be read again"
	ownPages     = "the pages that hosts list are re-evaluated from the tables sitemap_files and urls with all " +
		"their columns"
)

// goneOf tells what is gone.
func goneOf(m *journal.Manifest, without []string, bodiesGiven bool) gone {
	return gone{
		urls: !m.NamesURLs(), labels: !m.HasLabels(), documents: m.LacksDocuments(), pages: m.LacksURLs(),
		answers: m.LacksAnswers() || bodiesGiven && m.RowsOf("answers") > 0, columns: without, of: m,
	}
}

// why returns why a table is not compared, "" if it is.
func (g *gone) why(table string) string {
	if g.of.RowsOf(table) == 0 {
		return ""
	}
	switch table {
	case "labels", "label_counts":
		if g.labels {
			return ownLabels
		}
	case "answers":
		if g.answers {
			return ownAnswers
		}
	case "documents":
		if g.documents {
			return ownDocuments
		}
	case "preferences":
		if g.documents && g.lacks("preferences.document") {
			return ownDocuments
		}
	case "sitemap_files", "urls", "coverage":
		if g.pages {
			return ownPages
		}
	}
	return ""
}

func (g *gone) lacks(column string) bool { return slices.Contains(g.columns, column) }

// whyDifferent returns why a table may differ although it is what was found, "" if it may not.
func (g *gone) whyDifferent(table string) string {
	switch {
	case table == "verdicts" && g.urls:
		return ownURLs
	case table == "bodies" && g.answers:
		return ownAnswers
	}
	return ""
}

// An omission leaves rows of a table out that cannot be made again: name returns as what it leaves
// a row out that has a text in a column, "" for one that is compared.
type omission struct {
	column, why string
	name        func(text string) string
}

// omissions returns what is left out of a table.
func (g *gone) omissions(table string) (all []omission) {
	add := func(column, why string, name func(text string) string) {
		all = append(all, omission{column, why, name})
	}
	if lost := slices.Concat(lostMetrics(g.columns, table), g.metrics(table)); len(lost) > 0 {
		add("metric", "metrics that cannot be counted again are not compared",
			func(metric string) string { return lostAs(metric, lost) })
	}
	if (table == "labels" || table == "label_counts") && g.lacks("fetches.cdn") {
		add("label", "labels that cannot be found again are not compared", func(label string) string {
			if label == schema.LabelCDN {
				return label
			}
			return ""
		})
	}
	if table == "labels" {
		add("label", listLabels+" and not compared", func(label string) string {
			if schema.IsOwnLabel(label) {
				return ""
			}
			return strings.Clone(label)
		})
	}
	if table == "preferences" && g.documents {
		add("document", ownDocuments+", and not compared", func(string) string { return "statements of documents" })
	}
	return all
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
