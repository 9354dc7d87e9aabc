package diffs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/diff"
	"github.com/robocensus/robocensus/sink/visible"
)

// headline says how many hosts changed, of the hosts that all formats count as compared. Of those
// that a run could not read, policies, answers and documents are not.
func headline(r *diff.Result) string {
	apart := fmt.Sprintf("%s new, %s gone", words.Number(r.New), words.Number(r.Gone))
	switch {
	case r.Compared == 0:
		return "no host is in both runs; " + apart
	case !r.Policies:
		return fmt.Sprintf("no policy is compared: %s in both runs, %s with a change of another kind; %s",
			words.Count(r.Compared, "host"), words.Number(r.Changed), apart)
	case r.Unread == r.Compared:
		return fmt.Sprintf("no policy is compared: %s in both runs, and none could be read in both; %s",
			words.Count(r.Compared, "host"), apart)
	}
	out := fmt.Sprintf("%s compared, %s with a change", words.Count(r.Compared, "host"), words.Number(r.Changed))
	if r.Unread > 0 {
		out = fmt.Sprintf("%s compared, %s of them only by whether they answer (not read in one run or in both), %s with a "+
			"change", words.Count(r.Compared, "host"), words.Number(r.Unread), words.Number(r.Changed))
	}
	if r.Compared >= words.Few {
		out += fmt.Sprintf(" (%s of the hosts in both runs)", words.Percent(r.Changed, r.Compared))
	}
	return out + "; " + apart
}

// standIns says which hosts are compared with a run before the first one.
func standIns(p cli.Page, r *diff.Result) string {
	n, each := int64(0), make([]string, len(r.Earlier))
	for i, e := range r.Earlier {
		n += e.Hosts
		each[i] = fmt.Sprintf("%s (%s)", p.Foreign(e.Run), words.Count(e.Hosts, "host"))
	}
	return fmt.Sprintf("%s could not read %s that an earlier run could, which are compared with the latest such run: %s",
		p.Foreign(r.Before), words.Count(n, "host"), strings.Join(each, ", "))
}

func showDiff(p cli.Page, r *diff.Result, groups []groupMoved) {
	p.Line(fmt.Sprintf("%s since %s: %s", p.Foreign(r.After), p.Foreign(r.Before), headline(r)))
	for _, note := range r.Notes {
		p.Line("note: " + p.Foreign(note))
	}
	if len(r.Earlier) > 0 {
		p.Line("note: " + standIns(p, r))
	}
	cli.ShowPromises(p, r.Expectations)
	if len(r.Kinds) == 0 {
		return
	}
	severities := func(s diff.Severities) []int64 { return []int64{s.Critical, s.Major, s.Minor, s.Cosmetic} }
	var rows [][]string
	for i, n := range severities(r.BySeverity) {
		if n > 0 {
			rows = append(rows, []string{change.Severities[i], words.Number(n), words.Percent(n, r.Compared)})
		}
	}
	table(p, "Hosts by most severe change", []string{"severity", "hosts", "of those in both runs"}, 1, rows)
	rows = nil
	for _, k := range r.Kinds {
		rows = append(rows, []string{visible.Text(k.Severity), visible.Text(words.Kind(k.Kind)), words.Number(k.Hosts),
			words.Number(k.Count)})
	}
	p.Table("What changed, on how many hosts, in how many rows of the table changes",
		[]string{"severity", "kind", "hosts", "rows"}, 2, rows)
	showAgents(p, r)
	showGroups(p, groups)
	showWords(p, r)
	showUses(p, r)
	showIdentities(p, "Hosts that answer an identity otherwise than before when it asks for robots.txt", r.Identities)
	showIdentities(p, "Hosts on whose page an identity meets something else than before", r.Pages)
	showDocuments(p, r)
	rows = nil
	for _, s := range r.Strata {
		rows = append(rows, counted(visible.Text(s.Stratum), append([]int64{s.Compared, s.Changed},
			severities(s.Severities)...)...))
	}
	p.Table("Hosts by rank, and by most severe change", append([]string{"rank", "in both runs", "changed"},
		change.Severities...), 1, rows)
	rows = nil
	for _, e := range r.Together {
		rows = append(rows, []string{visible.Text(e.Severity), p.Foreign(e.Origin), ToldOfHost(p, &e), words.Number(e.Hosts)})
	}
	if table(p, "Hosts that changed in the same way", []string{"severity", "such as", "change", "hosts"}, 3, rows) {
		more(p, r.Ways-int64(len(rows)), "way", "ways", "--list has their hosts")
	}
	rows = nil
	left := r.Changed + r.New + r.Gone
	for _, e := range r.Examples {
		rows = append(rows, []string{visible.Text(e.Severity), p.Foreign(e.Origin), told(p, r, &e)})
		left -= max(1, e.Hosts)
	}
	p.Table("The most severe changes, one for each host", []string{"severity", "origin", "change"}, 3, rows)
	more(p, left, "host", "hosts", "--list has every change")
	showOpened(p, r)
}

// table shows a table that has rows, and reports whether it does.
func table(p cli.Page, title string, head []string, names int, rows [][]string) bool {
	if len(rows) > 0 {
		p.Table(title, head, names, rows)
	}
	return len(rows) > 0
}

// counted is the row of what has counts.
func counted(name string, counts ...int64) []string {
	row := []string{name}
	for _, n := range counts {
		row = append(row, words.Number(n))
	}
	return row
}

// more says how many rows a table leaves out, and how to get them.
func more(p cli.Page, n int64, one, many, how string) {
	if n > 0 {
		p.Line(fmt.Sprintf("and %s more %s: %s", words.Number(n), words.Agree(n, one, many), how))
	}
}

// showOpened shows hosts that opened a path to an agent, which the most severe changes seldom
// are.
func showOpened(p cli.Page, r *diff.Result) {
	var rows [][]string
	for _, e := range r.Opened {
		rows = append(rows, []string{p.Foreign(e.Origin), ToldOfHost(p, &e)})
	}
	if !table(p, "Hosts that opened a path to an agent, the best ranked first", []string{"origin", "change"}, 2, rows) {
		return
	}
	left := int64(0)
	for _, c := range r.Profiles { // under several, the one under which most opened
		left = max(left, c.Opened-int64(len(rows)))
	}
	more(p, left, "host", "hosts", "--list --kind policy_class --kind rules has them")
}

const shownAgents = 12

// showAgents shows the agents that hosts closed or opened to, with categories.
func showAgents(p cli.Page, r *diff.Result) {
	moved := func(c change.Counts) bool { return c.Closed+c.Opened > 0 }
	agents := slices.DeleteFunc(slices.Clone(r.Agents), func(a diff.Agent) bool { return !moved(a.Counts) })
	if len(agents) == 0 {
		return
	}
	several := len(r.Profiles) > 1
	named := func(name, profile string) string {
		if several {
			return p.Foreign(name) + " (" + p.Foreign(profile) + ")"
		}
		return p.Foreign(name)
	}
	counts := func(name string, c change.Counts) []string {
		return counted(name, c.Closed, c.ShutOut, c.Opened, c.LetIn)
	}
	head := []string{"closed", "shut out", "opened", "let in"}
	var rows [][]string
	for _, c := range r.Profiles {
		if moved(c.Counts) {
			rows = append(rows, counts(named("any agent", c.Profile), c.Counts))
		}
	}
	for _, c := range r.Categories {
		if moved(c.Counts) {
			rows = append(rows, counts(named(c.Category, c.Profile), c.Counts))
		}
	}
	p.Table("Hosts that closed some path to any agent of a category, or shut one out entirely; and that opened",
		append([]string{"category"}, head...), 1, rows)
	rows = nil
	for _, a := range mostMoved(agents) {
		rows = append(rows, append([]string{p.Foreign(a.Category)}, counts(named(a.Agent, a.Profile), a.Counts)...))
	}
	p.Table("Hosts that closed some path to an agent, or shut it out entirely; and that opened",
		append([]string{"category", "agent"}, head...), 2, rows)
	if len(agents) > shownAgents {
		p.Line(fmt.Sprintf("and %s: --format json has all", restOf(shownAgents, agents)))
	}
}

// mostMoved returns the agents that most hosts closed or opened to, as many as are shown, in
// the order that they have.
func mostMoved(agents []diff.Agent) []diff.Agent {
	if len(agents) <= shownAgents {
		return agents
	}
	most := func(a diff.Agent) int64 { return max(a.Closed, a.Opened) }
	ranked := slices.Clone(agents)
	slices.SortStableFunc(ranked, func(a, b diff.Agent) int { return cmp.Compare(most(b), most(a)) })
	ranked = ranked[:shownAgents]
	return slices.DeleteFunc(slices.Clone(agents), func(a diff.Agent) bool {
		return !slices.ContainsFunc(ranked, func(b diff.Agent) bool { return a.Agent == b.Agent && a.Profile == b.Profile })
	})
}

// restOf says how many rows of a list are not shown, and of how many agents they are: under
// several profiles an agent has a row for each.
func restOf(shown int, rows []diff.Agent) string {
	named := make(map[string]bool)
	for _, a := range rows {
		named[a.Agent] = true
	}
	n := int64(len(rows) - shown)
	if len(named) == len(rows) {
		return fmt.Sprintf("%s more %s", words.Number(n), words.Agree(n, "agent", "agents"))
	}
	return fmt.Sprintf("%s more %s, for %s under several profiles", words.Number(n), words.Agree(n, "row", "rows"),
		words.Count(int64(len(named)), "agent"))
}

// showWords tells hosts that closed or opened because their template did from those that
// decided, where there are any of the former.
func showWords(p cli.Page, r *diff.Result) {
	several := len(r.Profiles) > 1
	var rows [][]string
	shown, left := 0, int64(0)
	for _, a := range r.Agents {
		of := slices.DeleteFunc(slices.Clone(r.Words), func(w diff.Words) bool {
			return w.Agent != a.Agent ||
				w.Profile != a.Profile
		})
		if !slices.ContainsFunc(of, func(w diff.Words) bool { return w.Template != nil }) {
			continue
		}
		if shown++; shown > shownAgents {
			left++
			continue
		}
		name := p.Foreign(a.Agent)
		if several {
			name += " (" + p.Foreign(a.Profile) + ")"
		}
		for _, w := range of {
			whose := "their own"
			if w.Template != nil {
				whose = p.Foreign(*w.Template)
			}
			rows = append(rows, append([]string{name}, counted(whose, w.Closed, w.ShutOut, w.Opened, w.LetIn)...))
			name = ""
		}
	}
	if rows == nil {
		return
	}
	title := "Whose words closed to an agent, and opened"
	for _, t := range r.Profiles {
		if moved := t.Closed + t.Opened - t.Both; !several && moved > 0 {
			title += fmt.Sprintf(": of %s that closed or opened, %s did so in the words of a template alone",
				words.Count(moved, "host"), words.Number(t.Template))
		}
	}
	p.Table(title, []string{"agent", "words", "closed", "shut out", "opened", "let in"}, 2, rows)
	more(p, left, "agent", "agents", "--format json has all")
}

// showUses shows what files newly state about use.
func showUses(p cli.Page, r *diff.Result) {
	var rows [][]string
	for _, u := range r.Uses {
		name := visible.Text(words.Use.Of(u.Use))
		if len(r.Profiles) > 1 {
			name += " (" + p.Foreign(u.Profile) + ")"
		}
		rows = append(rows, counted(name, u.Refuses, u.Permits, u.Depends, u.Withdraws, u.Undecided, u.Template))
	}
	table(p, "Hosts whose file states something else to an agent about a use, and how many did so in the words of a "+
		"template alone",
		[]string{"use", "refuse", "permit", "by path", "no more", "undecided", "template"}, 1, rows)
}

// showIdentities shows how hosts answer identities now, and did not before.
func showIdentities(p cli.Page, title string, of []diff.Identity) {
	var rows [][]string
	for _, i := range of {
		rows = append(rows, counted(p.Foreign(i.Identity), i.TurnedAway, i.LetIn, i.Otherwise, i.Undecided))
	}
	table(p, title, []string{"identity", "turned away", "let in", "otherwise", "undecided"}, 1, rows)
}

// showDocuments shows which documents of consent hosts have now and did not before, and what
// these newly state.
func showDocuments(p cli.Page, r *diff.Result) {
	var rows [][]string
	for _, d := range r.Documents {
		rows = append(rows, counted(p.Foreign(d.Document), d.Came, d.Gone, d.Reworded, d.Otherwise))
	}
	table(p, "Hosts with another document of consent than before",
		[]string{"document", "came", "gone", "other text", "otherwise not there"}, 1, rows)
	rows = nil
	for _, s := range r.Stated {
		rows = append(rows, counted(p.Foreign(s.Document)+", "+visible.Text(words.Use.Of(s.Use)), s.Refuses, s.Permits,
			s.Prices, s.Depends, s.Withdraws, s.Undecided))
	}
	table(p, "Hosts whose document states something else about a use",
		[]string{"document and use", "refuse", "permit", "for money", "depends", "no more", "undecided"}, 1, rows)
}
