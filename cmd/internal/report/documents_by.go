package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/visible"
)

// having are the hosts that have a document, of those that were to be asked for it.
type having struct{ present, hosts int64 }

func (h having) share() float64 { return float64(h.present) / float64(max(h.hosts, 1)) }

// havingOf reads the metric document: hosts by document.
func havingOf(sums counters.Sums, profile string) map[string]having {
	out := make(map[string]having)
	for key, n := range sums.By("document", profile, counters.Key) {
		name, outcome, _ := strings.Cut(key, " ")
		h := out[name]
		if h.hosts += n; outcome == string(consent.Present) {
			h.present += n
		}
		out[name] = h
	}
	return out
}

// documentLabels shows, for each label, which documents hosts have by value: those values
// with most hosts that were to be asked, and those documents that most hosts have.
func (d *data) documentLabels() (out []*draw.Figure) {
	there := make(map[string]int64)
	for name, h := range havingOf(d.sums, d.profile) {
		if h.present > 0 && name != "page" {
			there[name] = h.present
		}
	}
	names := counters.Ranked(there)
	names = names[:min(len(names), mostRanked)]
	slices.Sort(names)
	for i, label := range d.labels.Names() {
		by, asked := make(map[string]map[string]having), make(map[string]int64)
		for value, sums := range d.labels[label] {
			by[value] = havingOf(sums, d.profile)
			for _, name := range names {
				if n := by[value][name].hosts; n > 0 {
					asked[value] = max(asked[value], n)
				}
			}
		}
		values := counters.Ranked(asked)
		left := len(values) - mostValued
		values = values[:min(len(values), mostValued)]
		if len(values) < 2 || len(names) == 0 {
			continue
		}
		slices.Sort(values)
		f := &draw.Figure{
			ID: "documents-label-" + strconv.Itoa(i+1), Head: []string{"value", "document", "present", "hosts"},
			Of: fmt.Sprintf("Shares of the hosts that were to be asked for the document, by %s: the darker, the more.",
				visible.Text(label)),
			Heat: new(draw.Heat),
		}
		if left > 0 {
			f.Note = fmt.Sprintf("And %s: those of fewest hosts.", words.Count(int64(left), "more value"))
		}
		for _, value := range values {
			f.Heat.Columns = append(f.Heat.Columns, visible.Text(value))
			for _, name := range names {
				if h := by[value][name]; h.hosts > 0 {
					f.AddRow([]string{value, name}, h.present, h.hosts)
				}
			}
		}
		for _, name := range names {
			row := draw.HeatRow{Name: name}
			for _, value := range values {
				h, cell := by[value][name], draw.HeatCell{}
				if h.hosts > 0 {
					cell = draw.HeatCell{Text: words.Percent(h.present, h.hosts), Share: h.share(),
						Tip: fmt.Sprintf("%s, %s: %s", name, visible.Text(value), words.OfHosts(h.present, h.hosts))}
				}
				row.Cells = append(row.Cells, cell)
			}
			f.Heat.Rows = append(f.Heat.Rows, row)
		}
		f.Heat.Shade()
		f.Title = documentSpread(visible.Text(label), names, values, by)
		f.SQL = fmt.Sprintf(`SELECT value, split_part(key, ' ', 1) AS document,
  %s,
  sum(count)::BIGINT AS hosts
%s
  AND value IN (%s) AND document IN (%s)
GROUP BY value, document ORDER BY value, document`, counters.SumIf("ends_with(key, ' present')", "present"),
			d.fromLabel(label, "document", false), counters.QuoteAll(values), counters.QuoteAll(names))
		out = append(out, f)
	}
	return out
}

// documentSpread tells the document whose share differs most from value to value, among those
// values of which enough hosts were to be asked for it.
func documentSpread(label string, names, values []string, by map[string]map[string]having) string {
	best, low, high, most := "", "", "", -1.0
	for _, name := range names {
		var from, to string
		for _, value := range values {
			h := by[value][name]
			if h.hosts < words.Few {
				continue
			}
			if from == "" || h.share() < by[from][name].share() {
				from = value
			}
			if to == "" || h.share() > by[to][name].share() {
				to = value
			}
		}
		if from != "" && from != to {
			if spread := by[to][name].share() - by[from][name].share(); spread > most {
				best, low, high, most = name, from, to, spread
			}
		}
	}
	if most <= 0 {
		return fmt.Sprintf("By %s, no document is more frequent in one group of %d hosts or more than in another", label,
			words.Few)
	}
	return fmt.Sprintf("By %s, %s differs most: %s with %s have it, and %s of those with %s", label, best,
		words.ShareOf(by[high][best].present, by[high][best].hosts, "hosts"), visible.Text(high),
		words.Percent(by[low][best].present, by[low][best].hosts), visible.Text(low))
}
