package report

import (
	"testing"

	"github.com/robocensus/robocensus/sink/journal"
)

// A page says where its answers come from, also those of archives that an index names.
func TestThePageSaysWhereAnswersComeFrom(t *testing.T) {
	for _, row := range []struct {
		roles []string
		want  string
	}{
		{[]string{"hosts", "ranks", "agents"}, "asked over the network"},
		{[]string{"hosts", "warc"}, "answers stored in WARC files"},
		{[]string{"cdx", "agents"}, "answers stored in WARC files"},
		{[]string{"bodies", "ranks"}, "stored robots.txt files"},
		{[]string{"run"}, "answers stored in an earlier run"},
	} {
		m := new(journal.Manifest)
		for _, role := range row.roles {
			m.Inputs = append(m.Inputs, journal.Input{Role: role})
		}
		if got := (&data{manifest: m}).source(); got != row.want {
			t.Errorf("%v: %q, want %q", row.roles, got, row.want)
		}
	}
}
