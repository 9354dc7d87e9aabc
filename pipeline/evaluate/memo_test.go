package evaluate

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

// Agents that follow the same rules get the same verdicts as if each was judged
// separately: on the paths for all hosts, the origin's samples and its own URLs,
// whether or not the content is cached.
func TestVerdictsAreJudgedOnce(t *testing.T) {
	body := []byte("user-agent: *\ndisallow: /p\nuser-agent: b\nuser-agent: C\nallow: /p\ndisalow: /l\nuser-agent: d\n" +
		"crawl-delay: 1\nuser-agent: e\ndisallow: /o\n")
	var profiles []*robots.Profile
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		profiles = append(profiles, p)
	}
	var agents []schema.Agent
	for i := range 20 {
		agents = append(agents, schema.Agent{Name: fmt.Sprint("x-", i), Tokens: []string{string(rune('a' + i))}})
	}
	list, err := registry.ParseSamples("", []byte("/\n/p\n/l\n"))
	if err != nil {
		t.Fatal(err)
	}
	a := Prepare(Config{Agents: agents, Samples: list, Profiles: profiles}).Evaluator()
	var listed []*prepared
	for _, path := range []string{"/l/1", "/p/1"} {
		listed = append(listed, &prepared{targets: targetsOf("http://h"+path, profiles)})
	}
	own := newOwn("http://h", []string{"/o/1", "/p/2", "/x"}, nil)
	for range 3 { // parsed, cached, found in the cache
		for k := range profiles {
			r := &a.readings[k]
			r.answer = answer.Answer{Outcome: answer.ConditionalAllow}
			a.read(k, body, questions{judging: true})
			a.memo.forget()

			var f robots.File
			f.Parse(body, profiles[k])
			shared := 0
			for i, agent := range agents {
				alone := robots.NewJudge(profiles[k], []robots.Agent{registry.Robots(&agent)})
				alone.Load(&f)
				var want []robots.Verdict
				ask := func(t robots.Target) { want = append(want, alone.Policy(0).Judge(&t)) }
				for s := range a.samples.paths {
					ask(a.samples.paths[s].targets[k])
				}
				for _, s := range listed {
					ask(s.targets[k])
				}
				for _, path := range own.paths {
					ask(profiles[k].Target("http://h" + path))
				}
				if got := a.judge(k, i, listed, own); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, agent %s: got %v, want %v", profiles[k].Name, agent.Name, got, want)
				}
				for _, v := range want {
					if v.Rule < 0 {
						continue
					}
					rule := f.Rules[v.Rule]
					if kind, pattern, line := r.cells(v.Rule); *kind != rule.Kind.String() || *pattern != string(rule.Pattern) ||
						*line != rule.Line {
						t.Errorf("%s, agent %s: rule %d is %s %s on line %d", profiles[k].Name, agent.Name, v.Rule, *kind, *pattern,
							*line)
					}
				}
				if got := r.found(i).class; got != int(alone.Policy(0).Class()) {
					t.Errorf("%s, agent %s: class is %d", profiles[k].Name, agent.Name, got)
				}
				if r.found(i).lead < i {
					shared++
				}
			}
			if shared < 15 {
				t.Errorf("%s: %d of 20 agents share rules with one before them", profiles[k].Name, shared)
			}
		}
	}
}

// BenchmarkHostileHost evaluates one target of half a megabyte of wildcard rules,
// for as many agents as the registry has and eleven long samples. "each agent"
// judges every agent separately.
func BenchmarkHostileHost(b *testing.B) {
	p, _ := robots.ProfileNamed("google")
	random := rand.New(rand.NewPCG(1, 2))
	word := func(n int) []byte {
		w := make([]byte, n)
		for i := range w {
			w[i] = byte('a' + random.IntN(26))
		}
		return w
	}
	body := []byte("user-agent: *\n")
	for len(body) < p.SizeLimit-20 {
		body = fmt.Appendf(body, "disallow:/*%s\n", word(5))
	}
	var agents []schema.Agent
	for i := range 178 {
		agents = append(agents, schema.Agent{Name: fmt.Sprint("x-", i), Tokens: []string{string(word(8))}})
	}
	var urls []byte
	for range 11 {
		urls = fmt.Appendf(urls, "/%s\n", word(8000))
	}
	list, err := registry.ParseSamples("", urls)
	if err != nil {
		b.Fatal(err)
	}
	profiles := []*robots.Profile{p}
	a := Prepare(Config{Agents: agents, Samples: list, Profiles: profiles}).Evaluator()
	a.readings[0].answer = answer.Answer{Outcome: answer.ConditionalAllow}
	for _, each := range []bool{false, true} {
		b.Run(map[bool]string{false: "each set of rules", true: "each agent"}[each], func(b *testing.B) {
			for b.Loop() {
				a.contents = newContents(1)
				a.read(0, body, questions{judging: true})
				a.memo.forget()
				for i := range agents {
					if each {
						a.memo.verdicts = a.judgeAll(a.memo.verdicts[:0], 0, i, nil, nil)
					} else {
						a.judge(0, i, nil, nil)
					}
				}
			}
		})
	}
}
