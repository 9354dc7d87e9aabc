package change

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// row makes a row of changes; "" is null.
func row(kind, agent, category, profile, before, after, severity string) *schema.Change {
	text := func(s string) *string { return schema.NonZero(s) }
	return &schema.Change{Kind: kind, Severity: severity, Agent: text(agent), Category: text(category),
		Profile: text(profile), Before: text(before), After: text(after)}
}

// A closing is one of meaning: each change of class, and each change of rules.
func TestWhatAChangeMeans(t *testing.T) {
	class := func(before, after string) *schema.Change {
		return row("policy_class", "A", "x", "p", before, after, "major")
	}
	rules := func(after string) *schema.Change { return row("rules", "A", "x", "p", "", after, "major") }
	for _, c := range []struct {
		row  *schema.Change
		want summary.Move
		ok   bool
	}{
		{class("allow_all", "partial"), summary.Move{Closes: true}, true},
		{class("allow_all", "disallow_all"), summary.Move{Closes: true, ShutOut: true}, true},
		{class("partial", "disallow_all"), summary.Move{Closes: true, ShutOut: true}, true},
		{class("disallow_all", "partial"), summary.Move{Opens: true, LetsIn: true}, true},
		{class("disallow_all", "allow_all"), summary.Move{Opens: true, LetsIn: true}, true},
		{class("partial", "allow_all"), summary.Move{Opens: true}, true},
		{class("unknown", "partial"), summary.Move{}, false},
		{class("partial", "unknown"), summary.Move{}, false},
		{class("", "partial"), summary.Move{}, false},
		{rules("closes"), summary.Move{Closes: true}, true},
		{rules("opens"), summary.Move{Opens: true}, true},
		{rules("both"), summary.Move{Closes: true, Opens: true}, true},
		{rules("undecided"), summary.Move{Undecided: true}, true},
		{row("rules", "a", "", "p", "", "closes", "major"), summary.Move{}, false}, // of no registry
		{row("rules", "", "", "p", "", "undecided", "minor"), summary.Move{}, false},
		{row("verdict", "A", "x", "p", "allow", "disallow", "major"), summary.Move{}, false},
	} {
		if got, ok := summary.MoveOf(c.row); got != c.want || ok != c.ok {
			t.Errorf("%s %s → %s: %+v, %v", c.row.Kind, cell(c.row.Before), cell(c.row.After), got, ok)
		}
	}
}

func cell(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// A host counts once for each agent, category and profile, by what its rows say
// together, and its text does not count for the next host.
func TestHostsAreCounted(t *testing.T) {
	c := NewCounter([]string{"p", "q"})
	for _, host := range [][]*schema.Change{
		{row("rules", "A", "x", "p", "", "closes", "major"), row("rules", "B", "x", "p", "", "opens", "minor")},
		{row("policy_class", "A", "x", "p", "partial", "disallow_all", "critical"), row("policy_class", "C", "y", "p",
			"allow_all", "partial", "major")},
		{row("text", "", "", "", "1", "2", "cosmetic")},
		{row("sitemap", "", "", "", "", "s", "minor")},
		{row("text", "", "", "", "1", "2", "minor")},
		{row("policy_class", "A", "x", "p", "disallow_all", "partial", "major")},
		{row("rules", "B", "x", "p", "", "both", "major"), row("rules", "", "", "q", "", "undecided", "minor")},
		{row("rules", "B", "x", "p", "", "undecided", "minor")},
		{row("rules", "B", "x", "other", "", "closes", "major"), row("rules", "b", "", "p", "", "closes", "major")},
	} {
		for _, r := range host {
			c.Add(r)
		}
		c.EndOfHost()
	}
	if diff := cmp.Diff(map[OfAgent]*Counts{
		{"A", "x", "p"}: {Closed: 2, ShutOut: 1, Opened: 1, LetIn: 1},
		{"B", "x", "p"}: {Closed: 1, Opened: 2, Both: 1, Undecided: 1},
		{"C", "y", "p"}: {Closed: 1},
	}, c.Agents); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[OfCategory]*Counts{
		{"x", "p"}: {Closed: 3, ShutOut: 1, Opened: 3, LetIn: 1, Both: 2, Undecided: 1},
		{"y", "p"}: {Closed: 1},
	}, c.Categories); diff != "" {
		t.Errorf("categories (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]*Totals{
		"p": {Counts: Counts{Closed: 3, ShutOut: 1, Opened: 3, LetIn: 1, Both: 2, Undecided: 2}, Reworded: 1},
		"q": {Counts: Counts{Undecided: 2}, Reworded: 1},
	}, c.Profiles); diff != "" {
		t.Errorf("profiles (-want +got):\n%s", diff)
	}
	sorted := []*Counts{{Closed: 2}, {Closed: 1, ShutOut: 1}, {Closed: 1, Opened: 2}, {Closed: 1, Opened: 1, LetIn: 1},
		{Closed: 1, Opened: 1}}
	for i := range sorted[1:] {
		if a, b := sorted[i], sorted[i+1]; a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 {
			t.Errorf("%+v does not stand before %+v", a, b)
		}
	}
}

// Hosts are counted by whose words their changes are, and by what they state about uses.
func TestWordsAndUsesAreCounted(t *testing.T) {
	c := NewCounter([]string{"p"})
	class := func(agent, is string) *schema.Change {
		r := row("policy_class", agent, "x", "p", "partial", "disallow_all", "critical")
		r.Template = schema.NonZero(is)
		return r
	}
	states := func(agent, use, before, after, is string) *schema.Change {
		r := row("preference", agent, "x", "p", before, after, "major")
		r.Use, r.Template = &use, schema.NonZero(is)
		return r
	}
	for _, host := range [][]*schema.Change{
		{class("A", "t"), class("B", "t"), states("A", "ai-train", "", "disallow", "t"), states("B", "ai-train", "",
			"disallow", "t")},
		{class("A", "t"), class("B", ""), states("A", "ai-train", "allow", "disallow", "t"),
			states("B", "ai-train", "disallow", "", "")},
		{class("A", "u"), class("B", "t"), states("A", "search", "", "partial", ""), states("B", "search", "", "partial",
			"t")},
		{class("A", ""), states("A", "search", "partial", "undecided", "t"), states("B", "search", "", "allow", "t")},
		{row("rules", "A", "x", "p", "", "undecided", "minor")},
		{row("text", "", "", "", "1", "2", "cosmetic")},
	} {
		for _, r := range host {
			c.Add(r)
		}
		c.EndOfHost()
	}
	shut := func(n int64) *Counts { return &Counts{Closed: n, ShutOut: n} }
	a, b := OfAgent{"A", "x", "p"}, OfAgent{"B", "x", "p"}
	if diff := cmp.Diff(map[AgentWords]*Counts{{a, "t"}: shut(2), {a, "u"}: shut(1), {a, ""}: shut(1), {b, "t"}: shut(2),
		{b, ""}: shut(1)}, c.Words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
	if n := c.Profiles["p"].Template; n != 2 {
		t.Errorf("%d hosts closed in the words of templates alone, want 2", n)
	}
	if diff := cmp.Diff(map[OfUse]*UseCounts{
		{"ai-train", "p"}: {Refuses: 2, Withdraws: 1, Template: 1}, {"search", "p"}: {Permits: 1, Depends: 1, Undecided: 1,
			Template: 1},
	}, c.Uses); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
}
