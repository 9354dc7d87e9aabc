package report

import (
	"fmt"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/sink/summary"
)

// parityKinds are what a file means to a crawler's own parser, beside google's reading.
var parityKinds = []struct{ key, class, name string }{
	{summary.LetIn, "allow", "shut out, but let in by its own parser"}, {summary.KeptOut, "closed", "let in, but shut out by its own parser"},
	{"different", "partly", "different on some paths"}, {"undecided", "unknown", "undecided"}, {"escapes_only", "star", "different on needless escapes only"}, {"equal", "open", "the same"},
}

const parityNote = "For crawlers whose parser is documented, the file is read as that parser reads it and as Google's does, and compared on every path but /robots.txt. "

// parity shows for how many of the files that name a crawler its own parser reads them
// otherwise.
func (d *data) parity() *figure {
	by := d.sums.pivot("parity", d.profile, func(l label) string { return l.agent })
	agents, named := byTotal(by)
	if len(agents) == 0 {
		return nil
	}
	category := make(map[string]string)
	for l := range d.sums["parity"] {
		category[l.agent] = l.category
	}
	on := d.sums.by("parity_hosts", d.profile, key)
	f := &figure{
		ID: "parity", Of: "Shares of the files that name the crawler.",
		Title: fmt.Sprintf("%s of files shut out a crawler under its own name and are open to it by its own parser", percent(on[summary.LetIn], d.files)),
		Note:  parityNote + "What differs on URLs with needless escapes only counts apart.",
		Head:  []string{"agent", "category", "named"}, Heads: []string{"named by", "different"}, Axis: "100% of the files that name the crawler",
	}
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  sum(count)::BIGINT AS named", categoryOf)
	for _, k := range parityKinds {
		f.Head = append(f.Head, k.key)
		f.Legend = append(f.Legend, legend{k.class, k.name})
		f.SQL += ",\n  " + sumIf("key = "+quote(k.key), k.key)
	}
	f.SQL += "\n" + d.from("parity", false) + "\nGROUP BY agent ORDER BY named DESC, agent"
	for i, agent := range agents {
		n := by[agent]
		row, shares := []string{agent, category[agent], number(named[agent])}, []share(nil)
		for _, k := range parityKinds {
			row = append(row, number(n[k.key]))
			shares = append(shares, share{k.class, k.name, n[k.key]})
		}
		f.Rows = append(f.Rows, row)
		if different := n[summary.LetIn] + n[summary.KeptOut] + n["different"]; i < barsDrawn {
			f.Bars = append(f.Bars, bar{Name: agent, Sub: words.Category.Of(category[agent]), Tracks: []track{{
				Parts: inscribed(parts(100, named[agent], shares...)), Values: []string{count(named[agent]), percent(different, named[agent])},
			}}})
		}
	}
	return f
}

// parityCauses shows why.
func (d *data) parityCauses() *figure {
	all := d.sums.by("parity_cause_hosts", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	var named int64
	on := d.sums.by("parity_hosts", d.profile, key)
	for _, n := range on {
		named += n
	}
	different := on[summary.LetIn] + on[summary.KeptOut] + on["different"]
	f := &figure{
		ID: "parity-causes", Of: "Shares of the files that name a crawler whose parser is documented.", Names: parityCause,
		Title: fmt.Sprintf("%s of %s mean something else to the parser of a crawler that they name", percent(different, named), counted(named, "file")),
		Note:  parityNote + "The cause is the first simplification of the file after which both readings agree; several where it takes more than one. A file counts once for each cause that it has for one of its crawlers.",
	}
	d.byKey(f, "parity_cause_hosts", "cause", "files", false, all, "partly", named)
	f.Examples = d.examples.list("Examples", "crawler, what the file as a whole is to it", "parity_cause", parityCause, ranked(all)...)
	return f
}

// parityCause returns the display name of a cause.
func parityCause(cause string) string {
	if cause == summary.SeveralCauses {
		return "several of these together"
	}
	if text, ok := portable.CauseTexts[cause]; ok {
		return text
	}
	return cause
}
