package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/views"
)

// heads returns the heads of values that are shares of both bases.
func (d *data) heads() []string {
	if d.files == d.hosts {
		return nil
	}
	return []string{"of hosts", "with rules"}
}

// shares returns n as a share of hosts and, if the rules of some do not decide, of the
// others.
func (d *data) shares(n int64) []string {
	if d.files == d.hosts {
		return []string{words.Percent(n, d.hosts)}
	}
	return []string{words.Percent(n, d.hosts), words.Percent(n, d.files)}
}

// ofAll returns n as a share of all hosts, in words.
func (d *data) ofAll(n int64) string {
	if d.hosts < words.Few {
		return words.Number(n) + " of " + d.all()
	}
	return words.Percent(n, d.hosts) + " of " + d.all()
}

// ofBoth returns n as shares of all hosts and of those with rules, in words.
func (d *data) ofBoth(n int64) string {
	said := d.ofAll(n)
	if d.files == d.hosts {
		return said
	}
	if d.files < words.Few {
		return fmt.Sprintf("%s (%s of %s)", said, words.Number(n), d.withRules())
	}
	return fmt.Sprintf("%s (%s of %s)", said, words.Percent(n, d.files), d.withRules())
}

// withRules names the hosts with rules, where the sentence has named those of which they are.
func (d *data) withRules() string {
	if d.files == 1 {
		return "the only one with rules"
	}
	return "the " + words.Number(d.files) + " with rules"
}

// agree returns the verb that goes with [data.ofBoth].
func (d *data) agree(n int64, one, many string) string { return words.AgreeOf(n, d.hosts, one, many) }

// bases returns the bases of shares in words.
func (d *data) bases() string {
	if d.files == d.hosts {
		return d.all() + ", all with rules that decide"
	}
	return fmt.Sprintf("%s, and of %s: those whose rules decide", d.all(), d.withRules())
}

// aiTraining shows how many hosts shut out agents for AI training, by rank.
func (d *data) aiTraining() *draw.Figure {
	of := func(l counters.Label) string { return l.Stratum }
	closed, found := make(map[string]map[string]int64), make(map[string]int64)
	for l, n := range d.sums["category"] {
		if l.Profile != d.profile || l.Category != counters.Headline {
			continue
		}
		if closed[l.Stratum] == nil {
			closed[l.Stratum] = make(map[string]int64)
		}
		closed[l.Stratum][l.Key] += n
		found[l.Key] += n
	}
	if len(closed) == 0 || d.known == 0 {
		return nil
	}
	agents := int64(0)
	for _, category := range d.sums.Agents(d.profile) {
		if category == counters.Headline {
			agents++
		}
	}
	perStratum := d.sums.By("targets", d.profile, of)
	kinds := draw.Kinds{{Key: "all", Class: "closed", Name: "shut out all"},
		{Key: "some", Class: "partly", Name: "shut out some"}}
	f := &draw.Figure{
		ID: "ai-training", Of: "Shares of " + d.bases() + ".",
		Note: fmt.Sprintf("A host shuts a crawler out where its file lets it fetch nothing: by name, by the name of a "+
			"crawler that it follows, or by the group for all (*). A host without a file, and one that cannot be reached, "+
			"shuts nobody out here. %s covered.",
			words.Verbed(agents, "agent for AI training is", "agents for AI training are")),
		Legend: kinds.Legend(), Names: words.Rank,
		Head: []string{"stratum", "hosts", "with_rules", "shut_out_all", "shut_out_some", "shut_out_none", "unknown"},
	}
	all, some := found["all"], found["some"]
	switch {
	case all+some == 0:
		f.Title = "None of the " + d.all() + " shuts out an agent for AI training"
		if only, is := strings.CutPrefix(d.all(), "1 "); is {
			f.Title = "The only " + only + " shuts out no agent for AI training"
		}
	case some == 0:
		f.Title = fmt.Sprintf("%s %s every agent for AI training", d.ofBoth(all), d.agree(all, "shuts out", "shut out"))
	case all == 0:
		f.Title = fmt.Sprintf("%s %s some agents for AI training, none all of them", d.ofBoth(some),
			d.agree(some, "shuts out", "shut out"))
	default:
		f.Title = fmt.Sprintf("%s %s agents for AI training: %s all of them, %s some", d.ofBoth(all+some),
			d.agree(all+some, "shuts out", "shut out"), words.ShareOf(all, d.hosts, "hosts"), words.Percent(some, d.hosts))
	}
	type line struct {
		name         string
		hosts, files int64
		by           map[string]int64
	}
	lines := []line{{"all hosts", d.hosts, d.files, found}}
	for _, stratum := range counters.Ascending(closed) {
		n := closed[stratum]
		l := line{words.Rank(stratum), perStratum[stratum], d.sums.DecidedIn(d.profile, stratum).Rules(), n}
		f.AddRow([]string{stratum}, l.hosts, l.files, n["all"], n["some"], n["none"], n["unknown"])
		lines = append(lines, l)
	}
	if len(lines) == 2 {
		lines = lines[:1] // the only stratum is all hosts
	}
	for _, l := range lines {
		n, shares := l.by["all"]+l.by["some"], kinds.Shares(l.by)
		tracks := []draw.Track{{Label: "hosts", Whole: l.hosts, Shares: shares,
			Values: []string{words.ShareOf(n, l.hosts, "hosts")}}}
		if d.files != d.hosts {
			tracks = append(tracks, draw.Track{Label: "with rules", Whole: l.files, Shares: shares,
				Values: []string{withRules(n, l.files)}})
		}
		f.AddBar(l.name, words.Hosts(l.hosts), tracks...)
	}
	f.Fit("hosts")
	f.Axis = strings.TrimSuffix(f.Axis, " of hosts") // of either base
	f.SQL = "SELECT stratum,\n  " + strings.Join([]string{
		counters.SumIf("metric = 'targets'", "hosts"), counters.WithRules("") + "::BIGINT AS with_rules",
		counters.SumIf(ofCategory("all"), "shut_out_all"), counters.SumIf(ofCategory("some"), "shut_out_some"),
		counters.SumIf(ofCategory("none"), "shut_out_none"), counters.SumIf(ofCategory("unknown"), "unknown"),
	}, ",\n  ") + "\n" + d.from("targets outcome challenge challenge_outcome category", false) +
		" AND (profile IS NULL OR profile = " + views.Quote(d.profile) +
		")\nGROUP BY stratum ORDER BY " + counters.StratumOrder
	return f
}

// withRules returns n as a share of the hosts with rules of a band of rank, beside a bar.
func withRules(n, of int64) string {
	if of < words.Few {
		return words.Percent(n, of)
	}
	return words.Percent(n, of) + " of " + words.Number(of)
}

func ofCategory(key string) string {
	return "category = " + views.Quote(counters.Headline) + " AND key = " + views.Quote(key)
}

// leadingAgents is the number of agents for which a figure names hosts.
const leadingAgents = 10

const categoryOf = "any_value(category) AS category"

// namesOf returns the names of the agents of which is holds.
func namesOf(all []counters.Fate, is func(counters.Fate) bool) (names []string) {
	for _, a := range all {
		if is(a) {
			names = append(names, a.Agent)
		}
	}
	return names
}

// agents shows which agents are shut out most, and by which group.
func (d *data) agents() *draw.Figure {
	all := d.sums.Fates(d.profile)
	if len(all) == 0 || d.known == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b counters.Fate) int {
		return cmp.Or(cmp.Compare(b.Closed, a.Closed), cmp.Compare(b.Names, a.Names))
	})
	kinds := draw.Kinds{{Key: "by_name", Class: "closed", Name: "shut out by name"},
		{Key: "by_fallback", Class: "broken", Name: "by another crawler's name"},
		{Key: "by_star", Class: "star", Name: "by the group for all (*)"}}
	f := &draw.Figure{
		ID: "agents", Of: "Shares of " + d.bases() + ".", Title: "No host shuts out any of the agents",
		Note: "By name: a group for one of the agent's own names lets it fetch nothing. By another crawler's name: so " +
			"does the group of a crawler that the agent follows where none names it.",
		Legend: kinds.Legend(), Heads: d.heads(), Head: append([]string{"agent", "category", "shut_out"}, kinds.Keys()...),
	}
	if top := all[0]; top.Closed > 0 {
		f.Title = fmt.Sprintf("%s is shut out most often of %s, by %s", top.Agent, words.Count(int64(len(all)), "agent"),
			d.ofBoth(top.Closed))
		if most := namesOf(all, func(a counters.Fate) bool { return a.Closed == top.Closed }); len(most) > 1 {
			f.Title = fmt.Sprintf("%s are shut out most often of %s, each by %s", words.Tied(most, "agents"),
				words.Count(int64(len(all)), "agent"), d.ofBoth(top.Closed))
		}
	}
	for _, a := range all {
		counts := map[string]int64{"by_name": a.ByName, "by_fallback": a.ByFallback,
			"by_star": a.Closed - a.ByName - a.ByFallback}
		f.AddRow([]string{a.Agent, a.Category, counters.Digits(a.Closed)}, kinds.Numbers(counts)...)
		if a.Closed > 0 {
			f.AddBar(a.Agent, words.Category.Of(a.Category), draw.Track{Whole: d.hosts, Shares: kinds.Shares(counts),
				Values: d.shares(a.Closed)})
		}
	}
	f.Fit("hosts")
	f.Shorten()
	rest(f, all, func(a counters.Fate) int64 { return a.Closed })
	var leaders []string
	for _, a := range all[:min(len(all), leadingAgents)] {
		leaders = append(leaders, a.Agent)
	}
	if f.Examples = d.examples.List("Hosts that shut them out", "how", "policy", nil, leaders...); f.Examples != nil {
		left := -int64(len(f.Examples.Rows))
		for _, a := range all[:min(len(all), leadingAgents)] {
			left += a.Closed
		}
		if left > 0 {
			f.Examples.Rest = fmt.Sprintf(
				"and %s more: robocensus export --out DIR %s policies --format csv --agent NAME --where class=disallow_all",
				words.Number(left), d.run)
		}
		for i := range f.Examples.Rows {
			f.Examples.Rows[i].Text = words.Match.Of(f.Examples.Rows[i].Text)
		}
	}
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  %s,\n  %s,\n  %s,\n  shut_out - by_name - by_fallback AS by_star\n%s\n"+
		"GROUP BY agent ORDER BY shut_out DESC, coalesce(sum(count) FILTER (metric = 'policy_explicit'), 0) DESC, agent",
		categoryOf,
		counters.SumIf("metric = 'policy' AND key = 'disallow_all'", "shut_out"),
		counters.SumIf("metric = 'policy_explicit' AND key = 'disallow_all'", "by_name"),
		counters.SumIf("metric = 'policy_fallback' AND key = 'disallow_all'", "by_fallback"),
		d.from("policy policy_explicit policy_fallback", true))
	return f
}

// named shows which agents files name, and the class of their groups.
func (d *data) named() *draw.Figure {
	all := d.sums.Fates(d.profile)
	slices.SortStableFunc(all, func(a, b counters.Fate) int { return cmp.Compare(b.Names, a.Names) })
	if len(all) == 0 || all[0].Names == 0 {
		return nil
	}
	var kinds draw.Kinds
	for _, k := range []struct{ key, class string }{{"disallow_all", "closed"}, {"partial", "partly"},
		{"allow_all", "allow"}} {
		kinds = append(kinds, draw.Kind{Key: k.key, Class: k.class, Name: words.Class.Of(k.key)})
	}
	f := &draw.Figure{
		ID: "named", Of: "Shares of " + d.bases() + ".",
		Note: "A file names an agent where it has a group for one of the agent's own names. The colour shows what the " +
			"group says.",
		Legend: kinds.Legend(), Heads: d.heads(), Head: []string{"agent", "category", "named", "shut_out", "partly_closed",
			"open"},
	}
	top := all[0]
	f.Title = fmt.Sprintf("%s is named most often: by %s, of which %s shut it out", top.Agent, d.ofBoth(top.Names),
		words.Number(top.Named["disallow_all"]))
	if most := namesOf(all, func(a counters.Fate) bool { return a.Names == top.Names }); len(most) > 1 {
		f.Title = fmt.Sprintf("%s are named most often of %s, each by %s", words.Tied(most, "agents"),
			words.Count(int64(len(all)), "agent"), d.ofBoth(top.Names))
	}
	rest(f, all, func(a counters.Fate) int64 { return a.Names })
	for _, a := range all {
		f.AddRow([]string{a.Agent, a.Category, counters.Digits(a.Names)}, kinds.Numbers(a.Named)...)
		if a.Names > 0 {
			f.AddBar(a.Agent, words.Category.Of(a.Category), draw.Track{Whole: d.hosts, Shares: kinds.Shares(a.Named),
				Values: d.shares(a.Names)})
		}
	}
	f.Fit("hosts")
	f.Shorten()
	f.SQL = fmt.Sprintf("SELECT agent, %s,\n  %s,\n  %s,\n  %s,\n  %s\n%s\nGROUP BY agent ORDER BY named DESC, agent",
		categoryOf,
		counters.SumIf("metric = 'policy_explicit'", "named"),
		counters.SumIf("metric = 'policy_explicit' AND key = 'disallow_all'", "shut_out"),
		counters.SumIf("metric = 'policy_explicit' AND key = 'partial'", "partly_closed"),
		counters.SumIf("metric = 'policy_explicit' AND key = 'allow_all'", "open"),
		d.from("policy policy_explicit", true))
	return f
}

// categories shows how many hosts shut out all or some agents of each category.
func (d *data) categories() *draw.Figure {
	by := d.sums.Pivot("category", d.profile, func(l counters.Label) string { return l.Category })
	closed := make(map[string]int64)
	for category, n := range by {
		closed[category] = n["all"] + n["some"]
	}
	names := counters.Ranked(closed)
	if len(names) < 2 || closed[names[0]] == 0 {
		return nil
	}
	kinds := draw.Kinds{{Key: "all", Class: "closed", Name: "shut out all agents of the category"},
		{Key: "some", Class: "partly", Name: "shut out some"}}
	f := &draw.Figure{
		ID: "categories", Note: d.freeNote(names), Of: "Shares of " + d.bases() + ".", Legend: kinds.Legend(),
		Heads: d.heads(), Names: words.Category.Of,
		Head: []string{"category", "shut_out_all", "shut_out_some", "shut_out_none", "unknown"},
	}
	top := by[names[0]]
	f.Title = fmt.Sprintf("The category of agents that is shut out most is %s: %s %s at least one of its agents, and "+
		"%s all of them",
		words.Category.Of(names[0]), d.ofBoth(closed[names[0]]), d.agree(closed[names[0]], "shuts out", "shut out"),
		words.ShareOf(top["all"], d.hosts, "hosts"))
	if closed[names[1]] == closed[names[0]] {
		tied := 0
		for _, n := range closed {
			if n == closed[names[0]] {
				tied++
			}
		}
		f.Title = fmt.Sprintf("%s categories of agents are shut out most, by equally many: %s %s at least one agent of each",
			words.Number(int64(tied)), d.ofBoth(closed[names[0]]), d.agree(closed[names[0]], "shuts out", "shut out"))
	}
	for _, name := range names {
		n := by[name]
		f.AddRow([]string{name}, n["all"], n["some"], n["none"], n["unknown"])
		f.AddBar(words.Category.Of(name), "", draw.Track{Whole: d.hosts, Shares: kinds.Shares(n),
			Values: d.shares(closed[name])})
	}
	f.Fit("hosts")
	f.Shorten()
	f.SQL = "SELECT category,\n  " + strings.Join([]string{counters.SumIf("key = 'all'", "shut_out_all"),
		counters.SumIf("key = 'some'", "shut_out_some"), counters.SumIf("key = 'none'", "shut_out_none"),
		counters.SumIf("key = 'unknown'", "unknown")}, ",\n  ") +
		"\n" + d.from("category", true) + "\nGROUP BY category ORDER BY shut_out_all + shut_out_some DESC, category"
	return f
}

// freeNote says of which categories the group for all (*) cannot shut out all agents.
func (d *data) freeNote(categories []string) string {
	var of, agents []string
	for _, c := range categories {
		if len(d.free[c]) > 0 {
			of, agents = append(of, words.Category.Of(c)), append(agents, d.free[c]...)
		}
	}
	if agents == nil {
		return ""
	}
	slices.Sort(agents)
	return fmt.Sprintf("The group for all (*) does not bind %s: of %s it shuts out some agents and never all.",
		past.Some(agents, mostFree), words.And(of))
}

// mostFree is how many agents that ignore the group for all are named.
const mostFree = 3

// rest says in the note how many agents have no bar, and which of them tie with the last
// one that has.
func rest(f *draw.Figure, all []counters.Fate, by func(counters.Fate) int64) {
	var counts []int64
	for _, a := range all {
		if n := by(a); n > 0 {
			counts = append(counts, n)
		}
	}
	if text := words.More(counts, min(len(counts), draw.MostBars), "host"); text != "" {
		f.Note, f.Cut = strings.TrimSpace("Not drawn: "+strings.TrimPrefix(text, "and ")+
			"; the numbers below have them. "+f.Note), 0
	}
}
