package series

import (
	"testing"

	"github.com/robocensus/robocensus/sink/summary"
)

// A word stands for several agents where it is true of all of them.
func TestWordOfSeveralAgents(t *testing.T) {
	table := &summary.AccessTable{Agents: []string{"A", "B", "C"}, Categories: []string{"ai", "ai", "search"}}
	for _, row := range []struct{ a, b, c, of, want string }{
		{summary.AccessOpen, summary.AccessOpen, summary.AccessShutOut, "ai", summary.AccessOpen},
		{summary.AccessShutOut, summary.AccessShutOut, summary.AccessOpen, "ai", summary.AccessShutOut},
		{summary.AccessShutOut, summary.AccessOpen, summary.AccessOpen, "ai", summary.AccessPartly},
		{summary.AccessPartly, summary.AccessOpen, summary.AccessOpen, "ai", summary.AccessPartly},
		{summary.AccessPartly, summary.AccessOpen, summary.AccessOpen, "B", summary.AccessOpen},
		{summary.AccessUnread, summary.AccessOpen, summary.AccessOpen, "ai", summary.AccessUnread},
		{summary.AccessOpen, summary.AccessOpen, summary.AccessOpen, "none", ""},
	} {
		if got := together(table, &summary.SiteAccess{Access: []string{row.a, row.b, row.c}}, row.of); got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
}
