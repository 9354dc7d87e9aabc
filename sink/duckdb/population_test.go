package main

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
)

// A population of files that say what may be done with them in every way, each put together
// from pieces of which the model knows what they state. Nothing here parses a robots.txt.

// piece is a part of a file, and what it adds to the file's answer.
type piece struct {
	text string
	adds answer
}

// The places of a file that pieces stand in, in their order: before any group, a group that
// shuts agents out, one for a policy token, the group for all, and what it states.
var pieces = [][]piece{
	{
		{},
		{"Content-Signal: ai-train=no\n", answer{field: []string{"content-signal"},
			signal: []string{"content-signal ai-train=no"}, remark: []string{"orphan"}}},
		{"Content-Usage: train-ai=n\n", answer{field: []string{"content-usage"},
			signal: []string{"content-usage train-ai=n"}, remark: []string{"orphan"}}},
		{"License: https://l.example/all.xml\n", answer{field: []string{"license"}, signal: []string{"license"},
			licensed: true}},
		{"# This file is to prevent the crawling and indexing of certain parts\n", answer{also: []string{"drupal"}}},
		{"# ARTICLE 4 OF THE EUROPEAN UNION DIRECTIVE 2019/790\n", answer{also: []string{"eu-reservation"}}},
	},
	{
		{},
		{"User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\n",
			answer{named: map[string]string{"GPTBot": "none", "CCBot": "none"}}},
		{"User-agent: GPTBot\nDisallow: /private/\n\n", answer{named: map[string]string{"GPTBot": "private"}}},
		{"# BEGIN Cloudflare Managed content\nUser-agent: GPTBot\nDisallow: /\n# END Cloudflare Managed Content\n\n",
			answer{template: "cloudflare-managed", written: []string{"GPTBot"}, named: map[string]string{"GPTBot": "none"}}},
		{"# START YOAST BLOCK\nUser-agent: Bytespider\nDisallow: /\n# END YOAST BLOCK\n\n", answer{template: "yoast",
			written: []string{"Bytespider"}, named: map[string]string{"Bytespider": "none"}}},
		// without its end
		{"# BEGIN Cloudflare Managed content\nUser-agent: GPTBot\nDisallow: /\n\n",
			answer{named: map[string]string{"GPTBot": "none"}}},
	},
	{
		{},
		{"User-agent: Google-Extended\nDisallow: /\n\n", answer{named: map[string]string{"Google-Extended": "none"},
			preference: []string{"token ai-train disallow"}}},
		{"User-agent: google-extended\nDisallow: /p/\n\n", answer{named: map[string]string{"Google-Extended": "p"},
			preference: []string{"token ai-train disallow"}}},
		{"User-agent: Google-Extended\nAllow: /\n\n", answer{named: map[string]string{"Google-Extended": "allow"}}},
	},
	{
		{"User-agent: *\nDisallow: /private/\n", answer{star: "private"}},
		{"User-agent: *\nDisallow:\n", answer{star: "allow"}},
		{"User-agent: *\nDisallow: /\n", answer{star: "none"}},
	},
	{
		{},
		{"Content-Signal: search=yes, ai-train=no\n", answer{field: []string{"content-signal"},
			signal:     []string{"content-signal search=yes", "content-signal ai-train=no"},
			preference: []string{"content-signal search allow", "content-signal ai-train disallow"}, refuses: []string{
				"content-signal"}}},
		{"content-signal: AI-Train = Yes,, ai-input=no\n", answer{field: []string{"content-signal"},
			signal:     []string{"content-signal ai-train=yes", "content-signal ai-input=no"},
			preference: []string{"content-signal ai-train allow", "content-signal ai-input disallow"}}},
		{"Content-Signal: ai-train=no\nContent-Signal: ai-train=yes\n", answer{field: []string{"content-signal"},
			signal:     []string{"content-signal ai-train=no", "content-signal ai-train=yes"},
			preference: []string{"content-signal ai-train allow", "content-signal ai-train disallow"}, refuses: []string{
				"content-signal"}, remark: []string{"conflict"}}},
		{"Content-Signal: ai-train=maybe\n", answer{field: []string{"content-signal"},
			signal: []string{"content-signal ai-train=other"}, remark: []string{"unknown_value"}}},
	},
	{
		{},
		{"Content-Usage: train-ai=n\n", answer{field: []string{"content-usage"},
			signal: []string{"content-usage train-ai=n"}, preference: []string{"content-usage ai-train disallow"},
			refuses: []string{"content-usage"}}},
		{"Content-Usage: /news/ train-ai=y, search=n;x=1\n", answer{field: []string{"content-usage"},
			signal:     []string{"content-usage train-ai=y", "content-usage search=n"},
			preference: []string{"content-usage ai-train allow", "content-usage search disallow"}}},
		{"Content-Usage: train-ai=n,\n", answer{field: []string{"content-usage"}, remark: []string{"not_parsed"}}},
		{"Content-Usage: bots=n\n", answer{field: []string{"content-usage"}, signal: []string{"content-usage bots=n"},
			remark: []string{"old_label"}}},
		{"Content-Usage: /x\n", answer{field: []string{"content-usage"}, remark: []string{"no_statement"}}},
	},
	{
		{},
		{"License: https://l.example/one.xml\n", answer{field: []string{"license"}, signal: []string{"license"},
			licensed: true}},
		{"License: on request\n", answer{field: []string{"license"}, remark: []string{"not_url"}}},
	},
}

// combined puts a piece behind those before it.
func (a answer) combined(p piece) answer {
	add := func(to *[]string, more []string) {
		*to = slices.Concat(*to, more)
		slices.Sort(*to)
		*to = slices.Compact(*to)
	}
	a.text += p.text
	a.star, a.template = cmp.Or(p.adds.star, a.star), cmp.Or(p.adds.template, a.template)
	named := make(map[string]string)
	maps.Copy(named, a.named)
	maps.Copy(named, p.adds.named)
	a.named, a.licensed = named, a.licensed || p.adds.licensed
	for _, l := range []struct {
		to   *[]string
		more []string
	}{{&a.field, p.adds.field}, {&a.signal, p.adds.signal}, {&a.preference, p.adds.preference},
		{&a.refuses, p.adds.refuses}, {&a.remark, p.adds.remark}, {&a.also, p.adds.also}, {&a.written, p.adds.written}} {
		add(l.to, l.more)
	}
	return a
}

// newPopulation draws files; one in ten hosts has comments alone, is empty, or answers with
// an error.
func newPopulation(files int) *twelveCrawls {
	h := &twelveCrawls{}
	now := &h.crawls[0]
	now.id, now.day, now.hosts = "population", time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), make(map[*site]bool)
	now.agents = agentsOf(10)
	r := rand.New(rand.NewPCG(35, 20_000))
	for i := range files {
		s := &site{domain: fmt.Sprintf("site%d.com", i), captures: 1}
		s.host = "www." + s.domain
		if i%3 == 0 {
			s.rank = 7 * (i + 1)
		}
		if i%10 == 9 {
			s.answers[0] = []string{"comments", "empty", "missing", "forbidden", "down"}[r.IntN(5)]
		} else {
			s.made = &answer{status: 200, feature: []string{"group", "star_group", "rule"}}
			for _, place := range pieces {
				*s.made = s.made.combined(place[r.IntN(len(place))])
			}
		}
		h.sites = append(h.sites, s)
		now.hosts[s] = true
	}
	return h
}

// Files that state preferences in all ways, alone and together: every figure of the series
// is that of the model, and so are the numbers of the report about refusals and how they
// overlap, about preferences, misstatements, templates and whose words shut agents out.
func TestPopulationOfPreferences(t *testing.T) {
	t.Parallel()
	files := 20_000
	if testing.Short() {
		files = 400
	}
	w := &crawlsTest{twelveCrawls: newPopulation(files), began: time.Now()}
	dir := t.TempDir()
	w.out = filepath.Join(dir, "out")
	now := &w.crawls[0]
	args := []string{"run", "--out", w.out, "--run", now.id, "--as-of", now.day.Format(time.DateOnly), "--progress",
		"none"}
	for name, content := range w.archiveFiles(0) {
		if strings.HasSuffix(name, ".warc.gz") {
			write(t, filepath.Join(dir, filepath.Base(name)), string(content))
			args = append(args, "--warc", filepath.Join(dir, filepath.Base(name)))
		}
	}
	var registry, ranks strings.Builder
	for _, a := range now.agents {
		fmt.Fprintf(&registry, "- {name: %s, category: %s, kind: %s}\n", a.name, a.category, cmp.Or(a.kind, "crawler"))
	}
	for _, s := range w.sites {
		if s.rank > 0 {
			fmt.Fprintf(&ranks, "%d,%s\n", s.rank, s.host)
		}
	}
	for name, text := range map[string]string{"agents": registry.String(), "ranks": ranks.String(), "urls": "/\n"} {
		write(t, filepath.Join(dir, name), text)
		args = append(args, "--"+name, filepath.Join(dir, name))
	}
	robocensus(t, 0, args...)
	parquet := filepath.Join(dir, "series.parquet")
	robocensus(t, 0, "series", "--out", w.out, "--parquet", parquet)
	want, _ := w.expect([]int{0}, []string{now.id}, everySite, false)
	w.wantParquet(t, want, parquet)

	figures := report(t, w.out, now.id)
	captures, texts := w.captures(0, everySite), make(map[string]bool)
	rows := map[string]map[string]int{"refusals": {}, "preferences": {}, "preference-remarks": {}, "templates": {}}
	words := make(map[string][3]int) // by agent: shut out, by a template, in the file's own words
	for _, c := range captures {
		a := c.said()
		texts[a.text] = true
		var ways []string
		for _, agent := range now.agents {
			if policy, named := a.policy(agent.name); policy == "none" {
				n := words[agent.name]
				n[0]++
				n[1+map[bool]int{true: 0, false: 1}[slices.Contains(a.written, agent.name)]]++
				words[agent.name] = n
				if agent.category == "ai-training" && (named || agent.kind != "token") {
					ways = append(ways, map[string]string{"": "crawler", "token": "token"}[agent.kind])
				}
			}
		}
		order := []string{"crawler", "token", "content-signal", "content-usage"}
		ways = append(ways, a.refuses...)
		slices.SortFunc(ways, func(x, y string) int { return slices.Index(order, x) - slices.Index(order, y) })
		if ways = slices.Compact(ways); ways != nil {
			rows["refusals"][strings.Join(ways, "+")]++
		}
		for _, p := range a.preference {
			rows["preferences"][p]++
		}
		for _, r := range a.remark {
			rows["preference-remarks"][r]++
		}
		for _, x := range append(slices.Clone(a.also), a.template) {
			if x != "" {
				rows["templates"][x]++
			}
		}
	}
	for id, want := range rows {
		got := make(map[string]int)
		for _, row := range figures[id].rows[1:] {
			got[row[0]], _ = strconv.Atoi(row[1])
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", id, diff)
		}
	}
	for _, row := range figures["words"].rows[1:] {
		if n := words[row[0]]; n[1] == 0 || fmt.Sprint(row[2:]) != fmt.Sprint([]string{strconv.Itoa(n[0]),
			strconv.Itoa(n[1]), strconv.Itoa(n[2])}) {
			t.Errorf("words: %v, want %v", row, n)
		}
		delete(words, row[0])
	}
	for agent, n := range words {
		if n[1] > 0 {
			t.Errorf("words: %s is not there: %v", agent, n)
		}
	}
	t.Logf("%d hosts with %d files that differ, %d sets of refusals, in %v", files, len(texts), len(rows["refusals"]),
		time.Since(w.began).Round(time.Second))
}
