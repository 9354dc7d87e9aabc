package changes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/schema"
)

// Of the hosts that closed to an agent the best-ranked are named, each once, with what
// tells most.
func TestWhoClosed(t *testing.T) {
	c := newChanges("google", "")
	c.run, c.against = "b", "a"
	add := func(host string, rank int64, agent, kind, before, after string) {
		row := &schema.Change{
			Host: host, Origin: "https://" + host, Kind: kind, Severity: "major", Agent: &agent,
			Category: new(counters.Headline), Profile: new("google"),
			Before: schema.NonZero(before), After: &after, LineAfter: new(int32(rank)),
		}
		if rank > 0 {
			row.Rank = &rank
		}
		c.add(row)
	}
	for _, rank := range []int64{50, 60, 70, 80, 0, 90, 0, 20} {
		add("h"+counters.Digits(rank), rank, "GPTBot", "rules", "", "closes")
	}
	add("h20", 20, "GPTBot", "policy_class", "partial", "disallow_all")
	add("opener", 1, "GPTBot", "policy_class", "disallow_all", "partial")
	add("h5", 5, "GPTBot", "rules", "", "both")
	add("h20", 20, "CCBot", "policy_class", "allow_all", "partial")
	c.endOfHost()
	l := c.moverList([]closedTo{{"GPTBot", change.Counts{Closed: 9, Opened: 2}}, {"CCBot", change.Counts{Closed: 1}},
		{"None", change.Counts{}}})
	var got []string
	for _, r := range l.Rows {
		got = append(got, strings.Join([]string{r.Key, r.Rank, r.Host, r.Line, r.Text}, " | "))
	}
	want := []string{
		"GPTBot | 5 | h5 | 5 | closes a part, opens another", " | 20 | h20 | 20 | partly closed → shut out",
		" | 50 | h50 | 50 | closes a part",
		" | 60 | h60 | 60 | closes a part", " | 70 | h70 | 70 | closes a part", " | 80 | h80 | 80 | closes a part",
		"CCBot | 20 | h20 | 20 | open → partly closed",
		"GPTBot, opened | 1 | opener | 1 | shut out → partly closed", " | 5 | h5 | 5 | closes a part, opens another",
	}
	if diff := cmp.Diff(want, got); diff != "" || l.Rows[0].Span != 6 {
		t.Errorf("the first of %d (-want +got):\n%s", l.Rows[0].Span, diff)
	}
	if want := "and 3 more: robocensus diff --out DIR a b --list --agent NAME"; l.Rest != want {
		t.Errorf("the rest: %q, want %q", l.Rest, want)
	}
}

// Examples of changes show hosts by most severe change, best ranked first,
// whatever their order in the table.
func TestExamplesOfChangesByRank(t *testing.T) {
	c := newChanges("google", "")
	for i, rank := range []int64{90, 0, 7, 800, 20, 3, 1000, 7, 4, 0} {
		c.add(&schema.Change{Severity: "minor", Kind: "text", Host: fmt.Sprint("h", i), Origin: fmt.Sprint("http://h", i),
			Rank: schema.NonZero(rank)})
	}
	c.endOfHost()
	var got []string
	for _, x := range c.examples["minor"] {
		got = append(got, x.Host)
	}
	if want := "h5 h8 h2 h7 h4 h0"; strings.Join(got, " ") != want {
		t.Errorf("examples are %v, want %s", got, want)
	}
}

// A report counts the changes under its own profile, and those under none.
func TestChangesOfAnotherProfileAreNotCounted(t *testing.T) {
	c := newChanges("google", "")
	for k, profile := range []*string{new("google"), new("rfc9309"), nil} {
		host := fmt.Sprint("h", k)
		c.add(&schema.Change{Host: host, Origin: "http://" + host, Kind: "rules", Severity: "major", Profile: profile,
			After: new("closes")})
	}
	c.endOfHost()
	if c.rows != 2 || c.changed != 2 || c.kinds["rules"].hosts != 2 {
		t.Errorf("%d rows of %d hosts are counted, %d of the kind; want 2", c.rows, c.changed, c.kinds["rules"].hosts)
	}
}

// A host whose policy closes, opens, does both, or is undecided, does not mean the same as
// before; one that could not be read is not compared.
func TestHostsThatMeanTheSame(t *testing.T) {
	c := newChanges("google", "")
	for i, after := range []string{"closes", "opens", "both", "undecided"} {
		host := fmt.Sprint("h", i)
		c.add(&schema.Change{Host: host, Origin: "http://" + host, Kind: "rules", Severity: "major", Agent: new("A"),
			Category: new("seo"), Profile: new("google"), After: &after})
	}
	c.add(&schema.Change{Host: "s", Origin: "http://s", Kind: "sitemap", Severity: "minor", After: new("/s.xml")})
	c.endOfHost()
	c.compared, c.unread = 9, 2
	if hosts, same := c.Compared(); hosts != 7 || same != 3 {
		t.Errorf("%d of %d hosts mean the same, want 3 of 7", same, hosts)
	}
}
