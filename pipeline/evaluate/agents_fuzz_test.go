package evaluate

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/configs/userfile/userfiletest"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/robots"
)

// FuzzAgents checks that an accepted registry means the same after it is written
// and read again, and that package robots accepts it.
func FuzzAgents(f *testing.F) {
	for _, text := range []string{
		"- {name: GPTBot, tokens: [GPTBot], category: ai-training}\n", "- name: a\n  falls_back_to: [b]\n  user_agent: a/1.0 x\n  ignores_star: true\n- &x {name: c}\n- *x\n",
		"- {name: a, tokens: [é]}", "- {name: 1, operator: ~}", "a: [", "---\n- {name: a}\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		agents, err := ParseAgents("file", text)
		if err != nil {
			userfiletest.CheckError(t, err, text)
			return
		}
		names := make(map[string]bool)
		for _, a := range agents {
			if names[strings.ToLower(a.Name)] || a.Name == "" || a.Robots().Validate() != nil {
				t.Fatalf("agent %+v", a)
			}
			names[strings.ToLower(a.Name)] = true
		}
		// YAML reads the escapes of strconv; the library cannot read everything
		// that it writes.
		quoted := func(words ...string) string {
			for i, w := range words {
				words[i] = strconv.QuoteToASCII(w)
			}
			return strings.Join(words, ", ")
		}
		var out []byte
		for _, a := range agents {
			out = fmt.Appendf(out, "- {name: %s, tokens: [%s], falls_back_to: [%s], operator: %s, category: %s, user_agent: %s, ignores_star: %v, user_triggered: %v}\n",
				quoted(a.Name), quoted(slices.Clone(a.Tokens)...), quoted(slices.Clone(a.FallsBackTo)...), quoted(a.Operator), quoted(a.Category), quoted(a.UserAgent), a.IgnoresStar, a.UserTriggered)
		}
		again, err := ParseAgents("file", out)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, out, err)
		}
		for i := range again { // an empty list reads as nil
			if len(again[i].FallsBackTo) == 0 && len(agents[i].FallsBackTo) == 0 {
				again[i].FallsBackTo, agents[i].FallsBackTo = nil, nil
			}
		}
		if diff := cmp.Diff(agents, again); diff != "" {
			t.Fatalf("%q is written as %q:\n%s", text, out, diff)
		}
	})
}

// FuzzSamples checks that an accepted list of URLs gives the same samples after it
// is written again, and that each sample can be prepared under each profile.
func FuzzSamples(f *testing.F) {
	f.Add([]byte("/\n# comment\n\n/x?y#z\nhttps://a.test/\xff\n/é%zz\n"))
	f.Add([]byte("a.test\n"))
	f.Add([]byte("ftp://[::1]:2121/x y\r\nhttp://user@a.test/\n"))
	var profiles []*robots.Profile
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		profiles = append(profiles, p)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		samples, err := ParseSamples("file", text)
		if err != nil {
			userfiletest.CheckError(t, err, text)
			return
		}
		var list strings.Builder
		paths := 0
		for _, s := range samples {
			list.WriteString(s.URL + "\n")
			if s.Origin == nil {
				paths++
			}
			if (s.Origin == nil) != strings.HasPrefix(s.URL, "/") || s.Line < 1 {
				t.Fatalf("sample %+v", s)
			}
		}
		again, err := ParseSamples("file", []byte(list.String()))
		if err != nil || len(again) != len(samples) {
			t.Fatalf("%d samples, listed again %d, %v", len(samples), len(again), err)
		}
		for i := range again {
			if again[i].URL != samples[i].URL || !reflect.DeepEqual(again[i].Origin, samples[i].Origin) {
				t.Fatalf("%+v, listed again %+v", samples[i], again[i])
			}
		}
		s := Prepare(Config{Samples: samples, Profiles: profiles})
		if listed := len(s.samples.list); len(s.samples.paths) != paths || listed+paths != len(samples) || len(s.Unused()) != listed {
			t.Fatalf("of %d samples %d are paths and %d are URLs", len(samples), len(s.samples.paths), listed)
		}
	})
}
