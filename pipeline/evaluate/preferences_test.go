package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// Every label of every line about use is a row, with what it means for whom.
func TestPreferenceRows(t *testing.T) {
	labels, err := registry.ParseUses("uses.yaml", configs.Uses, nil)
	if err != nil {
		t.Fatal(err)
	}
	agents, _, err := registry.ParseAgents("agents.yaml",
		[]byte("- {name: Bot, policy_tokens: [X-Extended]}\n- {name: X-Extended, kind: token, uses: [ai-train, ai-input]}"))
	if err != nil {
		t.Fatal(err)
	}
	google, _ := robots.ProfileNamed("google")
	e := Prepare(Config{Agents: agents, Labels: labels, Profiles: []*robots.Profile{google}}).Evaluator()
	body := "License: https://l.example/all\nContent-Signal: search=no\n" +
		"User-agent: Bot/1.0\nUser-agent: *\nDisallow: /x\nContent-Signal: AI-Train=No, use=Reference, other=yes\n" +
		"Content-Usage: /a train-ai=y, tdm=n\nContent-Usage: Train-AI=n\nUser-agent: *\nContent-Signal: ai-train=yes\n" +
		"Disallow:\nUser-agent: x-extended\nDisallow: /p\nAllow: /p/q\nLicense: https://l.example/x\nDisallow:\nLicense: /l\n"
	e.read(0, []byte(body), questions{judging: true})
	f := &e.readings[0].file
	e.indexes = make([]int32, len(f.Groups))
	var got []string
	e.preferenceRows(&schema.Fetch{Seq: 7, Host: "h", Rank: new(int64(3)), Origin: "https://h"}, f)
	for _, r := range e.preferences {
		if r.Seq != 7 || r.Host != "h" || *r.Rank != 3 || r.Origin != "https://h" {
			t.Errorf("%+v", r)
		}
		got = append(got, fmt.Sprint(*r.Line, " ", deref(r.GroupAgent), " ", r.Scope, " ", r.Mechanism, " ", r.Label, " ",
			deref(r.Use), " ", deref(r.Preference), " ",
			deref(r.Path), " ", deref(r.Level), " ", r.Value, " ", r.Conflict, " ", deref(r.Remark)))
	}
	want := []string{
		"1 - file license  - - - - https://l.example/all false -",
		"2 - orphan content-signal search search disallow - - no false -",
		"6 * group content-signal ai-train ai-train disallow - - No true -",
		"6 * group content-signal use - - - reference Reference false -",
		"6 * group content-signal other - allow - - yes false unknown_label",
		"7 * group content-usage train-ai ai-train allow /a - y false -",
		"7 * group content-usage tdm - disallow /a - n false old_label",
		"8 * group content-usage  - - - - Train-AI=n false not_parsed",
		"10 * group content-signal ai-train ai-train allow - - yes true -",
		"13 X-Extended group token X-Extended ai-train disallow /p - /p false -",
		"13 X-Extended group token X-Extended ai-input disallow /p - /p false -",
		"15 x-extended group license  - - - - https://l.example/x false -",
		"17 x-extended trailing license  - - - - /l false not_url",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("got\n%s\nwant\n%s", a, b)
	}
	for i, want := range []string{"disallow partial -", "- - -"} {
		var policy schema.Policy
		e.policy(&policy, &schema.Fetch{}, 0, i)
		if policy.AITrain != nil { // the answer is none yet
			t.Errorf("%v", *policy.AITrain)
		}
		e.readings[0].answer = answer.Answer{Outcome: answer.ConditionalAllow}
		policy = schema.Policy{}
		e.policy(&policy, &schema.Fetch{}, 0, i)
		if got := deref(policy.AITrain) + " " + deref(policy.AIInput) + " " + deref(policy.Search); got != want {
			t.Errorf("%s: %s, want %s", policy.Agent, got, want)
		}
		e.readings[0].answer = answer.Answer{}
	}
	e.preferences = e.preferences[:0]
	if e.preferenceRows(&schema.Fetch{}, new(robots.File)); len(e.preferences) > 0 {
		t.Errorf("%v", e.preferences)
	}
}

// Under own, a policy token binds an agent by the parser of that agent, though the token
// itself is judged by another.
func TestTokensUnderOwn(t *testing.T) {
	agents, _, err := registry.ParseAgents("agents.yaml", []byte("- {name: A, reads_as: protego, policy_tokens: [X]}\n"+
		"- {name: B, policy_tokens: [X]}\n- {name: X, kind: token, uses: [ai-train]}"))
	if err != nil {
		t.Fatal(err)
	}
	e := Prepare(Config{Agents: agents, Profiles: profilesNamed("own"), Readers: readers("google", "protego")}).Evaluator()
	for body, all := range map[string][]string{
		// For protego the crawl-delay ends the list of X, which then has no rule.
		"User-agent: X\nCrawl-delay: 1\nUser-agent: Y\nDisallow: /\n": {"-", "disallow", "-"},
		"User-agent: X\nDisallow: /\n":                                {"disallow", "disallow", "-"},
	} {
		e.ask(200, body)
		for i, want := range all {
			var policy schema.Policy
			e.policy(&policy, &schema.Fetch{}, 0, i)
			if got := deref(policy.AITrain); got != want {
				t.Errorf("%q: %s: %s, want %s", body, policy.Agent, got, want)
			}
		}
	}
}

// A token of purpose refuses its use to every agent with that use by its own group alone,
// whatever case the file gives it; one that the registry lacks is kept, and states nothing.
func TestTokensOfPurpose(t *testing.T) {
	agents, _, err := registry.ParseAgents("agents.yaml",
		[]byte("- {name: Trainer, category: ai-training}\n- {name: Finder, category: search}\n"+
			"- {name: __usage_ai-training, category: ai-training, kind: token, uses: [ai-train], binds: {uses: [ai-train]}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	google, _ := robots.ProfileNamed("google")
	c := Config{Agents: agents, Profiles: []*robots.Profile{google}}
	for _, row := range []struct{ body, trainer, rows, counts string }{
		{"User-agent: __USAGE_AI-Training\nDisallow: /\n", "disallow", "2 __usage_ai-training ai-train disallow / -",
			"preference token ai-train disallow; refusal any; refusal token"},
		{"User-agent: __usage_ai-training\nDisallow: /a\n", "partial", "2 __usage_ai-training ai-train disallow /a -",
			"preference token ai-train disallow"},
		{"User-agent: *\nDisallow: /\n", "-", "", "refusal any; refusal crawler"},
		{"User-agent: __usage_tdm\nUser-agent: __Usage_x2.y\nDisallow: /\nDisallow: /b\n", "-",
			"1 __usage_tdm - - - unknown_token\n2 __usage_x2.y - - - unknown_token", "preference_remark unknown_token"},
		{"User-agent: __usage_\nUser-agent: usage_x\nDisallow: /\n", "-", "", ""},
	} {
		e := Prepare(c).Evaluator()
		e.read(0, []byte(row.body), questions{judging: true})
		f := &e.readings[0].file
		e.preferenceRows(&schema.Fetch{}, f)
		var rows, counts []string
		for _, r := range e.preferences {
			rows = append(rows, fmt.Sprint(*r.Line, " ", r.Label, " ", deref(r.Use), " ", deref(r.Preference), " ",
				deref(r.Path), " ", deref(r.Remark)))
		}
		e.readings[0].answer = answer.Answer{Outcome: answer.ConditionalAllow}
		var policy schema.Policy
		e.policy(&policy, &schema.Fetch{}, 0, 0)
		for _, count := range countedOf(t, c, row.body).List() {
			if strings.HasPrefix(count.Metric, "preference") || count.Metric == "refusal" {
				counts = append(counts, count.Metric+" "+count.Key)
			}
		}
		slices.Sort(counts)
		if got := deref(policy.AITrain); got != row.trainer || strings.Join(rows, "\n") != row.rows ||
			strings.Join(counts, "; ") != row.counts {
			t.Errorf("%q: %s\n%s\n%s", row.body, got, strings.Join(rows, "\n"), strings.Join(counts, "; "))
		}
	}
	// Many names in one group are a row each, however many rules the group has.
	body := strings.Repeat("User-agent: __usage_x\n", 1000) + strings.Repeat("Disallow: /a\n", 1000)
	e := Prepare(c).Evaluator()
	e.read(0, []byte(body), questions{judging: true})
	if e.preferenceRows(&schema.Fetch{}, &e.readings[0].file); len(e.preferences) != 1000 {
		t.Errorf("%d rows of 1,000 names", len(e.preferences))
	}
}
