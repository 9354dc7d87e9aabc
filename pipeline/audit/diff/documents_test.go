package diff

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/sink/schema"
)

// changedRows compares runs a and b in dir, and returns the rows of some kinds.
func changedRows(t *testing.T, dir, promises string, kinds ...string) (rows []string, r *Result) {
	t.Helper()
	all, r := allChanges(t, dir, promises)
	for _, row := range all {
		if slices.Contains(kinds, row.Kind) {
			said := []string{row.Host, row.Severity, row.Kind}
			for _, s := range []*string{row.Identity, row.Document, row.Use, row.Before, row.After} {
				if s != nil {
					said = append(said, *s)
				} else {
					said = append(said, "-")
				}
			}
			rows = append(rows, strings.ReplaceAll(strings.Join(said, " "), " - -", ""))
		}
	}
	slices.Sort(rows)
	return rows, r
}

// Whether a host has a document changes where both runs know it, and what it states where both
// could read it.
func TestDocumentsChange(t *testing.T) {
	var before, after []answeredHost
	var want []string
	for i, row := range []struct {
		clause        string
		before, after answeredHost
		want          []string
	}{
		{"as before", answeredHost{documents: []string{"tdmrep present A"}, stated: []string{"tdmrep ai-train disallow / *"}},
			answeredHost{documents: []string{"tdmrep present A"}, stated: []string{"tdmrep ai-train disallow / *"}}, nil},
		{"came", answeredHost{documents: []string{"llms.txt absent -"}},
			answeredHost{documents: []string{"llms.txt present A"}},
			[]string{"minor document - llms.txt - absent present"}},
		{"gone, for the page for everything", answeredHost{documents: []string{"llms.txt present A"}},
			answeredHost{documents: []string{"llms.txt soft_404 -"}},
			[]string{"minor document - llms.txt - present absent"}},
		{"there is none in either way", answeredHost{documents: []string{"llms.txt absent -"}},
			answeredHost{documents: []string{"llms.txt soft_404 -"}}, nil},
		{"another text", answeredHost{documents: []string{"llms.txt present A"}},
			answeredHost{documents: []string{"llms.txt present B"}},
			[]string{"cosmetic document - llms.txt - present other_text"}},
		{"the front page is another each time", answeredHost{documents: []string{"page present A"}},
			answeredHost{documents: []string{"page present B"}}, nil},
		{"an outage", answeredHost{documents: []string{"tdmrep present A"}, stated: []string{"tdmrep ai-train disallow / *"}},
			answeredHost{documents: []string{"tdmrep unreachable -"}}, nil},
		{"not asked for", answeredHost{documents: []string{"tdmrep not_asked -"}},
			answeredHost{documents: []string{"tdmrep present A"}}, nil},
		{"asked for in one run alone", answeredHost{}, answeredHost{documents: []string{"tdmrep present A"},
			stated: []string{"tdmrep ai-train disallow / *"}}, nil},
		{"it came, and refuses", answeredHost{documents: []string{"tdmrep absent -"}},
			answeredHost{documents: []string{"tdmrep present A"}, stated: []string{"tdmrep ai-train disallow /* *"}},
			[]string{"minor document - tdmrep - absent present", "major preference - tdmrep ai-train - disallow"}},
		{"it went", answeredHost{documents: []string{"tdmrep present A"}, stated: []string{"tdmrep ai-train disallow - *"}},
			answeredHost{documents: []string{"tdmrep invalid -"}},
			[]string{"minor document - tdmrep - present invalid", "major preference - tdmrep ai-train disallow -"}},
		{"refused to us, it may state anything", answeredHost{documents: []string{"tdmrep present A"},
			stated: []string{"tdmrep ai-train disallow - *"}},
			answeredHost{documents: []string{"tdmrep refused -"}}, []string{"minor document - tdmrep - present refused"}},
		{"for money", answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl ai-train allow / *"}},
			answeredHost{documents: []string{"rsl present B"}, stated: []string{"rsl ai-train priced / *"}},
			[]string{"cosmetic document - rsl - present other_text", "major preference - rsl ai-train allow priced"}},
		{"of a part", answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl search allow / *"}},
			answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl search allow / *",
				"rsl search disallow /a *"}},
			[]string{"major preference - rsl search allow partial"}},
		{"of another part", answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl search disallow /b *"}},
			answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl search disallow /a *"}},
			[]string{"minor preference - rsl search partial undecided"}},
		{"to one agent", answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl search disallow / *"}},
			answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl search disallow / bot"}},
			[]string{"major preference - rsl search disallow partial"}},
		{"one agent more changes nothing", answeredHost{documents: []string{"rsl present A"},
			stated: []string{"rsl search disallow / *"}},
			answeredHost{documents: []string{"rsl present A"}, stated: []string{"rsl search disallow / bot",
				"rsl search disallow / *"}}, nil},
		{"the page says it in HTML, then in a header", answeredHost{documents: []string{"page present A"},
			stated: []string{"page ai-train disallow / *"}},
			answeredHost{documents: []string{"page present B"}, stated: []string{"header ai-train disallow / *"}}, nil},
		{"the page no longer says it", answeredHost{documents: []string{"page present A"},
			stated: []string{"page ai-train disallow / *"}},
			answeredHost{documents: []string{"page present B"}}, []string{"major preference - page ai-train disallow -"}},
		{"two licences, of which an outage hides one", answeredHost{documents: []string{"rsl present A", "rsl present B"}},
			answeredHost{documents: []string{"rsl present A", "rsl unreachable -"}}, nil},
		{"one licence of two", answeredHost{documents: []string{"rsl present A", "rsl present B"}},
			answeredHost{documents: []string{"rsl present A", "rsl absent -"}},
			[]string{"cosmetic document - rsl - present other_text"}},
		{"of licences too many nobody knows, in either run",
			answeredHost{documents: []string{"rsl present A", "rsl not_asked - beyond", "rsl not_asked - beyond,more"}},
			answeredHost{documents: []string{"rsl absent -", "rsl not_asked - beyond"}},
			[]string{"minor document - rsl - present absent"}},
	} {
		host := fmt.Sprintf("https://h%d.example", i)
		row.before.Fetch, row.after.Fetch = audittest.Fetch(host, "success", "A", 0), audittest.Fetch(host, "success", "A", 7)
		before, after = append(before, row.before), append(after, row.after)
		for _, w := range row.want {
			want = append(want, fmt.Sprintf("h%d.example %s", i, strings.ReplaceAll(w, " - -", "")))
		}
		t.Logf("h%d: %s", i, row.clause)
	}
	dir := t.TempDir()
	writeAnswered(t, dir, "a", 0, before)
	writeAnswered(t, dir, "b", 7, after)
	rows, r := changedRows(t, dir, "- {name: any, no_change: document}\n- {name: none refuses, no_change: preference, "+
		"use: ai-train, after: disallow}\n- {name: of an agent, no_change: preference, agents: GPTBot}\n"+
		"- {name: all, no_change: all, at_most: 40}\n- {name: not known, no_change: document, hosts: [h6.example, "+
		"h7.example]}\n- {name: not asked, no_change: document, hosts: h8.example}\n",
		"document", "preference")
	slices.Sort(want)
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var promised []string
	for _, p := range r.Expectations {
		promised = append(promised, fmt.Sprint(p.Name, ": ", p.State, " ", p.Broken))
	}
	if diff := cmp.Diff([]string{"any: broken 9", "none refuses: broken 1", "of an agent: kept 0", "all: kept 15",
		"not known: unchecked 0", "not asked: unchecked 0"}, promised); diff != "" {
		t.Errorf("promises: -want +got\n%s", diff)
	}
	var counted []string
	for _, d := range r.Documents {
		counted = append(counted, fmt.Sprint(d.Document, " ", d.Came, " ", d.Gone, " ", d.Reworded, " ", d.Otherwise))
	}
	for _, s := range r.Stated {
		counted = append(counted, fmt.Sprint(s.Document, " ", s.Use, " ", s.Refuses, " ", s.Permits, " ", s.Prices, " ",
			s.Depends, " ", s.Withdraws, " ", s.Undecided))
	}
	if diff := cmp.Diff([]string{"llms.txt 1 1 1 0", "rsl 0 1 2 0", "tdmrep 1 2 0 0", "page ai-train 0 0 0 0 1 0",
		"rsl ai-train 0 0 1 0 0 0", "rsl search 0 0 0 2 0 1",
		"tdmrep ai-train 1 0 0 0 1 0"}, counted); diff != "" {
		t.Errorf("counts: -want +got\n%s", diff)
	}
	if r.Changed != int64(len(hostsOf(rows))) {
		t.Errorf("%d hosts changed, want %d", r.Changed, len(hostsOf(rows)))
	}
}

func hostsOf(rows []string) map[string]bool {
	out := make(map[string]bool)
	for _, row := range rows {
		host, _, _ := strings.Cut(row, " ")
		out[host] = true
	}
	return out
}

// What an identity meets on a page changes where both runs show it: the control was served each
// time, and the identity was asked.
func TestPagesChange(t *testing.T) {
	const served = "/ !control served"
	bot := func(met string) string { return "/ bot/GPTBot " + met }
	var before, after [][]string
	var want []string
	for i, row := range []struct {
		clause        string
		before, after []string
		want          string
	}{
		{"served as before", []string{served, bot("served")}, []string{served, bot("served")}, ""},
		{"turned away", []string{served, bot("served")}, []string{served, bot("refused")}, "major page bot served refused"},
		{"redirected away", []string{served, bot("served_other")}, []string{served, bot("redirected_away")},
			"major page bot served_other redirected_away"},
		{"let in", []string{served, bot("payment")}, []string{served, bot("served")}, "major page bot payment served"},
		{"turned away in another way", []string{served, bot("refused")}, []string{served, bot("challenge")},
			"minor page bot refused challenge"},
		{"another page", []string{served, bot("served")}, []string{served, bot("served_other")},
			"minor page bot served served_other"},
		{"an error may be an outage", []string{served, bot("served")}, []string{served, bot("server_error")},
			"minor page bot served server_error"},
		{"not asked", []string{served, bot("served")}, []string{served, bot("not_asked")}, ""},
		{"the control was not served", []string{served, bot("served")}, []string{"/ !control refused", bot("refused")}, ""},
		{"the control was served once", []string{served, bot("served")}, []string{served + " once", bot("refused")}, ""},
		{"without a control", []string{bot("served")}, []string{bot("refused")}, "major page bot served refused"},
		{"another page was asked for", []string{served, bot("served")}, []string{"/x !control served",
			"/x bot/GPTBot refused"}, ""},
		{"for another agent", []string{served, bot("served")}, []string{served, "/ bot/Googlebot refused"}, ""},
		{"the answers for robots.txt are no matter", []string{"!control refused - -", served, bot("served")},
			[]string{"!control refused - -", served, bot("refused")}, "major page bot served refused"},
	} {
		before, after = append(before, append([]string{aFile}, row.before...)),
			append(after, append([]string{aFile}, row.after...))
		if i < 2 {
			before[i], after[i] = append(before[i], control, alike), append(after[i], control, alike)
		}
		if row.want != "" {
			want = append(want, fmt.Sprintf("h%d.example %s", i, row.want))
		}
		t.Logf("h%d: %s", i, row.clause)
	}
	dir := t.TempDir()
	answeredRun(t, dir, "a", 0, before...)
	answeredRun(t, dir, "b", 7, after...)
	rows, r := changedRows(t, dir, "- {name: page, no_change: page, hosts: [h0.example, h1.example]}\n"+
		"- {name: unknown, no_change: page, hosts: h7.example}\n- {name: robots, no_change: answer, hosts: h2.example}\n",
		"page", "answer")
	for i := range rows {
		rows[i] = strings.ReplaceAll(rows[i], " - ", " ")
	}
	slices.Sort(want)
	slices.Sort(rows)
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var promised []string
	for _, p := range r.Expectations {
		promised = append(promised, fmt.Sprint(p.Name, ": ", p.State, " ", p.Broken))
	}
	if diff := cmp.Diff([]string{"page: broken 1", "unknown: unchecked 0", "robots: unchecked 0"}, promised); diff != "" {
		t.Errorf("promises: -want +got\n%s", diff)
	}
	if got := fmt.Sprint(r.Pages); got != "[{bot {4 1 2 1}}]" || len(r.Identities) > 0 {
		t.Errorf("by identity: %s, %v", got, r.Identities)
	}
	if s := schema.OrZero(r.Examples[0].Identity); s != "bot" || r.Examples[0].Kind != "page" {
		t.Errorf("%+v", r.Examples[0])
	}
}
