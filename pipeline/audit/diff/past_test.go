package diff

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A profile of a run is what the run records, not what this program has under that
// name. Under one that has changed, a host changed its policy if its file did, by the
// later definition.
func TestProfilesAreThoseOfTheRuns(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	literal, few := *google, *google
	literal.Wildcards, few.MaxRedirects = false, 1
	const all, today, shut = "User-agent: *\nDisallow: /*\n", "# today\n", "User-agent: *\nDisallow: /\n"
	closed := func(agent string) string {
		return "h.example policy_class critical " + agent + " google - partial disallow_all - -"
	}
	every := []string{closed("RoboTestA search"), closed("RoboTestB ai-training"), closed("RoboTestC other")}
	const differently = "the runs define the profile google differently (profile google: wildcards was " +
		"false and is true): "
	for _, c := range []struct {
		name, tables, before, after string
		profiles                    [2]*robots.Profile
		want                        []string
		note                        string
		state                       expect.State // of a promise that no class changes
	}{
		{"a comment, and the profile since", tablesOfRules, all, today + all, [2]*robots.Profile{&literal, google}, nil,
			differently + "policies and verdicts under it are not compared", expect.Unchecked},
		{"the same with bodies", tablesOfRules + " bodies", all, today + all, [2]*robots.Profile{&literal, google}, nil,
			differently + "under it the bodies", expect.Kept},
		{"a closing, with bodies", tablesOfRules + " bodies", "User-agent: *\nDisallow: /x\n", shut, [2]*robots.Profile{
			&literal, google}, every, differently, expect.Broken},
		{"a closing, without", tablesOfRules, "User-agent: *\nDisallow: /x\n", shut, [2]*robots.Profile{&literal, google},
			nil, differently, expect.Unchecked},
		{"a closing, where only redirects count otherwise", tablesOfRules, "User-agent: *\nDisallow: /x\n", shut,
			[2]*robots.Profile{&few, google}, every, "max_redirects was 1 and is 5): hosts are compared only where",
			expect.Broken},
		{"a change by the profile of both runs", tablesOfRules, "User-agent: *\nDisallow: /x*\n",
			"User-agent: *\nDisallow: /x\n", [2]*robots.Profile{&literal, &literal}, []string{
				"h.example rules major RoboTestA search google /x - closes - 2",
				"h.example rules major RoboTestB ai-training google /x - closes - 2",
				"h.example rules major RoboTestC other google /x - closes - 2", // with wildcards, the two mean the same
			}, "", expect.Kept},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, text := range []string{c.before, c.after} {
				folder := t.TempDir()
				sinktest.Must(t, os.WriteFile(folder+"/h.example", []byte(text), 0o666))
				audittest.StoredRun(t, dir, []string{"a", "b"}[i], folder, c.tables, c.profiles[i])
			}
			r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b",
				Expect: expected(t, "no_change: policy_class")})
			sinktest.Must(t, err)
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, shownChanges(t, dir)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !strings.Contains(strings.Join(r.Notes, "\n"), c.note) || c.note == "" && r.Notes != nil && len(r.Notes) > 0 {
				t.Errorf("notes %q, want %s", r.Notes, c.note)
			}
			if p := r.Expectations[0]; p.State != c.state {
				t.Errorf("the promise is %s: %s", p.State, p.Note)
			}
		})
	}
}

// Where files are compared by the later definition of a profile, a policy that was or is
// unknown under it does not change with its file: an HTML page that redirects has rules
// for one profile, and leaves another one undecided.
func TestAnUnknownPolicyOfARedefinedProfileDoesNotChange(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	dir := t.TempDir()
	const page = "<html><meta http-equiv=\"refresh\" content=\"0;url=/start\"></html>\n"
	for i, rules := range []string{"Disallow: /x\n", "Disallow: /\n"} {
		folder := t.TempDir()
		for host, text := range map[string]string{"html.example": page, "plain.example": ""} {
			sinktest.Must(t, os.WriteFile(folder+"/"+host, []byte(text+"User-agent: *\n"+rules), 0o666))
		}
		mine := *google
		mine.Name, mine.HTMLRedirect, mine.Wildcards = "mine", answer.Undefined, i == 1
		audittest.StoredRun(t, dir, []string{"a", "b"}[i], folder, tablesOfRules+" bodies", google, &mine)
	}
	_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
	sinktest.Must(t, err)
	var want []string
	for _, of := range []string{"html.example google", "plain.example google", "plain.example mine"} {
		host, profile, _ := strings.Cut(of, " ")
		for _, agent := range []string{"RoboTestA search", "RoboTestB ai-training", "RoboTestC other"} {
			want = append(want, host+" policy_class critical "+agent+" "+profile+" - partial disallow_all - -")
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, shownChanges(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An answer that only another number of redirects makes another is not a change, and
// promises about answers are unchecked.
func TestAnswersThatTheDefinitionChanges(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	few := *google
	few.MaxRedirects = 1
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			http.Redirect(w, r, "/1", http.StatusFound)
		case "/1":
			http.Redirect(w, r, "/2", http.StatusFound)
		default:
			fmt.Fprint(w, "User-agent: *\nDisallow: /\n")
		}
	}, "h.example\n")
	for i, run := range []string{"a", "b"} {
		c.Run, c.Evaluate.Profiles = run, []*robots.Profile{[...]*robots.Profile{&few, google}[i]}
		_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	r, err := Runs(t.Context(), Config{In: sinktest.Open(t, c.Dir), Before: "a", After: "b",
		Expect: expected(t, "no_change: outcome", "no_change: reachability", "no_change: signal")})
	sinktest.Must(t, err)
	if diff := cmp.Diff([]string(nil), shownChanges(t, c.Dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// nothing is compared of the host
	for i, want := range []expect.State{expect.Unchecked, expect.Unchecked, expect.Unchecked} {
		if p := r.Expectations[i]; p.State != want {
			t.Errorf("%s is %s, want %s: %s", p.Name, p.State, want, p.Note)
		}
	}
}

// A crawler whose entry of the registry changed has the changes of files by its later
// entry, and no change by the entry alone.
func TestAgentsThatTheRunsDefineDifferently(t *testing.T) {
	google, _ := robots.ProfileNamed("google")
	texts := map[string][2]string{
		"comment.example": {"User-agent: Other\nDisallow: /\n", "# today\nUser-agent: Other\nDisallow: /\n"},
		"shut.example":    {"User-agent: *\nDisallow: /x\n", "User-agent: *\nDisallow: /\n"},
		"part.example":    {"User-agent: *\nDisallow: /x\n", "User-agent: *\nDisallow: /x\nDisallow: /y\n"},
	}
	lists := []string{"- {name: RoboTestA, tokens: [Other]}\n- {name: RoboTestB}\n",
		"- {name: RoboTestA}\n- {name: RoboTestB}\n"}
	dir := eachFolder(t, texts, func(dir, run, folder string, i int) {
		agents, _, err := registry.ParseAgents("agents", []byte(lists[i]))
		sinktest.Must(t, err)
		audittest.StoredRunOf(t, dir, run, folder, tablesOfRules, evaluate.Config{Agents: agents,
			Profiles: []*robots.Profile{google}})
	})
	promises := []string{"no_change: policy_class", "no_change: policy_class, hosts: comment.*",
		"no_change: verdict, hosts: comment.*", "no_change: all, severity: critical, hosts: [comment.*, part.*]",
		"no_change: sitemap"}
	r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b",
		Expect: expected(t, promises...)})
	sinktest.Must(t, err)
	want := []string{
		"comment.example text cosmetic - - - - {D} {D} - -",
		"part.example rules major RoboTestA other google /y - closes - 3",
		"part.example rules major RoboTestB other google /y - closes - 3",
		"shut.example policy_class critical RoboTestA other google - partial disallow_all - -",
		"shut.example policy_class critical RoboTestB other google - partial disallow_all - -",
	}
	if diff := cmp.Diff(want, shownChanges(t, dir)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, want := range []expect.State{expect.Broken, expect.Kept, expect.Unchecked, expect.Kept, expect.Kept} {
		if p := r.Expectations[i]; p.State != want {
			t.Errorf("%s is %s, want %s: %s", promises[i], p.State, want, p.Note)
		}
	}
	note := `the runs define the agent RoboTestA differently (the entry of RoboTestA changed: tokens: ["Other"], now ["RoboTestA"]): their policies are compared by the later definition`
	if !slices.Contains(r.Notes, note) {
		t.Errorf("notes %q, want %q", r.Notes, note)
	}
}

// expected parses expectations, each without its name.
func expected(t *testing.T, texts ...string) *expect.List {
	t.Helper()
	var list strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&list, "- {name: x%d, %s}\n", i, text)
	}
	e, err := expect.Parse("e", []byte(list.String()), func(string) ([]byte, error) { return nil, nil })
	sinktest.Must(t, err)
	return e
}
