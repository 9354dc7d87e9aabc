package publish

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// ErrSelection reports a table or a column that cannot be left out.
var ErrSelection = errors.New("cannot be left out")

// selection says which tables and columns are published.
type selection struct {
	tables  []string            // in the order of the dictionary
	Without map[string][]string // columns that a table lacks
	Hash    bool
}

// keys are the columns that tables and views are joined and chosen by.
var keys = []string{"seq", "profile", "agent", "metric", "count"}

// TableNames returns the tables that can be published, and ColumnNames their columns
// as table.column.
func TableNames() []string { return append(slices.Clone(schema.TableNames), layout.Changes) }

// ColumnNames returns the columns of all tables, as table.column.
func ColumnNames() (names []string) {
	for _, d := range sink.Dictionary() {
		names = append(names, d.Table+"."+d.Column)
	}
	return names
}

// choose applies the settings to the tables of the runs.
func choose(runs []*journal.Manifest, without []string, hash bool) (selection, error) {
	s := selection{Without: make(map[string][]string), Hash: hash}
	var gone []string
	for _, name := range without {
		table, column, ok := strings.Cut(name, ".")
		switch {
		case !slices.Contains(TableNames(), table) || ok && !slices.Contains(ColumnNames(), name):
			return s, fmt.Errorf("%s %w: there is no such table or column", name, ErrSelection)
		case !ok:
			gone = append(gone, table)
		case slices.Contains(keys, column) || name == "bodies.content_digest":
			return s, fmt.Errorf("%s %w: other tables and the views need it; leave out the table", name, ErrSelection)
		case table == "summary":
			return s, fmt.Errorf("%s %w: a counter is known by all its columns; leave out the table", name, ErrSelection)
		default:
			s.leaveOut(table, column)
		}
	}
	if hash {
		for _, table := range TableNames() {
			t := schema.Describe(table)
			if t.AllForeign {
				gone = append(gone, table)
			}
			for _, column := range t.Foreign {
				s.leaveOut(table, column)
			}
		}
	}
	// Runs published before may lack columns.
	for _, m := range runs {
		for _, name := range m.Without {
			table, column, _ := strings.Cut(name, ".")
			s.leaveOut(table, column)
		}
	}
	for _, table := range TableNames() {
		written := table == layout.Changes ||
			slices.ContainsFunc(runs, func(m *journal.Manifest) bool { return slices.Contains(m.Tables, table) })
		if written && !slices.Contains(gone, table) {
			s.tables = append(s.tables, table)
		} else {
			delete(s.Without, table)
		}
		slices.Sort(s.Without[table])
	}
	if len(s.tables) == 0 || slices.Equal(s.tables, []string{layout.Changes}) {
		return s, fmt.Errorf("every table %w: nothing would remain", ErrSelection)
	}
	return s, nil
}

func (s selection) leaveOut(table, column string) {
	if !slices.Contains(s.Without[table], column) {
		s.Without[table] = append(s.Without[table], column)
	}
}

func (s selection) has(table string) bool { return slices.Contains(s.tables, table) }

// shows reports whether a column is published.
func (s selection) shows(table, column string) bool {
	return s.has(table) && !slices.Contains(s.Without[table], column)
}

// description says what the tables are about.
func (s selection) description() string {
	var says []string
	file := "the robots.txt of each host"
	if s.has("fetches") {
		says, file = append(says, "what "+file+" answered"), "it"
	}
	if slices.ContainsFunc(s.tables, func(table string) bool { return schema.Describe(table).Contents }) {
		says = append(says, "what "+file+" contains")
	}
	if s.has("policies") || s.has("verdicts") {
		says = append(says, "what each agent may fetch")
	}
	text := "figures of a census of crawl policies"
	switch len(says) {
	case 1:
		text = says[0]
	case 2:
		text = says[0] + " and " + says[1]
	case 3:
		text = says[0] + ", " + says[1] + ", and " + says[2]
	}
	return strings.ToUpper(text[:1]) + text[1:] + ", as tables for analysis."
}

// columns returns the columns of a table that are published.
func (s selection) columns(table string) (docs []sink.ColumnDoc) {
	for _, d := range sink.Dictionary() {
		if d.Table == table && !slices.Contains(s.Without[table], d.Column) {
			if s.Hash && slices.Contains(hashedColumns, d.Column) {
				d.Meaning += " Published as the first 32 hexadecimal digits of its SHA-256."
			}
			docs = append(docs, d)
		}
	}
	return docs
}

// names returns the columns that are left out of published tables, as table.column.
func (s selection) names() (names []string) {
	for _, table := range s.tables {
		for _, column := range s.Without[table] {
			names = append(names, table+"."+column)
		}
	}
	return names
}

// gone returns the tables, and columns of tables, that a query cannot use.
func (s selection) gone(runs []*journal.Manifest) map[string]bool {
	gone := make(map[string]bool)
	for _, name := range s.names() {
		gone[name] = true
	}
	last := runs[0] // whose tables the views show
	for _, m := range runs {
		if m.Date.After(last.Date) || m.Date.Equal(last.Date) && m.Run > last.Run {
			last = m
		}
	}
	for _, table := range schema.TableNames {
		if !slices.Contains(last.Tables, table) {
			gone[table] = true
		}
	}
	return gone
}

// hashedColumns are the columns with names of hosts that are published as hashes. Of the
// column url of verdicts only the absolute URLs are.
var hashedColumns = []string{"host", "registered_domain"}
