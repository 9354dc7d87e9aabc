package diff

import (
	"fmt"
	"testing"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots/usage"
)

// What a file rests on is asked once for all agents that follow the same groups, whatever
// names they have there.
func TestAgentsOfAGroupAreOneQuestion(t *testing.T) {
	of := func(path string) file {
		return file{
			registry: new(past.Registry), groupsRead: true, complete: true, lines: make(map[lineKey]*int32),
			numbers: make(map[string]int),
			list: []records.Group{{Index: 0, Line: 1, Tokens: []string{"a", "b", "c"}},
				{Index: 1, Line: 9, Tokens: []string{"c"}}},
			naming: map[string][]int{"a": {0}, "b": {0}, "c": {0, 1}},
			statements: []records.Statement{{Line: 4, Mechanism: "content-usage", Use: "search", Preference: "allow",
				Path: path}},
		}
	}
	names := new(records.Names)
	files := filePair{names: names, of: [2]file{of("/x"), of("/y")}}
	for _, row := range []struct {
		token     string
		alike     bool
		questions int
	}{{"a", false, 1}, {"b", false, 1}, {"C", false, 2}, {"none", true, 3}} {
		policy := records.Policy{Agent: names.ID(row.token), Group: names.ID(row.token) + 1}
		q := files.about([2]records.Policy{policy, policy}, usage.Search)
		if got := files.sameBasis(q); got != row.alike || len(files.alike) != row.questions {
			t.Errorf("%s: alike %v after %d questions, want %v after %d", row.token, got, len(files.alike), row.alike,
				row.questions)
		}
	}
}

// Statements of groups with other tokens differ, and no statement copies the tokens of its
// group.
func TestKeysOfStatementsAreShort(t *testing.T) {
	f := &file{groupsRead: true, complete: true, list: []records.Group{{Line: 1}, {Line: 9000}}}
	for i := range 4000 {
		f.list[0].Tokens = append(f.list[0].Tokens, fmt.Sprint("bot", i))
		f.statements = append(f.statements, records.Statement{Line: int32(i + 4001), Path: fmt.Sprint("/", i)})
	}
	f.list[1].Tokens = []string{"*"}
	f.statements = append(f.statements, records.Statement{Line: 9001, Path: "/0"})
	f.readPieces()
	if len(f.keys) != len(f.statements) {
		t.Errorf("%d keys of %d statements", len(f.keys), len(f.statements))
	}
	for key := range f.keys {
		if len(key) > 64 {
			t.Fatalf("a key of %d bytes", len(key))
		}
	}
}

// Whose words changed is asked once for all agents that follow the same groups.
func TestWordsOfAGroupAreOneQuestion(t *testing.T) {
	groups := func(digest string) *file {
		return &file{groupsRead: true, list: []records.Group{{Digest: digest}}, naming: map[string][]int{"*": {0}},
			digests: map[string]bool{digest: true}}
	}
	before, after := groups("a"), groups("b")
	names := new(records.Names)
	star := names.ID("*") + 1
	for agent := range uint64(100) {
		if w := after.changed(names, records.Policy{Agent: agent, Group: star}, before); w != (words{}) ||
			len(after.words) != 1 {
			t.Fatalf("%+v after %d questions", w, len(after.words))
		}
	}
}
