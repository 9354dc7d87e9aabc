package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
)

// An archive that is named again, by another path, link or spelling, is read once, and
// rejected.csv says so: of a run without shards and in the first shard.
func TestArchivesAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return dir + "/" + name }
	for _, name := range []string{"a.warc", "b.warc"} {
		must(t, os.WriteFile(at(name), []byte(name), 0o666))
	}
	must(t, os.Mkdir(at("c"), 0o777))
	must(t, os.WriteFile(at("c/a.warc"), []byte("a.warc"), 0o666)) // the same bytes are not another name
	must(t, os.Symlink("a.warc", at("link.warc")))
	must(t, os.Symlink(dir, at("round")))
	if err := os.Link(at("b.warc"), at("hard.warc")); err != nil {
		t.Skip(err)
	}
	type again struct {
		line  int64
		path  string
		first string
	}
	for what, row := range map[string]struct {
		of     Config
		inputs []string
		again  []again
	}{
		"a list": {
			Config{Paths: writeFile(t, "list", []byte(strings.Join([]string{
				at("a.warc"), "# a remark", at("./a.warc"), at("c/../a.warc"), at("c/a.warc"), at("link.warc"), at("b.warc"),
				at("round/a.warc"), at("hard.warc"), at("a.warc"),
			}, "\n")))},
			[]string{at("a.warc"), at("c/a.warc"), at("b.warc")},
			[]again{{3, at("./a.warc"), at("a.warc")}, {4, at("c/../a.warc"), at("a.warc")}, {6, at("link.warc"), at("a.warc")},
				{8, at("round/a.warc"), at("a.warc")}, {9, at("hard.warc"), at("b.warc")}, {10, at("a.warc"), at("a.warc")}},
		},
		"URLs": {
			Config{Paths: writeFile(t, "list", []byte("https://h.example/a~b.warc?sig=1\n"+
				"HTTPS://H.example:443/a%7Eb.warc?sig=1#x\nhttps://h.example/a~b.warc?sig=2\nhttps://h.example/A~b.warc\n"))},
			[]string{"https://h.example/a~b.warc", "https://h.example/a~b.warc#2", "https://h.example/A~b.warc"},
			[]again{{2, "HTTPS://H.example:443/a%7Eb.warc", "https://h.example/a~b.warc"}},
		},
		"a base": {
			Config{Paths: writeFile(t, "list", []byte("x/a.warc\nx/./a.warc\nhttps://h.example/crawl/x/a.warc\nx/b.warc\n")),
				Base: "https://h.example/crawl/"},
			[]string{"x/a.warc", "x/b.warc"},
			[]again{{2, "x/./a.warc", "x/a.warc"}, {3, "https://h.example/crawl/x/a.warc", "x/a.warc"}},
		},
		"patterns": {
			Config{WARC: []string{at("b.warc"), at("*.warc")}}, []string{at("b.warc"), at("a.warc")},
			[]again{{0, at("b.warc"), at("b.warc")}, {0, at("hard.warc"), at("b.warc")}, {0, at("link.warc"), at("a.warc")}},
		},
	} {
		t.Run(what, func(t *testing.T) {
			s, err := Open(t.Context(), row.of)
			must(t, err)
			var inputs []string
			for _, in := range s.Inputs() {
				inputs = append(inputs, in.Path)
			}
			if diff := cmp.Diff(row.inputs, inputs); diff != "" {
				t.Errorf("inputs (-want +got):\n%s", diff)
			}
			want := "line,text,reason,input\n"
			var repeated []journal.Repeated
			for _, a := range row.again {
				repeated = append(repeated, journal.Repeated{Line: a.line, Path: a.path, First: a.first})
				input := "warc-paths"
				if a.line == 0 {
					input = "warc"
				}
				want += fmt.Sprintf("%d,%s,duplicate: the same archive as %s,%s\n", a.line, a.path, a.first, input)
			}
			if diff := cmp.Diff(repeated, s.Repeated()); diff != "" {
				t.Errorf("repeated (-want +got):\n%s", diff)
			}
			planned := row.of
			planned.Archives, planned.Repeated = s.Inputs(), s.Repeated()
			for i := range 3 {
				of := planned
				of.Shard = target.Shard{Index: i % 2, Count: 2}
				if i == 2 {
					of = row.of
				}
				s, err := Open(t.Context(), of)
				must(t, err)
				in, err := store.CreateFolder(t.TempDir())
				must(t, err)
				defer in.Close()
				file, err := in.Create("rejected.csv")
				must(t, err)
				rejects := input.NewAccount(file, nil, func(int64) {})
				must(t, s.Start(t.Context(), rejects, nil))
				_, err = rejects.Finish()
				must(t, err)
				must(t, file.Publish())
				text, err := os.ReadFile(filepath.FromSlash(in.Path("rejected.csv")))
				must(t, err)
				if i == 1 {
					if n := strings.Count(string(text), "\n"); n != 1 || rejects.Lines() > 0 {
						t.Errorf("the second shard rejects, too:\n%s", text)
					}
					continue
				}
				if diff := cmp.Diff(want, string(text)); diff != "" || rejects.Lines() != int64(len(row.again)) {
					t.Errorf("rejected.csv (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A plan does not hold the query of a URL, so no process of the run could read such an
// archive.
func TestAPlanHasNoQueries(t *testing.T) {
	c := Config{Paths: writeFile(t, "list", []byte("https://h.example/a.warc\nhttps://h.example/b.warc?sig=secret\n"))}
	if _, err := Open(t.Context(), c); err != nil {
		t.Error(err)
	}
	c.Planning = true
	if _, err := Open(t.Context(), c); err == nil || !strings.Contains(err.Error(), "list:2: names a URL with a query") ||
		strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
}
