package views

import (
	"regexp"
	"strings"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/sink/journal"
)

// columnsWithout returns the columns, as table.column, that published runs lack.
func columnsWithout(runs []*journal.Manifest) map[string]bool {
	gone := make(map[string]bool)
	for _, m := range runs {
		for _, column := range m.Without {
			gone[column] = true
		}
	}
	return gone
}

const create = "CREATE OR REPLACE VIEW "

// derived returns SQL without the views that name a column that is gone: DuckDB would
// refuse the file.
func derived(text string, gone map[string]bool) string {
	if len(gone) == 0 {
		return text
	}
	lacking := viewsLacking(gone)
	first, rest, _ := strings.Cut(text, create)
	var out strings.Builder
	out.WriteString(first)
	for view := range strings.SplitSeq(rest, create) {
		if name, _, _ := strings.Cut(view, " "); !lacking[name] {
			out.WriteString(create + view)
		}
	}
	return out.String()
}

// viewsLacking returns the derived views that need a table or a column that is gone,
// by what their text names: too many rather than too few.
func viewsLacking(gone map[string]bool) map[string]bool {
	lacking := make(map[string]bool)
	_, rest, _ := strings.Cut(configs.DerivedViews+configs.SeriesViews, create)
	for view := range strings.SplitSeq(rest, create) {
		if name, _, _ := strings.Cut(view, " "); needs(view, gone) || needs(view, lacking) {
			lacking[name] = true
		}
	}
	return lacking
}

var comment = regexp.MustCompile(`(?m)--.*$`)

// needs reports whether SQL names one of the tables, views, or columns as table.column.
func needs(text string, names map[string]bool) bool {
	text = comment.ReplaceAllString(text, "")
	for name := range names {
		table, column, _ := strings.Cut(name, ".")
		if isWord(text, table) && (column == "" || isWord(text, column)) {
			return true
		}
	}
	return false
}

func isWord(text, word string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(word) + `\b`).MatchString(text)
}

// Answers reports whether a query can be answered without the tables and the columns
// (as table.column) in gone. It may say no to one that can.
func Answers(query string, gone map[string]bool) bool {
	return !needs(query, gone) && !needs(query, viewsLacking(gone))
}
