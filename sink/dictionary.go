package sink

import (
	_ "embed"
	"strings"
	"sync"
)

// dictionaryText is the data dictionary. A test generates its tables from the row
// types and their comments.
//
//go:embed README.md
var dictionaryText string

// columnsHead begins the table of a table's columns.
const columnsHead = "| column | type | meaning |\n|---|---|---|\n"

// ColumnDoc documents a column of a table.
type ColumnDoc struct {
	Table, Column, Type string
	Meaning             string // includes the meaning of null, and an example
}

// TableMeaning returns the first paragraph of a table's documentation.
func TableMeaning(table string) string {
	_, section, _ := strings.Cut(dictionaryText, "\n## `"+table+"`\n\n")
	text, _, _ := strings.Cut(section, "\n\n")
	return strings.ReplaceAll(text, "\n", " ")
}

// Dictionary documents every column, in the order of the tables.
var Dictionary = sync.OnceValue(func() (docs []ColumnDoc) {
	for section := range strings.SplitSeq(dictionaryText, "\n## `") {
		table, section, _ := strings.Cut(section, "`")
		_, columns, _ := strings.Cut(section, columnsHead)
		columns, _, _ = strings.Cut(columns, "\n\n")
		for line := range strings.Lines(columns) {
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | ")
			docs = append(docs, ColumnDoc{table, strings.Trim(cells[0], "`"), cells[1], cells[2]})
		}
	}
	return docs
})
