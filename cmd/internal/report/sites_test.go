package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/summary"
)

// Agents that every site treats alike have one column, and those that no site closes to have
// none.
func TestEachSite(t *testing.T) {
	const o, p, x, u = summary.AccessOpen, summary.AccessPartly, summary.AccessShutOut, summary.AccessUnread
	d := &data{run: "r", profile: "google", manifest: &journal.Manifest{}, sites: &sites{
		agents: []string{"A", "B", "C", "D", "E"}, column: "host", names: []string{"a.example", "b.example", "c.example",
			"d.example"},
		access: [][]string{{o, o, o, o, o}, {x, p, x, o, x}, {o, x, o, o, o}, {u, u, u, u, u}},
	}}
	f := d.eachSite()
	if want := "2 of 4 sites shut at least one agent out, and 1 is open to all of them; " +
		"1 could not be read"; f.Title != want {
		t.Errorf("title %q, want %q", f.Title, want)
	}
	if d := cmp.Diff([]string{"B", "A and 2 more"}, f.Heat.Columns); d != "" {
		t.Errorf("columns (-want +got):\n%s", d)
	}
	if d := cmp.Diff([][]string{{"a.example", o, o}, {"b.example", p, x}, {"c.example", x, o}, {"d.example", u, u}},
		f.Rows); d != "" {
		t.Errorf("rows (-want +got):\n%s", d)
	}
	if !strings.Contains(f.Note, "A: C, E.") || !strings.Contains(f.Note, "robocensus export --out DIR r access") {
		t.Errorf("note %q", f.Note)
	}
	if cell := f.Heat.Rows[1].Cells[1]; cell != (draw.HeatCell{Text: "×", Class: "closed",
		Tip: "b.example, A and 2 more: shut out"}) {
		t.Errorf("cell %+v", cell)
	}
}
