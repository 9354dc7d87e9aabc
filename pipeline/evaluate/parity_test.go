package evaluate

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Files are compared for the agents that they name and whose parser is documented: each
// line has a row for each agent and cause, and the counters count hosts. That is so under
// every profile, whether or not the content is cached.
func TestParity(t *testing.T) {
	agents := []schema.Agent{
		{Name: "Spider", Tokens: []string{"Spider"}, Category: "other", ReadsAs: new("wget")},
		{Name: "Crawler", Tokens: []string{"Crawler"}, Category: "archive", ReadsAs: new("heritrix")},
		{Name: "Plain", Tokens: []string{"Plain"}, Category: "other"},
		{Name: "Token", Tokens: []string{"Token"}, Category: "other", ReadsAs: new("heritrix"), Kind: registry.KindToken},
	}
	for _, c := range []struct{ body, rows, counts string }{
		{"User-agent: *\nDisallow: /*a\n\nUser-agent: Plain\nUser-agent: Token\nDisallow: /*b\n", "", ""},
		{"User-agent: Spider-Image\nDisallow: /*a\n", "", ""}, // another crawler, whose name has its
		{"User-agent: Spider\nDisallow: /a\n", "", "parity Spider escapes_only, parity_hosts escapes_only"},
		{
			"User-agent: Spider/1\nDisallow: /\n\nUser-agent: Crawler\nCrawl-delay: 1\nUser-agent: other\nDisallow: /\n",
			"1 0 Spider wget text_behind_name 1 User-agent: Spider/1; 5 1 Crawler heritrix other_field 1 Crawl-delay: 1",
			"line_class not_portable 2, line_class_hosts not_portable, parity Crawler let_in, parity Spider let_in, " +
				"parity_cause Crawler other_field, parity_cause Spider text_behind_name, parity_cause_hosts other_field, " +
				"parity_cause_hosts text_behind_name, parity_hosts let_in",
		},
		{
			"Disallow: /x\nUser-agent: Spider/1\nDisallow: /*a\nDisallow: /b\n",
			"2 0 Spider wget text_behind_name 2 User-agent: Spider/1; 3 0 Spider wget wildcards 2 Disallow: /*a",
			"line_class not_portable 2, line_class_hosts not_portable, parity Spider different, parity_cause Spider several, " +
				"parity_cause_hosts several, parity_hosts different",
		},
		{
			"User-agent: Crawl\nDisallow: /\n\nUser-agent: Spider\nDisallow: /b\n",
			"1 0 Crawler heritrix part_of_name 1 User-agent: Crawl",
			"line_class not_portable, line_class_hosts not_portable, parity Crawler kept_out, parity Spider escapes_only, " +
				"parity_cause Crawler part_of_name, parity_cause_hosts part_of_name, parity_hosts kept_out",
		},
	} {
		for _, profiles := range [][]string{{"google"}, {"rfc9309"}, {"own"}} {
			config := Config{Agents: agents, Profiles: profilesNamed(profiles...), Readers: readers("google", "wget",
				"heritrix")}
			e := Prepare(config).Evaluator()
			for again := range 3 {
				e.counts.Reset()
				clear(e.counted)
				o := fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}
				capture := &fetch.Capture{Origin: o, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 200}}, Body: []byte(c.body)}
				for k := range e.readings {
					e.receive(k, capture, capture.Facts(), func(*reading) questions { return questions{parity: k == 0} })
				}
				row := schema.Fetch{Host: "a.example"}
				var rows, counts []string
				f := &e.readings[0].file
				e.indexes = []int32{0, 1, 2}
				e.examples.Reset()
				e.examples.Begin("a.example", nil)
				for _, l := range e.parityRows(&row, f, nil) {
					rows = append(rows, fmt.Sprintf("%d %d %s %s %s %d %s", l.Line, groupAt(f, int(l.Line)), *l.Agent, *l.Parser,
						*l.Cause, *l.Causes, l.Value))
				}
				e.countParity("unranked")
				for _, n := range e.counts.List() {
					text := strings.Join(strings.Fields(n.Metric+" "+n.Agent+" "+n.Key), " ")
					if n.N != 1 {
						text += fmt.Sprint(" ", n.N)
					}
					counts = append(counts, text)
				}
				if diff := cmp.Diff([]string{c.rows, c.counts}, []string{strings.Join(rows, "; "),
					strings.Join(counts, ", ")}); diff != "" {
					t.Fatalf("%q under %v, time %d (-want +got):\n%s", c.body, profiles, again, diff)
				}
			}
		}
	}
	if x := (&Config{Agents: agents[2:], Readers: readers("google", "heritrix")}).explainers(); x != nil {
		t.Errorf("without an agent whose parser is documented: %v", x)
	}
	if got := strings.Join(summary.ParityNames, " "); got != "equal escapes_only undecided different kept_out let_in" {
		t.Errorf("names of parity: %s", got)
	}
}

// What was found about a file that took an explanation serves the hosts that have it too,
// when the memory of its body is used for others.
func TestFilesAreExplainedOnce(t *testing.T) {
	config := Config{Agents: []schema.Agent{{Name: "Spider", Tokens: []string{"Spider"}, ReadsAs: new("wget")}},
		Profiles: profilesNamed("google"), Readers: readers("google", "wget")}
	shared := Prepare(config)
	find := func(text string, cut bool) string {
		e, body := shared.Evaluator(), []byte(text)
		var f robots.File
		f.Cut = cut
		f.Parse(body, e.readings[0].profile)
		found := e.parities(nil, &f, body, cut)
		out := fmt.Sprintf("%+v", found)
		for i := range body {
			body[i] = 'x'
		}
		return out
	}
	const differs, same = "User-agent: Spider/1\nDisallow: /a", "User-agent: Spider\nDisallow: /a\n"
	first, cut := find(differs, false), find(differs, true)
	if first == cut || find(differs, false) != first || find(differs, true) != cut {
		t.Errorf("%s, cut %s, again %s", first, cut, find(differs, false))
	}
	if find(same, false); len(shared.explained.files) != 1 {
		t.Errorf("%d files are remembered, want that which differs", len(shared.explained.files))
	}
	for i := range explainedFiles {
		shared.explained.keep(explainedFile{digest: [32]byte{1: byte(i), 2: byte(i >> 8)}},
			shared.explained.files[explainedFile{sha256.Sum256([]byte(differs)), false}])
	}
	if n := len(shared.explained.files); n > explainedFiles {
		t.Errorf("%d files are remembered", n)
	}
}
