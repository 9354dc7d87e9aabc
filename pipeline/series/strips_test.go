package series

import (
	"testing"

	"github.com/robocensus/robocensus/sink/access"
)

// A word stands for several agents where it is true of all of them.
func TestWordOfSeveralAgents(t *testing.T) {
	table := &access.Table{Agents: []string{"A", "B", "C"}, Categories: []string{"ai", "ai", "search"}}
	for _, row := range []struct{ a, b, c, of, want string }{
		{access.Open, access.Open, access.ShutOut, "ai", access.Open},
		{access.ShutOut, access.ShutOut, access.Open, "ai", access.ShutOut},
		{access.ShutOut, access.Open, access.Open, "ai", access.Partly},
		{access.Partly, access.Open, access.Open, "ai", access.Partly},
		{access.Partly, access.Open, access.Open, "B", access.Open},
		{access.Unread, access.Open, access.Open, "ai", access.Unread},
		{access.Open, access.Open, access.Open, "none", ""},
	} {
		if got := together(table, &access.Site{Access: []string{row.a, row.b, row.c}}, row.of); got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
}
