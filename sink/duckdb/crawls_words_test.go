package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whose words changes are, and what files state about use, in the model of crawls.

// stated returns what a file states to an agent about use: "" for nothing.
func (a answer) stated(agent, use string) string {
	if _, named := a.named[agent]; named || a.star == "none" {
		return "" // the groups of named agents state nothing
	}
	for _, p := range a.preference {
		if mechanism, rest, _ := strings.Cut(p, " "); mechanism != "token" && strings.HasPrefix(rest, use+" ") {
			return strings.TrimPrefix(rest, use+" ")
		}
	}
	return ""
}

// wordsFor returns the template whose words decide for an agent, "" for the file's own.
func (a answer) wordsFor(agent string) string {
	_, named := a.named[agent]
	if slices.Contains(a.written, agent) || a.written != nil && !named {
		return a.template // of the block, whose group for * is the only one
	}
	return ""
}

// expectWords returns, by crawl, how many hosts closed and opened to an agent in whose
// words, and what they state about use, as lines of text.
func (h *twelveCrawls) expectWords() map[string]map[string]int {
	want := make(map[string]map[string]int)
	last := make([]map[string]answer, len(h.crawls)) // by origin
	for c := range h.crawls {
		last[c] = make(map[string]answer)
		for _, one := range h.captures(c, everySite) {
			last[c][one.origin] = one.said()
		}
	}
	for c := 1; c < len(h.crawls); c++ {
		of := make(map[string]int)
		for origin, a := range last[c-1] {
			b, k := last[c][origin], c-1
			for ; k > 0 && a.star == "" && b.star != ""; k-- {
				a = last[k-1][origin]
			}
			if a.star == "" || b.star == "" {
				continue
			}
			uses := make(map[string]bool)
			own := make(map[string]bool) // by use
			for _, agent := range h.crawls[c].agents {
				i := slices.IndexFunc(h.crawls[c-1].agents, func(x entry) bool { return x.name == agent.name })
				if i < 0 {
					continue
				}
				p, _ := a.policy(agent.name)
				q, _ := b.policy(agent.name)
				was, is := a.wordsFor(agent.name), b.wordsFor(agent.name)
				ways := waysOf(p, q)
				words := is
				if words == "" && !slices.Contains(ways, "closed") {
					words = was
				}
				for _, way := range ways {
					if way == "closed" || way == "opened" {
						of[fmt.Sprintf("%s %s in the words of %s", way, agent.name, words)]++
					}
				}
				if p == "none" || q == "none" || h.crawls[c-1].agents[i] != agent {
					continue // shut out, or not compared
				}
				for _, use := range []string{"ai-train", "search"} {
					before, after := a.stated(agent.name, use), b.stated(agent.name, use)
					if before == after {
						continue
					}
					uses[use+" "+after] = true
					own[use] = own[use] || is == "" && (after != "" || was == "")
				}
			}
			seen := make(map[string]bool)
			for key := range uses {
				of[key]++
				if use, _, _ := strings.Cut(key, " "); !own[use] && !seen[use] {
					seen[use] = true
					of[use+" by template"]++
				}
			}
		}
		want[h.crawls[c].id] = of
	}
	return want
}

// wantWords compares the views, and what diff prints of the last two crawls, with the
// model.
func (w *crawlsTest) wantWords(t *testing.T) {
	want := w.expectWords()
	got := make(map[string]map[string]int)
	add := func(run, key string, n int) {
		if got[run] == nil {
			got[run] = make(map[string]int)
		}
		if n > 0 {
			got[run][key] += n
		}
	}
	const query = `SELECT run, 'closed ' || agent || ' in the words of ' || coalesce(template, '') AS what, count(*) AS n FROM policy_changes WHERE closed GROUP BY ALL
		UNION ALL SELECT run, 'opened ' || agent || ' in the words of ' || coalesce(template, ''), count(*) FROM policy_changes WHERE opened GROUP BY ALL
		UNION ALL SELECT run, use || ' disallow', count(*) FROM preference_changes WHERE refuses GROUP BY ALL
		UNION ALL SELECT run, use || ' allow', count(*) FROM preference_changes WHERE permits GROUP BY ALL
		UNION ALL SELECT run, use || ' ', count(*) FROM preference_changes WHERE ends GROUP BY ALL
		UNION ALL SELECT run, use || ' partial', count(*) FROM preference_changes WHERE depends OR undecided GROUP BY ALL
		UNION ALL SELECT run, use || ' by template', count(*) FROM preference_changes WHERE template GROUP BY ALL`
	db := everyRun(t, w.out)
	_, rows, err := ask(db, query)
	must(t, err)
	last, before := w.crawls[len(w.crawls)-1].id, w.crawls[len(w.crawls)-2].id
	of := fmt.Sprintf("WHERE run = '%s' AND against = '%s'", last, before)
	for _, view := range []string{"policy_changes", "preference_changes"} {
		wantExported(t, db, view, "FROM "+view+" "+of, "--out", w.out, "--against", before, last)
	}
	for i := 1; i < len(w.crawls); i++ {
		add(w.crawls[i].id, "", 0)
	}
	for _, r := range rows {
		n := 0
		fmt.Sscan(r[2], &n)
		add(r[0], r[1], n)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the views (-want +got):\n%s", diff)
	}
	all := make(map[string]bool)
	for _, of := range want {
		for key := range of {
			all[key] = true
		}
	}
	for _, key := range []string{"closed GPTBot in the words of ", "closed GPTBot in the words of cloudflare-managed",
		"opened GPTBot in the words of cloudflare-managed", "ai-train disallow", "ai-train ", "ai-train by template"} {
		if !all[key] {
			t.Errorf("the model has no host of %q: %v", key, slices.Sorted(maps.Keys(all)))
		}
	}
	for c := 1; c < len(w.crawls); c++ {
		text, _ := robocensus(t, 0, "diff", "--out", w.out, w.crawls[c-1].id, w.crawls[c].id, "--format", "json")
		var r struct {
			Words []struct {
				Agent          string
				Template       *string
				Closed, Opened int
			}
			Uses []struct {
				Use                                        string
				Refuses, Permits, Depends, Ends, Undecided int
				Template                                   int `json:"by_template"`
			}
		}
		must(t, json.Unmarshal([]byte(text), &r))
		printed := make(map[string]int)
		put := func(key string, n int) {
			if n > 0 {
				printed[key] = n
			}
		}
		for _, x := range r.Words {
			template := ""
			if x.Template != nil {
				template = *x.Template
			}
			put("closed "+x.Agent+" in the words of "+template, x.Closed)
			put("opened "+x.Agent+" in the words of "+template, x.Opened)
		}
		for _, x := range r.Uses {
			put(x.Use+" disallow", x.Refuses)
			put(x.Use+" allow", x.Permits)
			put(x.Use+" ", x.Ends)
			put(x.Use+" partial", x.Depends+x.Undecided)
			put(x.Use+" by template", x.Template)
		}
		if diff := cmp.Diff(want[w.crawls[c].id], printed); diff != "" {
			t.Errorf("diff of %s (-want +got):\n%s", w.crawls[c].id, diff)
		}
	}
}
