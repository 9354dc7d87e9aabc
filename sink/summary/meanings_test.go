package summary

import (
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// Each single change means one thing.
func TestWhatSingleChangesMean(t *testing.T) {
	for _, c := range []struct {
		means         []Meaning
		before, after *string
		want          string
	}{
		{Turns, new("alike"), new("refused"), "turned_away "}, {Turns, new("refused"), new("alike"), "let_in "},
		{Turns, new("refused"), new("challenged"), "otherwise "}, {Turns, new("alike"), new("failing"), "undecided "},
		{Comings, new("absent"), new("present"), "came "}, {Comings, new("present"), new("absent"), "gone "},
		{Comings, new("present"), new("other_text"), "reworded "}, {Comings, new("absent"), new("refused"), "otherwise "},
		{Statements, nil, new("disallow"), "refuses "}, {Statements, new("allow"), nil, "ends "},
		{Statements, new("disallow"), new("allow"), "permits "}, {Statements, nil, new("priced"), "prices "},
		{Statements, nil, new("partial"), "depends "}, {Statements, new("partial"), new("undecided"), "undecided "},
	} {
		got := ""
		for _, m := range c.means {
			if m.Is(&schema.Change{Before: c.before, After: c.after}) {
				got += m.Name + " "
			}
		}
		if got != c.want {
			t.Errorf("%v to %v means %s, want %s", c.before, c.after, got, c.want)
		}
	}
}
