package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// What a file rests on is asked once for all agents that follow the same groups, whatever
// names they have there.
func TestAgentsOfAGroupAreOneQuestion(t *testing.T) {
	of := func(path string) *statedFile {
		return &statedFile{
			registry: new(past.Registry), complete: true, lines: make(map[lineKey]*int32), numbers: make(map[string]int),
			fileGroups: &fileGroups{
				list:   []records.Group{{Index: 0, Line: 1, Tokens: []string{"a", "b", "c"}}, {Index: 1, Line: 9, Tokens: []string{"c"}}},
				naming: map[string][]int{"a": {0}, "b": {0}, "c": {0, 1}},
			},
			statements: []records.Statement{{Line: 4, Mechanism: "content-usage", Use: "search", Preference: "allow", Path: path}},
		}
	}
	files := statedFiles{of: [2]*statedFile{of("/x"), of("/y")}}
	for i, row := range []struct {
		token     string
		alike     bool
		questions int
	}{{"a", false, 1}, {"b", false, 1}, {"c", false, 2}, {"none", true, 3}} {
		var q [2]stating
		for i, f := range files.of {
			q[i] = stating{f.groupsOf(&row.token), f.tokensOf(row.token), "search"}
		}
		if got := files.restAlike(q); got != row.alike || len(files.alike) != row.questions {
			t.Errorf("%d: %s: alike %v after %d questions, want %v after %d", i, row.token, got, len(files.alike), row.alike, row.questions)
		}
	}
}

// Statements are told apart by the tokens of their group without a copy of these for each.
func TestKeysOfStatementsAreShort(t *testing.T) {
	f := &statedFile{complete: true, fileGroups: &fileGroups{list: []records.Group{{Line: 1}, {Line: 9000}}}}
	for i := range 4000 {
		f.list[0].Tokens = append(f.list[0].Tokens, fmt.Sprint("bot", i))
		f.statements = append(f.statements, records.Statement{Line: int32(i + 4001), Path: fmt.Sprint("/", i)})
	}
	f.list[1].Tokens = []string{"*"}
	f.statements = append(f.statements, records.Statement{Line: 9001, Path: "/0"})
	f.loadPieces()
	if len(f.keys) != len(f.statements) {
		t.Errorf("%d keys of %d statements", len(f.keys), len(f.statements))
	}
	for key := range f.keys {
		if len(key) > 64 {
			t.Fatalf("a key of %d bytes", len(key))
		}
	}
}

// One host with many lines about use, of which one changes.
func BenchmarkManyLinesOfUse(b *testing.B) {
	for _, agents := range []int{1, 179} {
		b.Run(fmt.Sprint(agents), func(b *testing.B) {
			dir := b.TempDir()
			var names strings.Builder
			for i := range agents {
				fmt.Fprintf(&names, "- {name: Bot%d}\n", i)
			}
			for _, run := range []string{"a", "b"} {
				var file strings.Builder
				file.WriteString("User-agent: *\nDisallow: /x\n")
				for i := range 11_000 {
					fmt.Fprintf(&file, "Content-Usage: /%d train-ai=n,search=y\n", i)
				}
				fmt.Fprintf(&file, "Content-Usage: /%s train-ai=n\n", run)
				statingRun{text: file.String(), agents: names.String()}.run(b, dir, run)
			}
			for b.Loop() {
				if _, err := Runs(b.Context(), Config{In: sinktest.Open(b, dir), Before: "a", After: "b"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
