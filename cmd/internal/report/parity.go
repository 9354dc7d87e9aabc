package report

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/sink/summary"
)

// parityKinds are what a file means to a crawler's own parser, beside google's reading.
var parityKinds = draw.Kinds{
	{Key: summary.LetIn, Class: "allow", Name: "shut out, but let in by its own parser"},
	{Key: summary.KeptOut, Class: "closed", Name: "let in, but shut out by its own parser"},
	{Key: "different", Class: "partly", Name: "different on some paths"},
	{Key: "undecided", Class: "unknown", Name: "undecided"},
	{Key: "escapes_only", Class: "star", Name: "different on needless escapes only"},
	{Key: "equal", Class: "open", Name: "the same"},
}

const parityNote = "For crawlers whose parser is documented, the file is read as that parser reads it and as " +
	"Google's does, and compared on every path but /robots.txt. "

// parity shows for how many of the files that name a crawler its own parser reads them
// otherwise.
func (d *data) parity() *draw.Figure {
	by := d.sums.Pivot("parity", d.profile, func(l counters.Label) string { return l.Agent })
	if len(by) == 0 {
		return nil
	}
	on := d.sums.By("parity_hosts", d.profile, counters.Key)
	f := &draw.Figure{
		ID: "parity", Of: "Shares of the files that name the crawler.",
		Title: fmt.Sprintf("%s %s own parser lets in",
			words.ShareOf(on[summary.LetIn], d.files, "hosts with rules"),
			words.AgreeOf(on[summary.LetIn], d.files, "shuts out a crawler under its name that its",
				"shut out a crawler under its name that its")),
		Note:  parityNote + "What differs on URLs with needless escapes only counts apart.",
		Heads: []string{"named by", "different"},
	}
	category := make(map[string]string)
	for l := range d.sums["parity"] {
		category[l.Agent] = l.Category
	}
	ofNamed(f, d.from("parity", false), category, parityKinds, by, differing)
	f.Fill("the files that name the crawler")
	f.Shorten()
	return f
}

// differing returns how many files mean something else to a crawler's own parser.
func differing(n map[string]int64) int64 {
	return n[summary.LetIn] + n[summary.KeptOut] + n["different"]
}

// parityCauses shows why.
func (d *data) parityCauses() *draw.Figure {
	all := d.sums.By("parity_cause_hosts", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	on := d.sums.By("parity_hosts", d.profile, counters.Key)
	named := sum(on)
	different := differing(on)
	f := &draw.Figure{
		ID: "parity-causes", Of: "Shares of the files that name a crawler whose parser is documented.", Names: parityCause,
		Title: fmt.Sprintf("%s %s", words.OfCount(different, named, "file"),
			words.AgreeOf(different, named, "means something else to the parser of a crawler that it names",
				"mean something else to the parser of a crawler that they name")),
		Note: parityNote + "The cause is the first simplification of the file after which both readings agree; several " +
			"where it takes more than one. A file counts once for each cause that it has for one of its crawlers.",
	}
	byKey(f, d.from("parity_cause_hosts", false), "cause", "files", all, "partly", named)
	if f.Examples = d.examples.List("Examples", "what the file as a whole is to the crawler", "parity_cause",
		parityCause, counters.Ranked(all)...); f.Examples != nil {
		for i := range f.Examples.Rows {
			f.Examples.Rows[i].Text = parityText(f.Examples.Rows[i].Text)
		}
	}
	return f
}

// parityText has words for an example, such as "Wget, google: partial; wget: allow_all".
func parityText(text string) string {
	agent, readings, _ := strings.Cut(text, ", google: ")
	google, own, _ := strings.Cut(readings, "; ")
	parser, class, ok := strings.Cut(own, ": ")
	switch {
	case !ok:
		return text
	case class == google:
		return fmt.Sprintf("%s: %s as Google's parser reads it, and as %s does, on other paths", agent,
			words.Class.Of(google), parser)
	}
	return fmt.Sprintf("%s: %s as Google's parser reads it, %s as %s does", agent, words.Class.Of(google),
		words.Class.Of(class), parser)
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
