package diff

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/audit/meaning"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// A ruleEdit changes a real file in a way whose meaning is known. Its texts
// have RULE for a plain path that the group for all disallows, in a line of its
// own, and no other rule of the file is an allow rule.
type ruleEdit struct {
	name          string
	before, after string // the lines in place of the line of that rule
	behind        string // stands behind the file in the later run
	always        string // stands behind the file in both
	whole         func(text string) string
	starless      bool   // of files without stars: one of them may cover any path
	path          string // that must change its verdict for everybody, "" for none
	changes       string // as showChange, without the host; every line for each profile
}

// forAll is a change of the policies of all agents of the registry, who follow
// the group for all.
func forAll(change string) string {
	var out []string
	for _, agent := range []string{"RoboTestA search", "RoboTestB ai-training", "RoboTestC other"} {
		out = append(out, strings.Replace(change, "AGENT", agent, 1))
	}
	return strings.Join(out, "\n")
}

const sameMeaning = "text cosmetic - - - - {D} {D} - -"

var ruleEdits = []ruleEdit{
	{name: "an implied rule is added", after: "Disallow: RULE\nDisallow: RULEimplied/", changes: sameMeaning},
	{name: "an implied rule with stars is added", after: "Disallow: RULE\nDisallow: RULE*/x*y$", changes: sameMeaning},
	{name: "a rule is split", after: "Disallow: RULE$\nDisallow: RULE*", changes: sameMeaning},
	{name: "a rule is split by its first letter, and the last is forgotten",
		before: "Disallow: RULE\nDisallow: /robotest/", after: "Disallow: RULE\nDisallow: /robotest/a\nDisallow: /robotest/$",
		path: "/robotest/!", changes: forAll("rules minor AGENT {P} /robotest/! - opens {L+1} -")},
	{name: "a rule is split, and something is lost", after: "Disallow: RULE$\nDisallow: RULE/", path: "RULE!",
		changes: forAll("rules minor AGENT {P} RULE! - opens {L} -")},
	{name: "an escape changes its case", before: "Disallow: /robotest%c3%a9", after: "Disallow: /robotest%C3%A9",
		changes: sameMeaning},
	{name: "an escape becomes what it stands for", before: "Disallow: /robotest%C3%A9",
		after: "Disallow: /robotest\u00e9", changes: sameMeaning},
	{name: "a byte becomes its escape", before: "Disallow: /robotest\xe9", after: "Disallow: /robotest%E9",
		changes: sameMeaning},
	{name: "a letter is escaped", before: "Disallow: /robotest-x", after: "Disallow: /robotest%2Dx", path: "/robotest%2Dx",
		changes: strings.ReplaceAll(forAll("rules major AGENT {P} /robotest%2Dx - both - {L}"), "{P}", "google")},
	{name: "the group is copied for a named agent", behind: "\n\nUser-agent: RoboTestB\nCOPY",
		changes: "group minor RoboTestB ai-training - - - partial - {N}"},
	{name: "it is copied, and a path closed", behind: "\n\nUser-agent: RoboTestB\nCOPYDisallow: /robotest",
		path: "/robotest",
		changes: "group minor RoboTestB ai-training - - - partial - {N}\nrules major RoboTestB ai-training {P} /robotest " +
			"- closes - {E}"},
	{name: "a path is closed that no sample names", after: "Disallow: RULE\nDisallow: /robotest", path: "/robotest",
		changes: forAll("rules major AGENT {P} /robotest - closes - {L+1}")},
	{name: "a path is opened that no sample names", before: "Disallow: RULE\nDisallow: /robotest",
		after: "Disallow: RULE", path: "/robotest", changes: forAll("rules minor AGENT {P} /robotest - opens {L+1} -")},
	{name: "a query is closed", after: "Disallow: RULE\nDisallow: /*?robotest=", path: "/?robotest=",
		changes: forAll("rules major AGENT {P} /?robotest= - closes - {L+1}")},
	{name: "a path moves", before: "Disallow: /robotest", after: "Disallow: /robomoved", path: "/robotest",
		changes: forAll("rules major AGENT {P} /robomoved - both - {L}")},
	{name: "an exception", after: "Disallow: RULE\nAllow: RULErobotest", path: "RULErobotest",
		changes: forAll("rules minor AGENT {P} RULErobotest - opens {L} {L+1}")},
	{name: "an exception of nothing", starless: true, after: "Disallow: RULE\nAllow: /robotest", changes: sameMeaning},
	{name: "a rule is doubled", after: "Disallow: RULE\ndisallow : RULE # again", changes: sameMeaning},
	{name: "a comment", after: "# today\nDisallow: RULE", changes: sameMeaning},
	{name: "other ends of lines", whole: func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		changes: sameMeaning},
	{name: "a group of strangers", always: "\n\nUser-agent: RoboStranger\nUser-agent: RoboOther\nDisallow: /a",
		behind:  "\nDisallow: /b",
		changes: "rules major robostranger - {P} /b - closes - {E}\nrules major roboother - {P} /b - closes - {E}"},
	{name: "a group of strangers, with an implied rule", always: "\n\nUser-agent: RoboStranger\nDisallow: /a",
		behind: "\nDisallow: /a/b\nAllow: /b", changes: sameMeaning},
}

// plainRule is a rule that edits can be made of.
var plainRule = regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_-]+$`)

// A realFile is a file that edits can be made of.
type realFile struct {
	lines []string
	line  int // of the rule
	rule  string
	copy  string // the rules of the group for all
}

// realFiles are those of the corpus: one group for all, which is partial, no
// allow rules, and what the profiles read alike.
func realFiles(t *testing.T) (out []realFile) {
	google, _ := robots.ProfileNamed("google")
	texts := corpusTexts(t)
	for _, host := range slices.Sorted(maps.Keys(texts)) {
		text := texts[host]
		f := meaning.Parse(google, []byte(text))
		f.Ask(google, []robots.Agent{{Name: "*"}})
		p := f.Policy(0)
		stars := 0
		for _, a := range f.Agents {
			if string(a.Token) == "*" {
				stars++
			}
		}
		if stars != 1 || p.Class() != robots.Partial || len(text) > 20_000 || len(f.Remarks) > 0 ||
			strings.Contains(text, "\r") || strings.HasPrefix(text, "\ufeff") || strings.Contains(strings.ToLower(text),
			"robo") && strings.Contains(strings.ToLower(text), "test") ||
			slices.ContainsFunc(f.Rules, func(r robots.Rule) bool {
				return r.Kind == robots.Allow || !r.Effective || r.Wildcard && r.Pattern[0] == '*'
			}) {
			continue
		}
		r := realFile{lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
		for _, x := range f.Rules {
			if f.Groups[x.Group].Line != p.GroupLine {
				continue
			}
			r.copy += fmt.Sprintf("Disallow: %s\n", x.Pattern)
			if r.rule == "" && plainRule.Match(x.Pattern) {
				r.rule, r.line = string(x.Pattern), int(x.Line)
			}
		}
		if r.rule != "" {
			out = append(out, r)
		}
	}
	return out
}

// edited is a file before and after an edit.
func (r *realFile) edited(e *ruleEdit) (before, after string) {
	with := func(lines, behind string) string {
		if lines == "" {
			lines = "Disallow: RULE"
		}
		all := slices.Clone(r.lines)
		all[r.line-1] = lines
		return strings.NewReplacer("RULE", r.rule, "COPY", r.copy).Replace(strings.Join(all, "\n") + e.always + behind)
	}
	before, after = with(e.before, ""), with(e.after, e.behind)
	if e.whole != nil {
		after = e.whole(after)
	}
	return before, after
}

// fits says whether the edit changes what it is meant to change: another rule
// of the file may cover it.
func (r *realFile) fits(e *ruleEdit, before, after string) bool {
	if e.path == "" {
		return !e.starless || !strings.Contains(r.copy, "*")
	}
	google, _ := robots.ProfileNamed("google")
	var values []robots.Value
	for _, text := range []string{before, after} {
		f := meaning.Parse(google, []byte(text))
		f.Ask(google, []robots.Agent{{Name: "RoboTestB", Tokens: []string{"RoboTestB"}}})
		target := google.LiteralTarget(strings.ReplaceAll(e.path, "RULE", r.rule))
		values = append(values, f.Policy(0).Judge(&target).Value)
	}
	return values[0] != values[1]
}

// TestEditsOfRealFiles: every one of some 300 edits of real files is told by
// what it means, from the tables alone and from the bodies.
func TestEditsOfRealFiles(t *testing.T) {
	files := realFiles(t)
	if len(files) < 100 {
		t.Fatalf("%d files are too few", len(files))
	}
	google, _ := robots.ProfileNamed("google")
	rfc, _ := robots.ProfileNamed("rfc9309")
	folders := [2]string{t.TempDir(), t.TempDir()}
	var want [2][]string // from the tables; from bodies
	n, of := 0, make(map[string]int)
	most := 308
	if testing.Short() {
		most = 3 * len(ruleEdits)
	}
	for i := 0; n < most && i < 20*len(files); i++ {
		e, r := &ruleEdits[n%len(ruleEdits)], &files[i%len(files)]
		before, after := r.edited(e)
		if !r.fits(e, before, after) {
			continue
		}
		host := fmt.Sprintf("h%03d.example", n)
		n++
		of[host] = i
		for k, text := range []string{before, after} {
			sinktest.Must(t, os.WriteFile(filepath.Join(folders[k], host), []byte(text), 0o666))
		}
		numbers := strings.NewReplacer("RULE", r.rule, "{L}", fmt.Sprint(r.line), "{L+1}", fmt.Sprint(r.line+1),
			"{N}", fmt.Sprint(len(r.lines)+2), "{E}", fmt.Sprint(strings.Count(after, "\n")+1))
		for line := range strings.SplitSeq(e.changes, "\n") {
			line = host + " " + numbers.Replace(line)
			want[0] = append(want[0], strings.ReplaceAll(line, "{P}", "google"))
			want[1] = append(want[1], strings.ReplaceAll(line, "{P}", "google"))
			if strings.Contains(line, "{P}") {
				want[1] = append(want[1], strings.ReplaceAll(line, "{P}", "rfc9309"))
			}
		}
	}
	if n < min(most, 300) {
		t.Fatalf("%d edits", n)
	}
	const tables = "fetches groups rules signals preferences sitemaps agents policies verdicts"
	for i, c := range []struct {
		name, tables string
		profiles     []*robots.Profile
	}{{"from tables", tables, []*robots.Profile{google}}, {"from bodies", tables + " bodies", []*robots.Profile{
		google, rfc}}} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			audittest.StoredRun(t, dir, "a", folders[0], c.tables, c.profiles...)
			audittest.StoredRun(t, dir, "b", folders[1], c.tables, c.profiles...)
			_, err := Runs(context.Background(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
			sinktest.Must(t, err)
			var got []string
			rows := changesOf(t, dir, "b", "a")
			for k := range rows {
				got = append(got, showChange(&rows[k]))
			}
			slices.Sort(got)
			slices.Sort(want[i])
			if diff := cmp.Diff(want[i], got); diff != "" {
				t.Errorf("%d edits (-want +got):\n%s", n, diff)
			}
		})
	}
}
