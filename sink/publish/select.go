package publish

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/internal/layout"
)

// ErrSelection reports a table or a column that cannot be left out.
var ErrSelection = errors.New("cannot be left out")

// selection says which tables and columns are published.
type selection struct {
	tables  []string            // in the order of the dictionary
	without map[string][]string // columns that a table lacks
	hash    bool
}

// keys are the columns that tables and views are joined and chosen by.
var keys = []string{"seq", "profile", "agent", "metric", "count"}

// TableNames returns the tables that can be published, and ColumnNames their columns
// as table.column.
func TableNames() []string { return append(slices.Clone(sink.TableNames), layout.Changes) }

// ColumnNames returns the columns of all tables, as table.column.
func ColumnNames() (names []string) {
	for _, d := range sink.Dictionary() {
		names = append(names, d.Table+"."+d.Column)
	}
	return names
}

// selected applies the settings to the tables of the runs.
func selected(c Config) (selection, error) {
	s := selection{without: make(map[string][]string), hash: c.HashHosts}
	var gone []string
	for _, name := range c.Without {
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
	if c.HashHosts {
		for _, table := range TableNames() {
			t := sink.Describe(table)
			if t.AllForeign {
				gone = append(gone, table)
			}
			for _, column := range t.Foreign {
				s.leaveOut(table, column)
			}
		}
	}
	// Runs published before may lack columns.
	for _, m := range c.Runs {
		for _, name := range m.Without {
			table, column, _ := strings.Cut(name, ".")
			s.leaveOut(table, column)
		}
	}
	for _, table := range TableNames() {
		written := table == layout.Changes || slices.ContainsFunc(c.Runs, func(m *sink.Manifest) bool { return slices.Contains(m.Tables, table) })
		if written && !slices.Contains(gone, table) {
			s.tables = append(s.tables, table)
		} else {
			delete(s.without, table)
		}
		slices.Sort(s.without[table])
	}
	if len(s.tables) == 0 || slices.Equal(s.tables, []string{layout.Changes}) {
		return s, fmt.Errorf("every table %w: nothing would remain", ErrSelection)
	}
	return s, nil
}

func (s selection) leaveOut(table, column string) {
	if !slices.Contains(s.without[table], column) {
		s.without[table] = append(s.without[table], column)
	}
}

func (s selection) has(table string) bool { return slices.Contains(s.tables, table) }

// shows reports whether a column is published.
func (s selection) shows(table, column string) bool {
	return s.has(table) && !slices.Contains(s.without[table], column)
}

// description says what the tables are about.
func (s selection) description() string {
	var says []string
	file := "the robots.txt of each host"
	if s.has("fetches") {
		says, file = append(says, "what "+file+" answered"), "it"
	}
	if slices.ContainsFunc([]string{"groups", "rules", "sitemaps", "lines", "signals", "preferences", "templates", "bodies"}, s.has) {
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
		if d.Table == table && !slices.Contains(s.without[table], d.Column) {
			if s.hash && slices.Contains(hashed, d.Column) {
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
		for _, column := range s.without[table] {
			names = append(names, table+"."+column)
		}
	}
	return names
}

// gone returns the tables, and columns of tables, that a query cannot use.
func (s selection) gone(runs []*sink.Manifest) map[string]bool {
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
	for _, table := range sink.TableNames {
		if !slices.Contains(last.Tables, table) {
			gone[table] = true
		}
	}
	return gone
}
