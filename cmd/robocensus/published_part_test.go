package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The documents of a data set describe the tables and columns that it has, and no
// others.
func TestADataSetDescribesWhatItHas_NoRace(t *testing.T) {
	t.Parallel()
	dir, whole := published(t)
	sheets := map[string]string{"": filesOf(t, whole)["DATASHEET.md"]}
	for _, c := range []struct {
		args     string
		about    string   // the description
		has, not []string // of DATASHEET.md
	}{
		{
			"--without=lines", "What the robots.txt of each host answered, what it contains, and what each agent may fetch, " +
				"as tables for analysis.",
			[]string{"; `robocensus reproduce` judges the answers again", "| outcome | hosts |", "the class of a policy"}, nil,
		},
		{
			"--without=policies,verdicts,bodies", "What the robots.txt of each host answered and what it contains, " +
				"as tables for analysis.",
			[]string{"`robocensus reproduce --bodies` judges the answers again, given the files"},
			[]string{"the class of a policy"},
		},
		{
			"--without=fetches,summary", "What the robots.txt of each host contains and what each agent may fetch, " +
				"as tables for analysis.",
			[]string{"- No table that is published counts the hosts by outcome.",
				"- No table that is published counts the hosts by error class."}, []string{"robocensus reproduce",
				"| outcome | hosts |", "The outcome of", "| error class |"},
		},
		{
			"--without=fetches.outcome,summary", "What the robots.txt of each host answered, what it contains, and what each " +
				"agent may fetch, as tables for analysis.",
			[]string{"- No table that is published counts the hosts by outcome.", "| error class | hosts |",
				"; `robocensus reproduce` judges the answers again"}, []string{"| outcome | hosts |"},
		},
		{
			"--without=fetches,groups,rules,sitemaps,lines,signals,preferences,templates,answers,bodies,policies,verdicts",
			"Figures of a census of crawl policies, as tables for analysis.",
			[]string{"| outcome | hosts |"}, []string{"robocensus reproduce"},
		},
		{"--hash-hosts", "What the robots.txt",
			[]string{"who guesses a name can check it, and a rank in a public list, or a digest of a file"},
			[]string{"robocensus reproduce"}},
	} {
		folder := filepath.Join(t.TempDir(), "set")
		publishTo(t, dir, folder, c.args)
		files := filesOf(t, folder)
		sheet := files["DATASHEET.md"]
		sheets[c.args] = sheet
		for name, text := range map[string]string{"DATASHEET.md": sheet, "croissant.json": files["croissant.json"],
			"CITATION.cff": strings.Join(strings.Fields(files["CITATION.cff"]), " ")} {
			if !strings.Contains(text, c.about) {
				t.Errorf("%s: %s does not say %q", c.args, name, c.about)
			}
		}
		for _, text := range c.has {
			if !strings.Contains(sheet, text) {
				t.Errorf("%s: the data sheet does not say %q:\n%s", c.args, text, sheet)
			}
		}
		for _, text := range c.not {
			if !strings.Contains(sheets[""], text) {
				t.Errorf("no data sheet says %q", text)
			}
			if strings.Contains(sheet, text) {
				t.Errorf("%s: the data sheet says %q", c.args, text)
			}
		}
		// views.sql describes the columns of the tables that are there.
		for table := range strings.SplitSeq(strings.TrimPrefix(c.args, "--without="), ",") {
			if views := files["views.sql"]; strings.Contains(views, "COMMENT ON COLUMN "+table+".") ||
				strings.Contains(views, "--tables") {
				t.Errorf("%s: views.sql describes %s, or says how to write a table", c.args, table)
			}
		}
	}
	folder := filepath.Join(t.TempDir(), "set")
	publishTo(t, dir, folder, "--hash-hosts", "--without",
		"fetches.content_digest,fetches.rank,preferences,templates,answers,policies,verdicts,examples")
	if sheet := filesOf(t, folder)["DATASHEET.md"]; !strings.Contains(sheet, "who guesses a name can check it.\n") {
		t.Errorf("neither ranks nor digests are there:\n%s", sheet)
	}
}
