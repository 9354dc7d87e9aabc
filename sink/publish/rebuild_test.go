package publish

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// replacing returns a change of a text.
func replacing(old, new string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, new, 1) }
}

// What is published is what is made again of it, whatever is left out.
func TestADataSetIsMadeAgain_NoRace(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"whole":            nil,
		"of one run":       func(c *Config) { c.Runs = c.Runs[1:] },
		"in another order": func(c *Config) { slices.Reverse(c.Runs) },
		"parts left out":   func(c *Config) { c.Without = []string{"bodies", "fetches.outcome", "policies.rank", "changes"} },
		"no counters":      func(c *Config) { c.Without = []string{"summary", "fetches.outcome", "fetches.error_class"} },
		"hashes":           func(c *Config) { c.HashHosts = true },
		"all words": func(c *Config) {
			c.Metadata = Metadata{
				Title: "<A> & \"b\"", Description: "One.\n\nTwo.", Creators: []string{"Doe, Jane", "A & B"},
				Licence: "https://example.org/licence", Contact: "https://example.org/",
				URL: "https://example.org/set", DOI: "10.5281/zenodo.1234", Version: "2.0", Date: "2026-11-30", Keywords: []string{
					"a", "b"},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			folder := aSet(t, change)
			d, err := Check(t.Context(), sinktest.Open(t, folder))
			must(t, err)
			found, err := d.Rebuild(t.Context())
			must(t, err)
			if len(found) > 0 {
				t.Errorf("differences: %v", found)
			}
		})
	}
}

// A file that was changed, planted or removed is found, with all digests made anew.
func TestForgeriesAreFound_NoRace(t *testing.T) {
	const manifest = "_runs/r/manifest.json"
	good := os.DirFS(aSet(t, nil))
	inBoth := func(name string, change func(string) string) func(*testing.T, string) {
		return func(t *testing.T, folder string) {
			edit(t, folder, "_runs/q/"+name, change)
			edit(t, folder, "_runs/r/"+name, change)
		}
	}
	for name, c := range map[string]struct {
		forge func(t *testing.T, folder string)
		want  []string // files, or what is damaged
	}{
		"targets in the provenance": {func(t *testing.T, folder string) {
			edit(t, folder, provenanceName, replacing(`"targets": 6`, `"targets": 999`))
		}, []string{provenanceName}},
		"targets in the data sheet": {func(t *testing.T, folder string) {
			edit(t, folder, datasheetName, replacing("of 6 hosts is undefined", "of 999 hosts is undefined"))
		}, []string{datasheetName}},
		"targets everywhere": {func(t *testing.T, folder string) {
			edit(t, folder, manifest, func(text string) string {
				return sealed(replacing(`"targets": 6`, `"targets": 999`)(text))
			})
			edit(t, folder, provenanceName, func(text string) string {
				at := strings.LastIndex(text, `"targets": 6`)
				return text[:at] + replacing(`"targets": 6`, `"targets": 999`)(text[at:])
			})
			edit(t, folder, datasheetName, func(text string) string {
				at := strings.LastIndex(text, "of 6 hosts")
				return text[:at] + replacing("of 6 hosts", "of 999 hosts")(text[at:])
			})
		}, []string{manifest}},
		"a count in the data sheet": {func(t *testing.T, folder string) {
			edit(t, folder, datasheetName, replacing("| `conditional_allow` | 6 |", "| `conditional_allow` | 5 |"))
		}, []string{datasheetName}},
		"a statement in views.sql": {func(t *testing.T, folder string) {
			edit(t, folder, viewsName, func(text string) string { return text + "COPY fetches TO 'x.csv';\n" })
		}, []string{viewsName}},
		"a statement in a query": {func(t *testing.T, folder string) {
			edit(t, folder, figuresName, func(text string) string { return "INSTALL httpfs;\n" + text })
		}, []string{figuresName}},
		"a query more": {func(t *testing.T, folder string) {
			must(t, os.WriteFile(filepath.Join(folder, "queries", "more.sql"), []byte("COPY fetches TO 'x.csv';\n"), 0o666))
		}, []string{"queries/more.sql"}},
		"a query less": {func(t *testing.T, folder string) {
			must(t, os.Remove(filepath.Join(folder, figuresName)))
		}, []string{croissantName, figuresName}},
		"another citation": {func(t *testing.T, folder string) {
			edit(t, folder, citationName, replacing("Jane", "Joan"))
		}, []string{citationName}},
		"another DOI": {func(t *testing.T, folder string) {
			edit(t, folder, citationName, func(text string) string { return text + "doi: 10.5281/zenodo.1\n" })
		}, []string{citationName}},
		"another creator in the provenance alone": {func(t *testing.T, folder string) {
			edit(t, folder, provenanceName, replacing("Jane", "Joan"))
		},
			[]string{citationName, datasheetName, readmeName, croissantName, packageName}},
		"a meaning in croissant.json": {func(t *testing.T, folder string) {
			edit(t, folder, croissantName, replacing("One row per target", "One row per visitor"))
		}, []string{croissantName}},
		"another licence in datapackage.json": {func(t *testing.T, folder string) {
			edit(t, folder, packageName, replacing("CC-BY-4.0", "CC0-1.0"))
		}, []string{packageName}},
		"a profile in the provenance": {func(t *testing.T, folder string) {
			edit(t, folder, provenanceName, replacing("512000", "512001"))
		}, []string{provenanceName}},
		"another tool in the manifest": {func(t *testing.T, folder string) {
			edit(t, folder, manifest, func(text string) string {
				return sealed(replacing(`"tool_version": "v0"`, `"tool_version": "v9"`)(text))
			})
		}, []string{"_runs/r/against/q.json", provenanceName, datasheetName}},
		"a word more in the manifest": {func(t *testing.T, folder string) {
			edit(t, folder, manifest, func(text string) string { return sealed(replacing("{", "{\n \"note\": \"\",")(text)) })
		}, []string{"_runs/r/against/q.json", manifest}},
		"a table that is said to be left out": {func(t *testing.T, folder string) {
			edit(t, folder, provenanceName, replacing(`"targets": 6`, `"tables_left_out": ["fetches"], "targets": 6`))
		}, []string{provenanceName}},
		"other agents": {inBoth("agents.yaml", replacing("GPTBot", "GPTBob")), []string{"_runs/q/agents.yaml",
			"_runs/r/agents.yaml"}},
		"other URL samples": {inBoth("urls.txt", func(text string) string { return text + "/x\n" }),
			[]string{"_runs/q/urls.txt", "_runs/r/urls.txt"}},
		"a word more in a comparison": {func(t *testing.T, folder string) {
			edit(t, folder, "_runs/r/against/q.json", func(text string) string {
				return sealed(replacing("{", "{\n \"note\": \"\",")(text))
			})
		}, []string{"_runs/r/against/q.json"}},
		"a note": {func(t *testing.T, folder string) {
			must(t, os.WriteFile(filepath.Join(folder, "README.md"), nil, 0o666))
		}, []string{"README.md"}},
		"a plan": {func(t *testing.T, folder string) {
			must(t, os.WriteFile(filepath.Join(folder, "_runs", "r", "plan.json"), []byte("{}"), 0o666))
		}, []string{"_runs/r/plan.json"}},
		"a part that nothing names": {func(t *testing.T, folder string) {
			must(t, os.MkdirAll(filepath.Join(folder, "changes", "run=r", "against=p"), 0o777))
			must(t, os.WriteFile(filepath.Join(folder, "changes", "run=r", "against=p", "part-0000000000.parquet"), nil, 0o666))
		}, []string{"changes/run=r/against=p/part-0000000000.parquet is not of the data set"}},
		"no creator": {func(t *testing.T, folder string) {
			edit(t, folder, provenanceName, replacing("Doe, Jane", ""))
		}, []string{"provenance.json is damaged: the words of the data set: no creator"}},
		"columns that are said to be left out": {func(t *testing.T, folder string) {
			edit(t, folder, provenanceName, replacing(`"without": []`, `"without": ["policies.class"]`))
		}, []string{"provenance.json is damaged: the columns"}},
		"more rows in the manifest": {func(t *testing.T, folder string) {
			edit(t, folder, manifest, func(text string) string { return sealed(replacing(`"rows": 12`, `"rows": 99`)(text)) })
		}, []string{"verdicts/run=r/part-0000000000.parquet is damaged: it has 12 rows, and its manifest says 99"}},
		"the part of another run": {func(t *testing.T, folder string) {
			text, err := os.ReadFile(filepath.Join(folder, "verdicts", "run=q", "part-0000000000.parquet"))
			must(t, err)
			name := filepath.Join(folder, "verdicts", "run=r", "part-0000000000.parquet")
			was, err := os.ReadFile(name)
			must(t, err)
			must(t, os.WriteFile(name, text, 0o666))
			edit(t, folder, manifest, func(text string) string {
				return sealed(replacing(digestOf(was), fileDigest(t, name))(text))
			})
		}, []string{"verdicts/run=r/part-0000000000.parquet is damaged: its metadata do not say that robocensus.run is r"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "set")
			must(t, os.CopyFS(folder, good))
			c.forge(t, folder)
			seal(t, folder)
			var got []string
			d, err := Check(t.Context(), sinktest.Open(t, folder))
			var found []Difference
			if err == nil {
				found, err = d.Rebuild(t.Context())
			}
			for _, f := range found {
				got = append(got, f.Name)
			}
			if err != nil {
				if !errors.Is(err, ErrDamaged) || len(c.want) != 1 || !strings.Contains(err.Error(), c.want[0]) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			slices.Sort(c.want)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, found)
			}
		})
	}
	t.Run("checksums in another order", func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "set")
		must(t, os.CopyFS(folder, good))
		edit(t, folder, checksumsName, func(text string) string {
			lines := strings.SplitAfter(text, "\n")
			lines[0], lines[1] = lines[1], lines[0]
			return strings.Join(lines, "")
		})
		d, err := Check(t.Context(), sinktest.Open(t, folder))
		must(t, err)
		found, err := d.Rebuild(t.Context())
		must(t, err)
		if len(found) != 1 || found[0].Name != checksumsName {
			t.Errorf("%v", found)
		}
	})
}

func fileDigest(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return digestOf(text)
}

// Where a run has no fetches, its counters have its targets.
func TestTargetsOfCounters_NoRace(t *testing.T) {
	folder := aSet(t, func(c *Config) { c.Runs, c.Without = c.Runs[1:], []string{"fetches"} })
	for _, name := range []string{"_runs/r/manifest.json", provenanceName} {
		edit(t, folder, name, func(text string) string {
			if text = replacing(`"targets": 6`, `"targets": 999`)(text); name != provenanceName {
				text = sealed(text)
			}
			return text
		})
	}
	for _, rest := range []string{" is", ": they are unread"} {
		edit(t, folder, datasheetName, replacing("of 6 hosts"+rest, "of 999 hosts"+rest))
	}
	seal(t, folder)
	d, err := Check(t.Context(), sinktest.Open(t, folder))
	must(t, err)
	found, err := d.Rebuild(t.Context())
	must(t, err)
	if len(found) != 1 || found[0].Text != "says 999 targets, and the table summary has 6" {
		t.Errorf("%v", found)
	}
}

// A difference is shown where it is, in little.
func TestFirstDifference(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, c := range []struct{ got, want, text string }{
		{"a\nb\n", "a\nc\n", `line 2 is "b", and not "c"`},
		{"a\n", "a\nc\n", `line 2 is the end, and not "c"`},
		{"a\nb", "a\n", `line 2 is "b", and not the end`},
		{"a\n", "a", "the last line does not end as it should"},
		{"", "a", `line 1 is the end, and not "a"`},
		{long + "1" + long, long + "2" + long, `line 1 is "` + long[:40] + "1" + long[:39] + `", and not "` + long[:40] +
			"2" + long[:39] + `"`},
	} {
		if got := firstDifference([]byte(c.got), []byte(c.want)); got != c.text {
			t.Errorf("%.20q and %.20q: %s, want %s", c.got, c.want, got, c.text)
		}
	}
}

// The words of a data set are in its provenance.
func TestWordsAreRecorded_NoRace(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(aSet(t, nil), provenanceName))
	must(t, err)
	var p provenance
	must(t, json.Unmarshal(text, &p))
	want := Metadata{
		Title: "A census", Description: "What the robots.txt of each host answered, what it contains, and what each agent " +
			"may fetch, as tables for analysis.", Creators: []string{"Doe, Jane"},
		Licence: "CC-BY-4.0", Contact: "census@example.org", Version: "1.0.0", Date: "2026-11-20", Keywords: []string{
			"crawl policies", "robots.txt", "web crawling"},
	}
	if diff := cmp.Diff(want, p.Metadata); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !slices.Equal(p.Runs[0].Inputs, []journal.Input{}) && p.Runs[0].Inputs[0].Path != "hosts.csv" {
		t.Errorf("inputs %v", p.Runs[0].Inputs)
	}
}
