package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/publish"
	"github.com/robocensus/robocensus/sink/schema"
)

// reproducedInPart reproduces the runs of askedForAll, and runs made of them, published without tables
// and columns. None is different or refused, and what is not compared is named, in the last line too.
func reproducedInPart(t *testing.T, dir string) {
	t.Helper()
	const documents = "preferences (statements of documents), documents, summary (document), examples (document), " +
		"label_counts (document)"
	for i, c := range []struct{ runs, without, last string }{
		{"r", "", "preferences (statements of documents), labels (sector), documents, summary (document), examples " +
			"(document), label_counts (document)"},
		{"archive", "", documents},
		{"again planned", "", "labels (sector)"},
		{"r archive", "answers", "documents, summary (answer, document, page_met), examples (document), label_counts " +
			"(answer, document, page_met), bodies"},
		{"again planned", "answers", "labels (sector), summary (answer, page_met), label_counts (answer, page_met), bodies"},
		{"archive", "answers.treatment",
			"preferences (statements of documents), answers, documents, summary (answer, document, page_met)"},
		{"again planned", "answers.path,answers.remark",
			"answers, labels (sector), summary (answer, page_met), label_counts (answer, page_met), bodies"},
		{"unlisted", "", "sitemap_files, coverage, documents, summary (coverage, document, listed_closed, sitemap_file, " +
			"sitemap_host)"},
		{"unlisted", "sitemap_files",
			"coverage, documents, summary (coverage, document, listed_closed, sitemap_file, sitemap_host)"},
		{"r", "urls", "sitemap_files, coverage, documents, summary (coverage, document, listed_closed, sitemap_file, " +
			"sitemap_host)"},
		{"again", "urls.lastmod",
			"sitemap_files, coverage, urls, summary (coverage, listed_closed, sitemap_file, sitemap_host)"},
		{"archive", "sitemap_files.remark,preferences.document", "preferences, sitemap_files, coverage, documents, summary " +
			"(coverage, document, listed_closed, sitemap_file, sitemap_host)"},
		{"r", "documents", "preferences (statements of documents), labels (sector), summary (document)"},
		{"archive", "documents,preferences.document", "preferences, summary (document)"},
		{"r", "answers.price_header",
			"preferences (statements of documents), labels (sector), documents, summary (document)"},
		{"again", "labels.host", "labels, label_counts"},
		{"r", "labels,label_counts",
			"preferences (statements of documents), documents, summary (document), examples (document)"},
		{"again", "fetches.cdn", "labels, label_counts (cdn)"},
		{"again", "verdicts", "labels (sector), summary (verdict), label_counts (verdict)"},
		{"r archive again unlisted", strings.Join(harmless(), ","), ""},
	} {
		runs := strings.Fields(c.runs)
		if testing.Short() { // every third has each run and lacks most kinds of tables, but labels in part
			if i%3 != 1 && c.without != "labels.host" {
				continue
			}
			runs = runs[:1]
		}
		for _, run := range runs {
			set := filepath.Join(t.TempDir(), "set")
			args := []string{"publish", "--out", dir, run, "--to", set, "--creator", "A", "--licence", "CC0-1.0", "--without",
				c.without}
			if c.without == "" {
				args = args[:len(args)-2]
			}
			call(t, 0, args...)
			text := call(t, 0, "reproduce", set)
			named := func(want string) bool { return strings.Contains(text, want) }
			last := strings.TrimSpace(text[strings.LastIndex(strings.TrimSpace(text), "\n"):])
			if !strings.HasPrefix(last, "the same, as far as compared (not compared: ") || !strings.Contains(last, c.last) ||
				!named("run "+run+": policies: the same, ") || !named("run "+run+": summary: the same, ") {
				t.Errorf("run %s without %.100s: want %q:\n%s", run, c.without, c.last, last)
			}
		}
	}
	bodies, _, _ := dumpBodies(t, dir)
	set := filepath.Join(t.TempDir(), "set")
	publishTo(t, dir, set, "--without", "bodies")
	if text := call(t, 0, "reproduce", set, "--bodies", bodies); !strings.Contains(text,
		"answers: not compared (the data set does not have what ") ||
		!strings.Contains(text, "run r: policies: the same, ") {
		t.Errorf("bodies are given, of which those of answers to identities are none:\n%s", text)
	}
	tamperedInPart(t, dir)
}

// harmless are the columns, as table.column, without which all that remains is compared.
func harmless() (all []string) {
	deciding := regexp.MustCompile(
		`^(summary|changes|series|sitemap_files|urls|labels)\.|\.(seq|host|agent|profile|metric|key|category|count)$|` +
			`^(bodies|verdicts\.url|preferences\.document|fetches\.cdn|label_counts)`)
	for _, name := range publish.ColumnNames() {
		table, _, _ := strings.Cut(name, ".")
		lacking := &journal.Manifest{Plan: journal.Plan{Tables: []string{"answers"}}, Without: []string{name}}
		if deciding.MatchString(name) || len(journal.Needed([]string{name})) > 0 || table == "answers" &&
			!lacking.HasAnswers() {
			continue
		}
		all = append(all, name)
	}
	return all
}

// tamperedInPart changes rows beside those that are not compared.
func tamperedInPart(t *testing.T, dir string) {
	t.Helper()
	set := filepath.Join(t.TempDir(), "set")
	publishTo(t, dir, set)
	tampered(t, set, "preferences", changedRows(t, func(all []schema.Preference) {
		at := slices.IndexFunc(all, func(p schema.Preference) bool { return p.Document == nil })
		all[at].Preference = new("allow")
	}))
	checksummed(t, set)
	if text := call(t, 1, "reproduce", set); !strings.Contains(text, "run r: preferences: different: ") {
		t.Errorf("a statement of robots.txt is changed:\n%s", text)
	}
	set = filepath.Join(t.TempDir(), "set")
	publishTo(t, dir, set, "--without", "label_counts")
	tampered(t, set, "labels", changedRows(t, func(all []schema.Label) {
		at := slices.IndexFunc(all, func(l schema.Label) bool { return l.Label == schema.LabelCDN })
		all[at].Value = "fastly"
	}))
	checksummed(t, set)
	if text := call(t, 1, "reproduce", set, "--sample", "0.9999"); !strings.Contains(text, "run r: labels: different: ") {
		t.Errorf("a label of the program is changed:\n%s", text)
	}
}

// changedRows returns what changes rows of a part.
func changedRows[R any](t *testing.T, change func(all []R)) func(*journal.Part, []byte) []byte {
	return func(_ *journal.Part, content []byte) []byte {
		rows, err := parquet.Read[R](bytes.NewReader(content), int64(len(content)))
		must(t, err)
		change(rows)
		opened, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
		must(t, err)
		var options []parquet.WriterOption
		for _, pair := range opened.Metadata().KeyValueMetadata {
			options = append(options, parquet.KeyValueMetadata(pair.Key, pair.Value))
		}
		var out bytes.Buffer
		must(t, parquet.Write(&out, rows, options...))
		return out.Bytes()
	}
}

// Where a program reads a body by its type, the type is needed; it is not otherwise.
func TestContentTypesAreNeeded_NoRace(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, "User-agent: *\nDisallow: /x\n")
	}))
	defer server.Close()
	for profile, code := range map[string]int{"google": 0, "google,robotstxt-r": 65} {
		dir := t.TempDir()
		call(t, 0, "run", "a.example", "--out", dir, "--run", "r", "--profile", profile, "--schemes", "http", "--connect-to",
			server.Listener.Addr().String(), "--keep-bodies", "--progress", "none")
		for _, lost := range []string{"fetches.content_type", "fetches.http_version"} {
			set := filepath.Join(t.TempDir(), "set")
			publishTo(t, dir, set, "--without", lost)
			if text := call(t, code, "reproduce", set); code != 0 && !strings.Contains(text, "cannot be re-evaluated without "+
				lost+"\n") {
				t.Errorf("%s without %s:\n%s", profile, lost, text)
			}
		}
	}
}
