package evaluate

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// The group for * states something for a token that falls back to it, as the registry says.
func TestTokenThatFallsBackToStar(t *testing.T) {
	agents, _, err := registry.ParseAgents("agents.yaml", []byte("- {name: Trainer, category: search}\n"+
		"- {name: Star-Token, kind: token, uses: [ai-train], falls_back_to: ['*']}\n"))
	if err != nil {
		t.Fatal(err)
	}
	google, _ := robots.ProfileNamed("google")
	var got []string
	for _, c := range countedOf(t, Config{Agents: agents, Profiles: []*robots.Profile{google}},
		"User-agent: *\nDisallow: /\n").Rows() {
		if c.Metric == "refusal" {
			got = append(got, *c.Key)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"any", "token"}) {
		t.Errorf("refusals %v", got)
	}
}

// What a file says about use, how it refuses the training of models, and whose words it has
// are counted once per host; what nobody reads states nothing.
func TestUsesAreCounted(t *testing.T) {
	labels, err := registry.ParseUses("uses.yaml", configs.Uses, nil)
	if err != nil {
		t.Fatal(err)
	}
	templates, err := registry.ParseTemplates("templates.yaml", configs.Templates)
	if err != nil {
		t.Fatal(err)
	}
	agents, _, err := registry.ParseAgents("agents.yaml",
		[]byte("- {name: Trainer, category: ai-training}\n- {name: Finder, category: search}\n"+
			"- {name: Trainer-Token, category: ai-training, kind: token}\n- {name: Finder-Token, category: search, kind: "+
			"token, uses: [search]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	google, _ := robots.ProfileNamed("google")
	rfc, _ := robots.ProfileNamed("rfc9309")
	const star = "User-agent: *\nDisallow: /x\n"
	for _, row := range []struct{ clause, body, want string }{
		{"nothing is said", star, ""},
		{"a crawler", "User-agent: Trainer\nDisallow: /\n", "refusal any; refusal crawler; refusal_set crawler"},
		{"a crawler for something else", "User-agent: Finder\nDisallow: /\n", ""},
		{"a part is no refusal", "User-agent: Trainer\nDisallow: /a\n", ""},
		{"a token", "User-agent: Trainer-Token\nDisallow: /\n",
			"preference token ai-train disallow; refusal any; refusal token; refusal_set token"},
		{"a token for something else", "User-agent: Finder-Token\nDisallow: /\n", "preference token search disallow"},
		{"the group for all states nothing for a token", "User-agent: *\nDisallow: /\n",
			"refusal any; refusal crawler; refusal_set crawler"},
		{"a signal, stated twice", star + "Content-Signal: ai-train=no\nContent-Signal: AI-Train = No, search=yes\n",
			"preference content-signal ai-train disallow; preference content-signal search allow; refusal any; refusal " +
				"content-signal; refusal_set content-signal"},
		{"a signal permits", star + "Content-Signal: ai-train=yes\n", "preference content-signal ai-train allow"},
		{"a preference on a path", star + "Content-Usage: /a train-ai=n\n",
			"preference content-usage ai-train disallow; refusal any; refusal content-usage; refusal_set content-usage"},
		{"orphans state nothing", "Content-Usage: train-ai=n\nContent-Signal: ai-train=no\n" + star,
			"preference_remark orphan"},
		{"a licence before any group", "License: https://l.example/\n" + star, "refusal terms"},
		{"a licence that is no URL", star + "License: none\n", "preference_remark not_url"},
		{"a contradiction", star + "Content-Signal: ai-train=no\nContent-Signal: ai-train=yes\n",
			"preference content-signal ai-train allow; preference content-signal ai-train disallow; preference_remark " +
				"conflict; refusal any; refusal content-signal; refusal_set content-signal"},
		{"a contradiction of groups that name one token", "User-agent: a\nUser-agent: b\nContent-Signal: ai-train=no\n" +
			"Disallow:\nUser-agent: b\nContent-Signal: ai-train=yes\nDisallow:\n",
			"preference content-signal ai-train allow; preference content-signal ai-train disallow; preference_remark " +
				"conflict; refusal any; refusal content-signal; refusal_set content-signal"},
		{"another mechanism does not contradict", star + "Content-Signal: ai-train=no\nContent-Usage: train-ai=y\n",
			"preference content-signal ai-train disallow; preference content-usage ai-train allow; refusal any; refusal " +
				"content-signal; refusal_set content-signal"},
		{"nor does another group", "User-agent: A\nContent-Signal: ai-train=no\nDisallow: /x\n" + star +
			"Content-Signal: ai-train=yes\n",
			"preference content-signal ai-train allow; preference content-signal ai-train disallow; refusal any; refusal " +
				"content-signal; refusal_set content-signal"},
		{"no dictionary", star + "Content-Usage: train-ai=n,\n", "preference_remark not_parsed"},
		{"all ways", "License: https://l.example/\nUser-agent: Trainer\nUser-agent: Trainer-Token\nDisallow: /\n" + star +
			"Content-Usage: train-ai=n\nContent-Signal: ai-train=no\n",
			"preference content-signal ai-train disallow; preference content-usage ai-train disallow; preference token " +
				"ai-train disallow; refusal any; refusal content-signal; refusal content-usage; refusal crawler; refusal token; " +
				"refusal_set crawler+token+content-signal+content-usage"},
		{"a template's words", "# BEGIN Cloudflare Managed content\nUser-agent: Finder\nDisallow: /\nUser-agent: Trainer\n" +
			"Disallow: /a\n# END Cloudflare Managed Content\n",
			"policy_template Finder google cloudflare-managed; policy_template Finder rfc9309 cloudflare-managed; template " +
				"cloudflare-managed"},
		{"comments alone", "# As a condition of accessing this website, you agree to abide by the\n",
			"body only_comments; template cloudflare-signals"},
	} {
		counts := countedOf(t, Config{Agents: agents, Labels: labels, Templates: template.New(templates),
			Profiles: []*robots.Profile{google, rfc}}, row.body)
		var got []string
		for _, c := range counts.List() {
			switch c.Metric {
			case "preference", "preference_remark", "refusal", "refusal_set", "template", "policy_template", "body":
				if c.N != 1 || cmp.Or(c.Profile, "google") != "google" && c.Agent == "" {
					t.Errorf("%s: %+v", row.clause, c)
				}
				text := c.Metric
				if c.Agent != "" {
					text += " " + c.Agent + " " + c.Profile
				}
				got = append(got, text+" "+c.Key)
			}
		}
		if diff := gocmp.Diff(row.want, strings.Join(got, "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.clause, diff)
		}
	}
}

// countedOf returns the counters of hosts with these files; one without a file answers 404.
func countedOf(t *testing.T, c Config, files ...string) *summary.Counts {
	t.Helper()
	run, err := sink.Create(t.TempDir(), journal.Plan{Run: "r", Tables: []string{"fetches", "summary"},
		Profiles: c.ProfileNames()})
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	s, err := run.Segment(0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Abort()
	counts, err := Prepare(c).Evaluator().Segment(s, func(yield func(*target.Target, error) bool) {
		for i, body := range files {
			o := fetch.Origin{Scheme: "https", Host: string(rune('a'+i)) + ".example"}
			capture := &fetch.Capture{Origin: o, Hops: []answer.Hop{{URL: o.String() + "/robots.txt", Status: 404}}, Attempts: 1}
			if body != "" {
				capture.Hops[0].Status, capture.Body = 200, []byte(body)
			}
			if !yield(&target.Target{Capture: capture}, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// What one host says is not counted for the next, and parameters of a label do not change
// what it says.
func TestUsesAreThoseOfTheirHost(t *testing.T) {
	labels, err := registry.ParseUses("uses.yaml", configs.Uses, nil)
	if err != nil {
		t.Fatal(err)
	}
	google, _ := robots.ProfileNamed("google")
	counts := countedOf(t, Config{Agents: []schema.Agent{{Name: "A", Tokens: []string{"a"}}}, Labels: labels,
		Profiles: []*robots.Profile{google}},
		"User-agent: *\nContent-Usage: train-ai=n;x=1, search=N\n", "", "User-agent: *\nDisallow: /x\n")
	got := make(map[string]int64)
	for _, c := range counts.List() {
		if c.Metric == "refusal" || c.Metric == "signal" {
			got[c.Metric+" "+c.Key] = c.N
		}
	}
	want := map[string]int64{"refusal any": 1, "refusal content-usage": 1, "signal content-usage train-ai=n": 1,
		"signal content-usage search=other": 1}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

// Names that no operator sends are counted by file and by line, in any case, and are no
// agents.
func TestDeadNamesAreCounted(t *testing.T) {
	const list = "- {name: GPTBot, category: ai-training}\n- {name: Cohere-AI, kind: named_only}\n" +
		"- {name: xAI-Bot, kind: named_only}\n"
	agents, names, err := registry.ParseAgents("agents.yaml", []byte(list))
	if err != nil || len(agents) != 1 {
		t.Fatal(agents, err)
	}
	google, _ := robots.ProfileNamed("google")
	counts := countedOf(t, Config{Agents: agents, NamedOnly: names, Profiles: []*robots.Profile{google}},
		"User-agent: cohere-ai\nUser-agent: COHERE-AI/1.0\nDisallow: /\nUser-agent: xai-bot\nDisallow: /x\n",
		"User-agent: Cohere-ai\nUser-agent: GPTBot\nDisallow: /\n",
		"User-agent: cohere\nUser-agent: cohere-ai-bot\nUser-agent: "+strings.Repeat("x", 100)+"\nDisallow: /\n")
	got := make(map[string]int64)
	for _, c := range counts.List() {
		if strings.HasPrefix(c.Metric, "dead_name") {
			got[c.Metric+" "+c.Key] += c.N
		}
	}
	want := map[string]int64{"dead_name any": 2, "dead_name Cohere-AI": 2, "dead_name xAI-Bot": 1,
		"dead_name_lines Cohere-AI": 3, "dead_name_lines xAI-Bot": 1}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		"- {name: A, kind: named_only, category: search}\n":               `agents.yaml:1: "A" is of kind named_only, which has only a name, a source and the day when it was checked; remove the other keys`,
		"- {name: A}\n- {name: a, kind: named_only}\n":                    `agents.yaml:2: agent "a" is already in line 1`,
		"- {name: B, kind: named_only}\n- {name: A, tokens: [A, b]}\n":    `agents.yaml:2: agent "A": the token B is of kind named_only in line 1; remove that line`,
		"- {name: B, kind: named_only}\n\n- {name: A, uses: [reading]}\n": `agents.yaml:3: agent "A": no use "reading"`,
		"- {name: a b, kind: named_only}\n":                               "agents.yaml:1: ",
	} {
		if _, _, err := registry.ParseAgents("agents.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(),
			want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// A file with content signals counts by whom they bind at best, whatever the case and number
// of a name; other statements do not count.
func TestReachOfContentSignals(t *testing.T) {
	const signal = "Content-Signal: ai-train=no\n"
	google, _ := robots.ProfileNamed("google")
	c := Config{Agents: []schema.Agent{{Name: "A", Tokens: []string{"a"}}}, Profiles: []*robots.Profile{google}}
	for body, want := range map[string]string{
		signal + "User-agent: *\nDisallow: /\n":                              "nobody",
		"User-agent: a\nUser-agent: A/2\n" + signal + "Disallow: /\n":        "one",
		signal + "User-agent: a\n" + signal + "Disallow: /\n":                "one",
		"User-agent: a\nUser-agent: b\nDisallow: /\n" + signal:               "several",
		"User-agent: a\n" + signal + "User-agent: *\nDisallow: /\n":          "all", // google joins the two lines
		"User-agent: a\n" + signal + "Disallow: /\nUser-agent: *\n" + signal: "all",
		"User-agent: *\nContent-Usage: train-ai=n\n":                         "",
	} {
		got := ""
		for _, count := range countedOf(t, c, body).List() {
			if count.Metric == "signal_reach" {
				got += count.Key
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", body, got, want)
		}
	}
}
