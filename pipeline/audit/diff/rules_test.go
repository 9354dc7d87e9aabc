package diff

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// twoFolders makes the runs a and b of texts by host.
func twoFolders(t *testing.T, texts map[string][2]string, tables string, profiles ...*robots.Profile) (dir string) {
	t.Helper()
	return eachFolder(t, texts, func(dir, run, folder string, _ int) {
		audittest.StoredRun(t, dir, run, folder, tables, profiles...)
	})
}

// eachFolder makes the runs a and b, of index 0 and 1, by store, each from a folder of texts.
func eachFolder(t *testing.T, texts map[string][2]string, store func(dir, run, folder string, i int)) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, run := range []string{"a", "b"} {
		folder := t.TempDir()
		for host, text := range texts {
			sinktest.Must(t, os.WriteFile(folder+"/"+host, []byte(text[i]), 0o666))
		}
		store(dir, run, folder, i)
	}
	return dir
}

func shownChanges(t *testing.T, dir string) (got []string) {
	t.Helper()
	rows := changesOf(t, dir, "b", "a")
	for i := range rows {
		got = append(got, showChange(&rows[i]))
	}
	slices.Sort(got)
	return got
}

const tablesOfRules = "fetches groups rules signals preferences sitemaps agents policies verdicts"

// What the tables do not show of a profile is undecided, and no promise hangs on
// it unnoticed.
func TestRulesUndecided(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	rfc, _ := robots.ProfileNamed("rfc9309")
	old, _ := robots.ProfileNamed("google-2012")
	texts := map[string][2]string{
		"same.example":    {"User-agent: *\nDisallow: /x\n", "User-agent: *\nDisallow: /x\n"},
		"comment.example": {"User-agent: *\nDisallow: /x\n", "# today\nUser-agent: *\nDisallow: /x\n"},
		"open.example":    {"User-agent: *\nAllow: /x\n", "# today\nUser-agent: *\nAllow: /x\n"},
	}
	t.Run("a second profile without bodies", func(t *testing.T) {
		dir := twoFolders(t, texts, tablesOfRules, google, rfc)
		for expected, want := range map[string]string{
			"no_change: rules": "unchecked true 0 1", "no_change: rules, profile: google": "kept false 0 0",
			"no_change: rules, agents: RoboTestA":         "unchecked true 0 1",
			"no_change: rules, at_most: 1":                "kept false 0 1",
			"no_change: all, severity: [critical, major]": "kept false 0 0",
			"no_change: rules, hosts: same.*":             "kept false 0 0",
			"no_change: rules, after: closes":             "unchecked true 0 1",
			"no_change: [group, policy_class]":            "kept false 0 0",
		} {
			e, err := expect.Parse("e", []byte("- {name: x, "+expected+"}"), nil)
			sinktest.Must(t, err)
			r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b", Expect: e})
			sinktest.Must(t, err)
			if p := r.Expectations[0]; fmt.Sprintf("%s %v %d %d", p.State, p.Fails, p.Broken, p.Undecided) != want {
				t.Errorf("%s: %+v, want %s", expected, p, want)
			}
			if !slices.Contains(r.Notes,
				"without the table bodies (--keep-bodies) the meaning of rules is undecided under rfc9309") {
				t.Errorf("notes %q", r.Notes)
			}
		}
		if diff := cmp.Diff([]string{
			"comment.example rules minor - - rfc9309 - - undecided - -",
			"comment.example text minor - - - - {D} {D} - -",
			"open.example text minor - - - - {D} {D} - -", // strangers may have groups under rfc9309
		}, shownChanges(t, dir)); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
	t.Run("a first profile that the tables do not hold", func(t *testing.T) {
		dir := twoFolders(t, texts, tablesOfRules, old)
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		if diff := cmp.Diff([]string{
			"comment.example rules minor - - google-2012 - - undecided - -", "comment.example text minor - - - - {D} {D} - -",
			"open.example rules minor - - google-2012 - - undecided - -", "open.example text minor - - - - {D} {D} - -",
		}, shownChanges(t, dir)); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
	t.Run("hostile rules", func(t *testing.T) {
		hostile := "User-agent: *\n" + audittest.HostileRules(60)
		dir := twoFolders(t, map[string][2]string{
			"one.example":   {hostile, strings.Replace(hostile, "/*a*b*c*0\n", "/*b*c*0\n", 1)},
			"two.example":   {hostile, hostile + "Disallow: /robotest\n"},
			"three.example": {hostile, hostile + "Disallow: /*a*b*c*0*0*0\n"},
		}, tablesOfRules, google)
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		got := slices.DeleteFunc(shownChanges(t, dir), func(s string) bool {
			return strings.Contains(s, "RoboTestB") || strings.Contains(s, "RoboTestC")
		})
		if diff := cmp.Diff([]string{
			"one.example rules major RoboTestA search google /bc0 - undecided - 2", // it closes; whether it opens too is open
			"three.example rules minor RoboTestA search google - - undecided - -",  // an implied rule
			"three.example text minor - - - - {D} {D} - -",
			"two.example rules major RoboTestA search google /robotest - closes - 62", // one more disallow rule opens nothing
		}, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

// Each agent is found by its name among those before, however many there are: to compare each
// with all would not end.
func TestManyAgentsOfTwoRuns(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	const many = 200000
	var runs [2]*past.Run
	for side := range runs {
		runs[side] = &past.Run{Registry: new(past.Registry)}
		for i := range many {
			name := fmt.Sprint("a", i)
			if side == 0 {
				name = fmt.Sprint("a", many-i) // in another order, and without a0
			}
			runs[side].Registry.Agents = append(runs[side].Registry.Agents, schema.Agent{Name: name, Tokens: []string{name}})
		}
	}
	d := &differ{Comparison: expect.Comparison{Runs: runs},
		rules: &rulesDiff{judges: []judge{{under: "google", profile: google}}}}
	d.ruleAgents()
	j := d.rules.judges[0]
	if len(j.agents[0]) != many-1 || len(j.agents[1]) != many-1 || j.agents[0][0].Name != "a1" ||
		j.agents[1][0].Name != "a1" {
		t.Errorf("%d and %d agents, want %d", len(j.agents[0]), len(j.agents[1]), many-1)
	}
}
