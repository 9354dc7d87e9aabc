package evaluate

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

// readers are profiles by name.
func readers(names ...string) map[string]*robots.Profile {
	out := make(map[string]*robots.Profile)
	for _, p := range profilesNamed(names...) {
		out[p.Name] = p
	}
	return out
}

// ask gives every reading an answer.
func (e *Evaluator) ask(status int, body string) {
	o := fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}
	c := &fetch.Capture{Origin: o, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: status}}}
	if status == 200 {
		c.Body = []byte(body)
	}
	for k := range e.readings {
		e.receive(k, c, c.Facts(), func(r *reading) questions {
			return questions{judging: r.answer.AsksRules(), versusFirst: e.sameBody(r)}
		})
	}
}

var ownAnswers = []struct {
	status int
	body   string
}{
	{200, "User-agent: A\nUser-agent: B\n\nDisallow: /a\n\nUser-agent: C\nUser-agent: D\nDisallow: /*b$\n\n" +
		"User-agent: *\nDisallow: /\n"},
	{200, "User-agent: *\nDisallow: /a\nAllow: /ab\nCrawl-delay: 1000\n"},
	{200, "User-agent: A\nUser-agent: B\nUser-agent: C\nUser-agent: D\nUser-agent: E\nDisallow: /x\nAllow: /\n"},
	{200, ""}, {401, ""}, {404, ""}, {503, ""},
}

// Own has for each agent the policy and the verdicts of the profile that its entry
// names, and google's where it names none, whether or not the content is cached.
func TestOwnJudgesEachAgentByItsParser(t *testing.T) {
	var agents []schema.Agent
	for i, reads := range []string{"", "urllib-2025", "crawler-commons", "heritrix", "urllib-2025", "google"} {
		name := string(rune('A' + i))
		agents = append(agents, schema.Agent{Name: name, Tokens: []string{name}, ReadsAs: schema.NonZero(reads)})
	}
	samples, err := registry.ParseSamples("", []byte("/a\n/ab\n/x\n/y/index.html\n"))
	must(t, err)
	names := []string{"google", "urllib-2025", "crawler-commons", "heritrix"}
	config := Config{Agents: agents, Samples: samples, Profiles: profilesNamed("own"), Readers: readers(names...)}
	own := Prepare(config).Evaluator()
	config.Profiles = profilesNamed(names...)
	each := Prepare(config).Evaluator()
	differ := 0
	for range 3 { // parsed, cached, found in the cache
		for _, a := range ownAnswers {
			own.ask(a.status, a.body)
			each.ask(a.status, a.body)
			if own.readings[0].profile.Name != "google" {
				t.Fatalf("own shows the reading of %s", own.readings[0].profile.Name)
			}
			own.memo.forget()
			for i, agent := range agents {
				by := max(0, indexOf(names, registry.Reader(&agent)))
				var got, want schema.Policy
				own.policy(&got, new(schema.Fetch), 0, i)
				each.policy(&want, new(schema.Fetch), by, i)
				if got.Profile != "own" || got.JudgedBy != names[by] || want.JudgedBy != want.Profile {
					t.Errorf("agent %s: profile %s, judged by %s", agent.Name, got.Profile, got.JudgedBy)
				}
				got.Profile = want.Profile
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%d %q, agent %s (-%s +own):\n%s", a.status, a.body, agent.Name, names[by], diff)
				}
				verdicts := fmt.Sprint(own.judge(own.columns[0].of[i], i, nil, newOwn("", nil, nil)))
				each.memo.forget()
				if alone := fmt.Sprint(each.judge(by, i, nil, newOwn("", nil, nil))); verdicts != alone {
					t.Errorf("%d %q, agent %s: own %s, %s %s", a.status, a.body, agent.Name, verdicts, names[by], alone)
				}
				each.memo.forget()
				if google := fmt.Sprint(each.judge(0, i, nil, newOwn("", nil, nil))); verdicts != google {
					differ++
				}
			}
		}
	}
	if differ == 0 {
		t.Error("every parser reads as google: the test shows nothing")
	}
}

func indexOf(names []string, name string) int {
	for i := range names {
		if names[i] == name {
			return i
		}
	}
	return -1
}

// Own is compared with other profiles agent by agent, and gives the same as first and as
// second profile.
func TestOwnVersusFirst(t *testing.T) {
	agents := []schema.Agent{{Name: "A", Tokens: []string{"A"}}, {Name: "B", Tokens: []string{"B"},
		ReadsAs: new("urllib-2025")}}
	config := Config{Agents: agents, Profiles: profilesNamed("own", "google"), Readers: readers("google", "urllib-2025")}
	first := Prepare(config).Evaluator()
	config.Profiles = profilesNamed("google", "own")
	second := Prepare(config).Evaluator()
	for range 3 {
		for _, a := range ownAnswers {
			first.ask(a.status, a.body)
			second.ask(a.status, a.body)
			for i := range agents {
				if x, y := first.hasVersusFirst(1, i), second.hasVersusFirst(1, i); x != (a.status == 200) || x != y {
					t.Fatalf("%d, agent %s: compared %v and %v", a.status, agents[i].Name, x, y)
				}
				if a.status != 200 {
					continue
				}
				x, y := first.under(1, i).content.versusFirst[i], second.under(1, i).content.versusFirst[i]
				if x != y || i == 0 && x != robots.Same {
					t.Errorf("%q, agent %s: %d and %d", a.body, agents[i].Name, x, y)
				}
			}
		}
		first.ask(200, ownAnswers[0].body)
		if got := first.under(1, 1).content.versusFirst[1]; got != robots.Differs {
			t.Errorf("B, whose parser ends a group at a blank line: %d", got)
		}
	}
}
