package views

import (
	"regexp"
	"strings"
	"sync"

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
	for _, view := range derivedViews() {
		if view.words.need(gone) || view.words.need(lacking) {
			lacking[view.name] = true
		}
	}
	return lacking
}

// derivedViews returns the name of each derived view and the words of its text, in the
// order in which they need one another.
var derivedViews = sync.OnceValue(func() (views []derivedView) {
	_, rest, _ := strings.Cut(configs.DerivedViews+configs.SeriesViews, create)
	for view := range strings.SplitSeq(rest, create) {
		name, _, _ := strings.Cut(view, " ")
		views = append(views, derivedView{name, wordsOf(view)})
	}
	return views
})

type derivedView struct {
	name  string
	words words
}

// words are those of SQL: whatever may name a table, a view or a column.
type words map[string]bool

var (
	comment = regexp.MustCompile(`(?m)--.*$`)
	word    = regexp.MustCompile(`\w+`)
)

func wordsOf(text string) words {
	w := make(words)
	for _, found := range word.FindAllString(comment.ReplaceAllString(text, ""), -1) {
		w[found] = true
	}
	return w
}

// need reports whether the words name one of the tables, views, or columns as table.column.
func (w words) need(names map[string]bool) bool {
	for name := range names {
		table, column, _ := strings.Cut(name, ".")
		if w[table] && (column == "" || w[column]) {
			return true
		}
	}
	return false
}

// Answers reports whether a query can be answered without the tables and the columns
// (as table.column) in gone. It may say no to one that can.
func Answers(query string, gone map[string]bool) bool {
	w := wordsOf(query)
	return !w.need(gone) && !w.need(viewsLacking(gone))
}
