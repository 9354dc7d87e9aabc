package show

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/check"
	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

const (
	// wholeFile is the most lines of a file that are shown whole; of longer ones, those
	// that decide are shown with nearbyLines before and after.
	wholeFile   = 60
	nearbyLines = 2
	// mostLinesShown bounds what is shown of one file.
	mostLinesShown = 200
)

// marks returns the lines that decide: for the agents asked about, else for those that
// are not allowed everything.
func (v *hostView) marks() map[int32]bool {
	marks, done := make(map[int32]bool), make(map[string]bool)
	group := func(token *string) {
		if token == nil || done[*token] {
			return
		}
		done[*token] = true
		for _, g := range v.groupsOf(*token) {
			for i, t := range g.Tokens {
				if i < len(g.AgentLines) && strings.EqualFold(t, *token) {
					marks[g.AgentLines[i]] = true
				}
			}
		}
		for _, r := range v.rulesOf(*token) {
			marks[r.Line] = true
		}
	}
	for _, a := range v.Agents {
		group(a.GroupAgent)
	}
	for _, p := range v.policies {
		if len(v.Agents) == 0 && p.Class != "allow_all" {
			group(p.GroupAgent)
		}
	}
	return marks
}

// titleOfFile says what the body is: the file or, where the answer has none, what the memory
// or the run has in its place.
func (v *hostView) titleOfFile() string {
	const minute = "2006-01-02 15:04"
	switch t := v.target; {
	case t.ContentDigest == nil && t.CopyTime != nil:
		return fmt.Sprintf("the last copy, of %s, which was not judged", t.CopyTime.UTC().Format(minute))
	case t.ContentDigest != nil && t.StaleSince != nil:
		return fmt.Sprintf("the last copy, of %s, which was judged", t.StaleSince.UTC().Format(minute))
	case v.Challenge != nil:
		return "the page of the wall"
	case t.ContentDigest == nil:
		return "the page of the error, which was not judged"
	}
	return "the file"
}

// printFile prints the file, or the part around the lines that decide, which are marked.
func (v *hostView) printFile(p *cli.Text) {
	if v.body == nil {
		return
	}
	marks := v.marks()
	var lines [][]byte
	for line := range robots.SplitLines(v.body) {
		lines = append(lines, line)
	}
	title := "\n" + v.titleOfFile()
	if len(marks) > 0 {
		title += ", with > before the lines that decide"
	}
	p.Line(title)
	width, last, shown := len(strconv.Itoa(len(lines))), 0, 0
	for i, line := range lines {
		n := i + 1
		near := len(lines) <= wholeFile
		for k := max(1, n-nearbyLines); k <= n+nearbyLines && !near; k++ {
			near = marks[int32(k)]
		}
		if !near {
			continue
		}
		if shown++; shown > mostLinesShown {
			p.Line("  the rest is in --json")
			return
		}
		if n > last+1 {
			p.Line("  …")
		}
		last = n
		mark := " "
		if marks[int32(n)] {
			mark = ">"
		}
		p.Line(fmt.Sprintf("%s %*d  %s", mark, width, n, check.Shortened(p.Foreign(schema.Text(line)))))
	}
	if last < len(lines) {
		p.Line("  …")
	}
}
