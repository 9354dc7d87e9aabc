package diff

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

const boundAgents = "- {name: RoboTestA, category: search, policy_tokens: [RoboToken]}\n" +
	"- {name: RoboTestB, category: ai-training}\n- {name: RoboToken, category: ai-training, kind: token, uses: " +
	"[ai-train, ai-input], falls_back_to: [\"*\"]}\n"

// A statingRun is a run of one host with labels about use and templates.
type statingRun struct{ text, agents, uses, templates, first, profile string } // first is google if not set

// run writes it to dir.
func (s statingRun) run(t testing.TB, dir, id string) {
	t.Helper()
	if s.agents == "" {
		s.agents = boundAgents
	}
	folder := t.TempDir()
	sinktest.Must(t, os.WriteFile(filepath.Join(folder, "h.example"), []byte(s.text), 0o666))
	if s.first == "" {
		s.first = robots.DefaultReader
	}
	first, _ := robots.ProfileNamed(s.first)
	profiles := []*robots.Profile{first}
	if s.profile != "" {
		further, _ := robots.ProfileNamed(s.profile)
		profiles = append(profiles, further)
	}
	c := pipeline.Config{
		Dir: dir, Run: id, Source: source.Config{Bodies: folder, Schemes: []string{"https"}}, Tables: schema.TableNames,
		Evaluate: evaluate.Config{Profiles: profiles},
		Fetch: client.Config{UserAgent: "test", Timeout: time.Second, Limits: fetch.Limits{MaxRedirects: 5,
			MaxBody: 1 << 20}, Concurrency: 1, PerAddress: 1, PerDomain: 1},
	}
	var err error
	c.Evaluate.Agents, _, err = registry.ParseAgents("agents", []byte(s.agents))
	sinktest.Must(t, err)
	labels, err := registry.ParseUses("uses", configs.Uses, nil)
	sinktest.Must(t, err)
	if s.uses != "" {
		labels, err = registry.ParseUses("uses", []byte(s.uses), labels)
		sinktest.Must(t, err)
	}
	c.Evaluate.Labels = labels
	templates, err := registry.ParseTemplates("templates", []byte(s.templates+string(configs.Templates)))
	sinktest.Must(t, err)
	c.Evaluate.Templates = template.New(templates)
	c.Inputs = []journal.Input{{Role: "agents", SHA256: s.agents}, {Role: "uses", SHA256: s.uses},
		{Role: "templates", SHA256: s.templates}}
	_, err = pipeline.Run(t.Context(), c, new(pipeline.Progress))
	sinktest.Must(t, err)
}

// changesOfStating compares two runs. It returns their rows of some kinds, and the result.
func changesOfStating(t *testing.T, before, after statingRun, list *expect.List, kinds string) ([]string, *Result) {
	t.Helper()
	dir := t.TempDir()
	before.run(t, dir, "a")
	after.run(t, dir, "b")
	r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b", Expect: list})
	sinktest.Must(t, err)
	var got []string
	for _, row := range changesOf(t, dir, "b", "a") {
		if strings.Contains(kinds, row.Kind) {
			got = append(got, strings.TrimPrefix(showChange(&row), "h.example ")+" "+schema.OrZero(row.TemplateBefore)+">"+
				schema.OrZero(row.TemplateAfter))
		}
	}
	return got, r
}

// What a file states about a use changes by its meaning for an agent, with the lines that
// say so.
func TestPreferencesChange(t *testing.T) {
	const star = "User-agent: *\nDisallow: /x\n"
	const token = "User-agent: RoboToken\nDisallow: "
	for _, row := range []struct {
		clause, before, after string
		want                  []string
	}{
		{"another mechanism says the same", star + "Content-Signal: ai-train=no", star + "Content-Usage: train-ai=n", nil},
		{"another line says the same", star + "Content-Signal: ai-train=no", "# new\n" + star +
			"Content-Signal: ai-train=no, ai-train=no", nil},
		{"an orphan states nothing", star, "Content-Signal: ai-train=no\n" + star, nil},
		{"a label that stands for no use", star, star + "Content-Usage: tdm=n", nil},
		{"the first line that says so", star, star + "Content-Signal: search=yes\nContent-Usage: search=n\n" +
			"Content-Signal: search=no", []string{
			"preference major RoboTestA search google search - disallow - 4 >",
			"preference major RoboTestB ai-training google search - disallow - 4 >",
			"preference major RoboToken ai-training google search - disallow - 4 >",
		}},
		{"a token binds the agents that name it", star, star + token + "/", []string{
			"preference major RoboTestA search google ai-train - disallow - 4 >",
			"preference major RoboTestA search google ai-input - disallow - 4 >",
		}},
		{"its own group, not that for *", "User-agent: RoboTestB\nDisallow: /x\n" + token + "/",
			"User-agent: RoboTestB\nDisallow: /x\n" + token + "/x\n", []string{
				"preference major RoboTestA search google ai-train disallow partial 4 4 >",
				"preference major RoboTestA search google ai-input disallow partial 4 4 >",
			}},
		{"another rule of a token", "User-agent: RoboTestA\nDisallow: /x\n" + token + "/a",
			"User-agent: RoboTestA\nDisallow: /x\n" + token + "/b", []string{
				"preference minor RoboTestA search google ai-train partial undecided 4 4 >",
				"preference minor RoboTestA search google ai-input partial undecided 4 4 >",
			}},
		{"one rule more that a token allows", "User-agent: RoboTestA\nDisallow: /x\n" + token + "/a",
			"User-agent: RoboTestA\nDisallow: /x\n" + token + "/a\nAllow: /a/b", []string{
				"preference minor RoboTestA search google ai-train partial undecided 4 4 >",
				"preference minor RoboTestA search google ai-input partial undecided 4 4 >",
			}},
		{"a line for a path that does not state the use", star + "Content-Usage: train-ai=n\nContent-Usage: /a search=y",
			star + "Content-Usage: train-ai=n\nContent-Usage: /b search=y", []string{
				"preference minor RoboTestA search google ai-train partial undecided 3 3 >",
				"preference minor RoboTestA search google search partial undecided 4 4 >",
				"preference minor RoboTestB ai-training google ai-train partial undecided 3 3 >",
				"preference minor RoboTestB ai-training google search partial undecided 4 4 >",
				"preference minor RoboToken ai-training google ai-train partial undecided 3 3 >",
				"preference minor RoboToken ai-training google search partial undecided 4 4 >",
			}},
		{"paths and statements in another order", star + "Content-Usage: /a train-ai=n\nContent-Usage: /b train-ai=y",
			star + "# new\nContent-Usage: /b train-ai=y\nContent-Usage: /a train-ai=n", nil},
		{"the same group, other groups before it", star + "Content-Usage: /a train-ai=n",
			"User-agent: other\nDisallow: /\nContent-Usage: /a train-ai=y\n" + star + "Content-Usage: /a train-ai=n", nil},
		{"shut out and stated", star + "Content-Signal: ai-train=no",
			"User-agent: *\nDisallow: /\nContent-Signal: ai-train=no", nil},
		{"let in and stated", "User-agent: *\nDisallow: /\n", star + "Content-Signal: ai-train=no", nil},
		{"another rule for *, which a token with a group does not follow", "User-agent: RoboTestA\nDisallow: /x\n" + token +
			"/a\nUser-agent: *\nDisallow: /b\n", "User-agent: RoboTestA\nDisallow: /x\n" + token +
			"/a\nUser-agent: *\nDisallow: /c\n", nil},
		{"a template states it", "User-agent: *\nDisallow: /x\n", "# BEGIN Cloudflare Managed content\nUser-agent: *\n" +
			"Content-signal: search=yes, ai-train=no\nAllow: /\n# END Cloudflare Managed Content\n", []string{
			"preference major RoboTestA search google ai-train - disallow - 3 >cloudflare-managed",
			"preference minor RoboTestA search google search - allow - 3 >cloudflare-managed",
		}},
	} {
		got, _ := changesOfStating(t, statingRun{text: row.before}, statingRun{text: row.after}, nil, "preference")
		if strings.HasPrefix(row.clause, "a template") {
			got = got[:min(len(got), 2)] // those of RoboTestA
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.clause, diff)
		}
	}
	// The tables show statements and groups as the first profile reads them.
	after := statingRun{text: star + "Content-Signal: ai-train=no", first: "rfc9309", profile: "google"}
	got, r := changesOfStating(t, statingRun{text: star, profile: "rfc9309"}, after, nil, "preference")
	if got != nil || !strings.Contains(strings.Join(r.Notes, "\n"),
		"the first profiles differ (google, then rfc9309): the tables show no change of the kinds rules, preference, ") {
		t.Errorf("under other first profiles: %q, notes %q", got, r.Notes)
	}
}

// A promise about preferences breaks where what is stated changed, also where the agent was
// shut out or let in and no row says so; what is undecided, or differs by the runs'
// definitions, leaves it unchecked.
func TestPromisesOfPreferences(t *testing.T) {
	const star = "User-agent: *\nDisallow: /x\n"
	const stated = star + "Content-Signal: ai-train=no\n"
	for _, row := range []struct {
		name          string
		before, after statingRun
		want          map[string]string // by promise: its state, and a note
	}{
		{"a statement begins", statingRun{text: star}, statingRun{text: stated}, map[string]string{
			"no_change: preference": "broken", "no_change: preference, use: ai-train": "broken",
			"no_change: preference, use: [search, ai-input]":            "kept",
			"no_change: preference, after: allow":                       "kept",
			"no_change: preference, after: disallow, agents: RoboTestB": "broken",
			"no_change: preference, severity: minor":                    "kept",
			"no_change: all, use: search":                               "kept", "no_change: all, use: ai-train": "broken",
			"no_change: all":                      "broken",
			"preference: disallow, use: ai-train": "kept", "preference: allow, use: ai-train": "broken",
			"preference: [disallow, none], use: ai-train":                  "kept",
			"preference: disallow, use: ai-train, category: search":        "kept",
			"preference: none, use: [search, ai-input]":                    "kept",
			"preference: none, use: [search, ai-train], agents: RoboTestA": "broken",
		}},
		{"the agent is shut out", statingRun{text: stated}, statingRun{text: strings.Replace(stated, "/x", "/", 1)},
			map[string]string{
				"no_change: preference": "broken", "no_change: preference, after: allow": "kept",
				"no_change: preference, use: search": "kept",
				"preference: shut_out, use: search":  "kept", "preference: none, use: search": "broken",
			}},
		{"the agent is let in", statingRun{text: strings.Replace(stated, "/x", "/", 1)}, statingRun{text: stated},
			map[string]string{
				"no_change: preference, after: disallow": "broken", "no_change: preference, after: allow": "kept",
			}},
		{"undecided", statingRun{text: star + "Content-Usage: /a train-ai=n"},
			statingRun{text: star + "Content-Usage: /b train-ai=n"}, map[string]string{
				"no_change: preference": "unchecked 3 undecided", "no_change: preference, after: allow": "unchecked 3 undecided",
				"no_change: preference, use: search":       "kept",
				"no_change: preference, agents: RoboTestA": "unchecked 1 undecided",
				"no_change: preference, at_most: 3":        "kept 3 undecided", "no_change: rules": "kept",
				"preference: partial, use: ai-train, category: search": "kept",
			}},
		{"labels of one's own", statingRun{text: star + "Content-Usage: tdm=n\n"}, statingRun{text: "# x\n" + star +
			"Content-Usage: tdm=n\n", uses: "- {mechanism: content-usage, label: tdm, use: ai-train}\n"}, map[string]string{
			"no_change: preference": "unchecked what files state to RoboTestA about use is not compared: the runs know " +
				"other labels about use",
			"no_change: rules": "kept", "no_change: all": "unchecked what files state",
		}},
		{"a token more", statingRun{text: star, agents: strings.Replace(boundAgents, "policy_tokens: [RoboToken]",
			"user_triggered: false", 1)}, statingRun{text: stated}, map[string]string{
			"no_change: preference": "unchecked what files state to RoboTestA about use is not compared: " +
				"the entry of RoboTestA changed: policy_tokens: not set, now [\"RoboToken\"]",
			"no_change: preference, agents: RoboTestB": "broken", "no_change: policy_class": "kept",
		}},
		{"a token of other uses", statingRun{text: star, agents: strings.Replace(boundAgents, "[ai-train, ai-input]",
			"[ai-train]", 1)}, statingRun{text: stated}, map[string]string{
			"no_change: preference, category: search": "unchecked what files state to RoboTestA about use is not compared: " +
				"the entry of RoboToken changed: uses: [\"ai-train\"], now [\"ai-train\",\"ai-input\"]",
		}},
	} {
		var texts, want, got []string
		for text := range row.want {
			texts = append(texts, text)
		}
		slices.Sort(texts)
		_, r := changesOfStating(t, row.before, row.after, expected(t, texts...), "")
		for _, k := range r.Kinds {
			if k.Kind == "preference" && strings.HasPrefix(row.name, "labels") {
				t.Errorf("%s: %d rows are about preferences, which are not compared", row.name, k.Count)
			}
		}
		for i, p := range r.Expectations {
			state, note, _ := strings.Cut(row.want[texts[i]], " ")
			want = append(want, texts[i]+": "+state+", "+note)
			if note == "" || !strings.HasPrefix(p.Note, note) {
				note = p.Note
			}
			got = append(got, texts[i]+": "+string(p.State)+", "+note)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", row.name, diff, r.Notes)
		}
	}
}
