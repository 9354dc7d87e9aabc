package check

import (
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/portable"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/visible"
)

// cutNote says that a profile reads only the beginning of a file, "" if it reads all.
func cutNote(f *robots.File, p *robots.Profile) string {
	if !f.Truncated {
		return ""
	}
	last := int64(f.Lines)
	if body := f.Body(); len(body) > 0 && body[len(body)-1] != '\n' && body[len(body)-1] != '\r' {
		last-- // its end lies beyond the limit
	}
	return fmt.Sprintf("cut at %s bytes, the size limit of profile %s: what follows line %s does not count",
		words.Number(int64(p.SizeLimit)), visible.Text(p.Name), words.Number(last))
}

// signalNotes says which content signals bind nobody, or one agent where none binds all, and
// where they would: at most the first two lines.
func (e *explainer) signalNotes() {
	f := &e.readings[0].File
	best, _ := f.SignalReach()
	said := 0
	for i := range f.Usages {
		u := &f.Usages[i]
		if u.Mechanism != usage.ContentSignal || said == 2 {
			continue
		}
		why := ""
		switch f.Reach(u) {
		case robots.ReachesNobody:
			why = "binds nobody, for it stands before all groups"
		case robots.ReachesOne:
			if best < robots.ReachesAll {
				name := f.Agents[f.Groups[u.Group].Agents.From].Wide
				why = "binds " + Shortened(visible.Text(schema.Text(name))) + " alone, whose group it stands in"
			}
		}
		if why != "" {
			said++
			fmt.Fprintf(e.out, "%s\n    %s; to bind all agents, put it below `User-agent: *`\n\n", e.lines.text(u.Line), why)
		}
	}
}

// lighthouseNotes says which lines Lighthouse's audit of robots.txt calls errors: the first
// two. Site owners meet its verdict in their browsers.
func (e *explainer) lighthouseNotes() {
	faults := portable.LighthouseErrors(nil, e.readings[0].File.Body())
	for i := range faults[:min(len(faults), 2)] {
		more := ""
		if rest := len(faults) - 2; i == 1 && rest > 0 {
			more = ", and " + words.Count(int64(rest), "more line")
		}
		fmt.Fprintf(e.out, "%s\n    an error to Lighthouse's audit: %s%s\n\n", e.lines.text(faults[i].Line),
			faults[i].Fault.Message(), more)
	}
}

// unread warns about a body that a profile does not read to its end, and about one
// without a meaningful line: it is probably not the robots.txt that the user expects.
func (e *explainer) unread() {
	first := e.readings[0]
	for i, r := range e.readings {
		if note := cutNote(&r.File, r.Profile); note != "" && (i == 0 || r.Profile.SizeLimit != first.Profile.SizeLimit) {
			fmt.Fprintf(e.out, "%s\n\n", note)
		}
	}
	f := &first.File
	if f.InvalidLines == 0 || len(f.Groups)+len(f.Rules)+len(f.Sitemaps) > 0 ||
		slices.ContainsFunc(f.Remarks, func(r robots.Remark) bool { return r.Class == robots.Extension }) {
		return
	}
	is := ""
	if named := userfile.Format(e.body[:min(len(e.body), userfile.FormatHead)]); named != nil {
		is = "; the file " + named.Error()
	} else if f.IsHTML {
		is = "; the file looks like HTML"
	}
	no := fmt.Sprintf("none of the %d lines is a", f.Lines)
	if f.Lines == 1 {
		no = "its only line is no"
	}
	fmt.Fprintf(e.out, "%s line of a robots.txt, so everything is allowed%s\n\n", no, is)
}

func (e *explainer) note(text string) { fmt.Fprintf(e.out, "  %s\n", text) }
