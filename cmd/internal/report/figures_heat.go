package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// heat is a table of shares whose cells are coloured by their size.
type heat struct {
	Columns []string
	Rows    []heatRow
}

type heatRow struct {
	Name, Sub string
	Cells     []heatCell
}

// heatCell is a share. Level is 0 for none and 9 for the greatest of the table.
type heatCell struct {
	Text, Tip string
	Level     int
}

// heatLevels is the number of shades.
const heatLevels = 9

// shade sets the levels of cells by their shares, which are in the order of the rows.
func (h *heat) shade(shares [][]float64) {
	most := 0.0
	for _, row := range shares {
		for _, share := range row {
			most = max(most, share)
		}
	}
	for i, row := range shares {
		for k, share := range row {
			if share > 0 {
				h.Rows[i].Cells[k].Level = max(1, int(math.Round(heatLevels*share/most)))
			}
		}
	}
}

// leadingFates returns the agents that most hosts shut out, at most so many. Those that tie
// with the first one without room have none either.
func leadingFates(all []fate, most int, by func(fate) int64) []fate {
	all = slices.DeleteFunc(slices.Clone(all), func(a fate) bool { return by(a) == 0 })
	slices.SortStableFunc(all, func(a, b fate) int {
		return cmp.Or(cmp.Compare(by(b), by(a)), cmp.Compare(b.names, a.names))
	})
	if len(all) <= most {
		return all
	}
	n := most
	for n > 1 && by(all[n]) == by(all[n-1]) {
		n--
	}
	return all[:n]
}

// Most agents of the two tables.
const (
	mostRanked   = 15
	mostTogether = 8
)

// ranks shows what share of the hosts of each band of rank shut out the leading agents.
func (d *data) ranks() *figure {
	hostsOf := d.sums.by("targets", d.profile, func(l label) string { return l.stratum })
	bands := ascending(hostsOf)
	agents := leadingFates(d.fates(), mostRanked, func(a fate) int64 { return a.closed })
	if len(bands) < 2 || len(agents) == 0 {
		return nil
	}
	closed := make(map[[2]string]int64) // by agent and band
	for l, n := range d.sums["policy"] {
		if l.profile == d.profile && l.key == "disallow_all" {
			closed[[2]string{l.agent, l.stratum}] += n
		}
	}
	f := &figure{
		ID: "ranks", Of: "Shares of the hosts of each band of rank that shut the agent out: the darker, the more.", Heat: new(heat),
		Head: []string{"agent", "stratum", "shut_out", "hosts"},
	}
	for _, band := range bands {
		f.Heat.Columns = append(f.Heat.Columns, rankName(band)+", "+hosts(hostsOf[band]))
	}
	var shares [][]float64
	var names []string
	for _, a := range agents {
		row, of := heatRow{Name: a.agent, Sub: words.Category.Of(a.category)}, []float64(nil)
		for _, band := range bands {
			n := closed[[2]string{a.agent, band}]
			row.Cells = append(row.Cells, heatCell{Text: percent(n, hostsOf[band]), Tip: fmt.Sprintf("%s, %s: %s of %s", a.agent, rankName(band), count(n), hosts(hostsOf[band]))})
			of = append(of, float64(n)/float64(max(1, hostsOf[band])))
		}
		f.Heat.Rows, shares, names = append(f.Heat.Rows, row), append(shares, of), append(names, a.agent)
	}
	f.Heat.shade(shares)
	top := f.Heat.Rows[0]
	f.Title = fmt.Sprintf("%s is shut out by %s of %s, and by %s of %s", agents[0].agent,
		ofBase(closed[[2]string{agents[0].agent, bands[0]}], hostsOf[bands[0]], "hosts"), rankWords(bands[0]),
		top.Cells[len(bands)-1].Text, rankWords(bands[len(bands)-1]))
	slices.Sort(names)
	for _, name := range names {
		for _, band := range bands {
			f.Rows = append(f.Rows, []string{name, band, number(closed[[2]string{name, band}]), number(hostsOf[band])})
		}
	}
	f.SQL = fmt.Sprintf(`SELECT agent, stratum, coalesce(sum(count) FILTER (key = 'disallow_all'), 0)::BIGINT AS shut_out, any_value(hosts) AS hosts
FROM (SELECT stratum, sum(count)::BIGINT AS hosts %s GROUP BY stratum)
JOIN (SELECT stratum, agent, key, count %s) USING (stratum)
WHERE agent IN (%s)
GROUP BY agent, stratum ORDER BY agent, %s`, d.from("targets", false), d.from("policy", true), quoteAll(names), stratumOrder)
	return f
}

// rankWords names a stratum in a sentence.
func rankWords(stratum string) string {
	if stratum == "unranked" {
		return "those without a rank"
	}
	return rankName(stratum)
}

// together shows which agents for AI training the same hosts shut out by name.
func (d *data) together() *figure {
	both := make(map[[2]string]int64)
	for l, n := range d.sums["policy_pair"] {
		if l.profile == d.profile {
			both[[2]string{l.agent, l.key}] += n
			both[[2]string{l.key, l.agent}] += n
		}
	}
	named := func(a fate) int64 { return a.byName + a.byFallback }
	agents := leadingFates(slices.DeleteFunc(d.fates(), func(a fate) bool { return a.category != headline }), mostTogether, named)
	if len(both) == 0 || len(agents) < 2 {
		return nil
	}
	f := &figure{
		ID: "together", Of: "Of the hosts that shut out the agent of a row by name, the share that shut out the agent of a column by name too.", Heat: new(heat),
		Note: "By name: by a group for one of the agent's own names, or of a crawler that it follows. A group for all (*) shuts out all of them and is not counted. The leading agents for AI training.",
		Head: []string{"agent", "other", "common", "hosts"},
	}
	var shares [][]float64
	var names []string
	for _, a := range agents {
		names = append(names, a.agent)
		f.Heat.Columns = append(f.Heat.Columns, a.agent)
		row, of := heatRow{Name: a.agent, Sub: hosts(named(a))}, []float64(nil)
		for _, b := range agents {
			n := both[[2]string{a.agent, b.agent}]
			cell := heatCell{Text: percent(n, named(a)), Tip: fmt.Sprintf("%s, and %s too: %s of %s", a.agent, b.agent, count(n), hosts(named(a)))}
			share := float64(n) / float64(named(a))
			if a.agent == b.agent {
				cell, share = heatCell{Text: "–", Tip: a.agent}, 0
			}
			row.Cells, of = append(row.Cells, cell), append(of, share)
		}
		f.Heat.Rows, shares = append(f.Heat.Rows, row), append(shares, of)
	}
	f.Heat.shade(shares)
	first := agents[0]
	other := slices.MaxFunc(agents[1:], func(a, b fate) int {
		return cmp.Or(cmp.Compare(both[[2]string{first.agent, a.agent}], both[[2]string{first.agent, b.agent}]), cmp.Compare(b.agent, a.agent))
	})
	n := both[[2]string{first.agent, other.agent}]
	f.Title = fmt.Sprintf("Of the %s that shut out %s by name, %s shut out %s too", hosts(named(first)), first.agent, percent(n, named(first)), other.agent)
	slices.Sort(names)
	of := make(map[string]int64)
	for _, a := range agents {
		of[a.agent] = named(a)
	}
	for _, a := range names {
		for _, b := range names {
			if n := both[[2]string{a, b}]; n > 0 {
				f.Rows = append(f.Rows, []string{a, b, number(n), number(of[a])})
			}
		}
	}
	f.SQL = fmt.Sprintf(`WITH pairs AS (SELECT agent, key, count %[1]s)
SELECT agent, other, sum(common)::BIGINT AS common, any_value(hosts) AS hosts
FROM (SELECT agent, key AS other, count AS common FROM pairs UNION ALL SELECT key, agent, count FROM pairs)
JOIN (SELECT agent, sum(count)::BIGINT AS hosts %[2]s AND key = 'disallow_all' GROUP BY agent) USING (agent)
WHERE agent IN (%[3]s) AND other IN (%[3]s)
GROUP BY agent, other ORDER BY agent, other`, d.from("policy_pair", true), d.from("policy_explicit policy_fallback", true), quoteAll(names))
	if len(f.Rows) == 0 {
		return nil
	}
	return f
}

// heat draws the table of a figure.
func (s *svg) heat(h *heat) {
	if h == nil {
		return
	}
	const height = 24
	width := float64(svgWidth-2*svgMargin-svgNames) / float64(len(h.Columns))
	s.y += 16
	for k, name := range h.Columns {
		text := []rune(name)
		if most := int(width / 5.5); len(text) > most {
			text = append(text[:max(1, most-1)], '…')
		}
		s.text(svgMargin+svgNames+width*(float64(k)+0.5), s.y, `font-size="11" text-anchor="middle" fill="#55626f"`, string(text))
	}
	s.y += 6
	for _, r := range h.Rows {
		s.text(svgMargin, s.y+16, `font-size="13" fill="#16202a"`, r.Name)
		for k, c := range r.Cells {
			x := svgMargin + svgNames + width*float64(k)
			fmt.Fprintf(s, `<g><title>%s</title><rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s" fill-opacity="%.2f"/>`, esc(c.Tip), x, s.y, width-1, height-1, fills["closed"], float64(c.Level)/heatLevels)
			ink := "#16202a"
			if c.Level > heatDark {
				ink = "#ffffff"
			}
			s.text(x+width/2, s.y+16, `font-size="12" text-anchor="middle" fill="`+ink+`"`, c.Text)
			s.WriteString("</g>")
		}
		s.y += height
	}
}

// heatDark is the last level with dark text.
const heatDark = 5
