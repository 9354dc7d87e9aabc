package series

import (
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// mostWeeks is how many runs a strip shows, the last ones.
const mostWeeks = 53

// strips shows of each site, run by run, what it lets an agent or those of a category do.
func (d *seriesData) strips() *draw.Figure {
	s := d.Strips
	if s == nil || len(s.Runs) < 2 {
		return nil
	}
	from := max(0, len(s.Runs)-mostWeeks)
	changed := int64(0)
	f := &draw.Figure{
		ID: "strips", Of: "Each site that a run has, by rank: " + words.Category.Of(s.Of) + ".",
		Legend: draw.AccessLegend(), Heat: new(draw.Heat), Head: []string{"site"},
		Note: "Shut out: all of these agents are; partly: some of them, or from some paths. An empty cell: the run does " +
			"not have the site.",
	}
	for _, run := range s.Runs[from:] {
		f.Heat.Columns, f.Head = append(f.Heat.Columns, shortDay(d.Runs[d.index[run]].Date)), append(f.Head, run)
	}
	for _, site := range s.Sites {
		row := draw.HeatRow{Name: site.Site}
		for k, word := range site.Access[from:] {
			row.Cells = append(row.Cells, draw.AccessCell(word, site.Site+", "+f.Heat.Columns[k]))
		}
		read := slices.DeleteFunc(slices.Clone(site.Access),
			func(word string) bool { return word == "" || word == summary.AccessUnread })
		if len(slices.Compact(read)) > 1 {
			changed++
		}
		f.Heat.Rows = append(f.Heat.Rows, row)
		f.AddRow(append([]string{site.Site}, site.Access[from:]...))
	}
	f.Title = fmt.Sprintf("%s of %s changed what they let in: %s", words.Number(changed),
		words.Count(int64(len(s.Sites)), "site"), words.Category.Of(s.Of))
	if from > 0 {
		f.Note += fmt.Sprintf(" The last %d runs; and %s more, which --since and --runs choose.", mostWeeks,
			words.Number(int64(from)))
	}
	return f
}
