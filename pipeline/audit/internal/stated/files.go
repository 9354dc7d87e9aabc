package stated

import (
	"maps"

	"github.com/robocensus/robocensus/pipeline/audit/internal/records"
	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/robots/usage"
)

// Files are the files of a host in two runs, before and after.
type Files struct {
	names *records.Names
	of    [2]file
	alike map[Question]bool // once asked for
}

// New returns the files that rows of two runs show. names has the texts of these rows.
func New(rows *[2]records.Rows, names *records.Names, before, after *past.Registry) Files {
	return Files{names: names, of: [2]file{{rows: &rows[0], registry: before}, {rows: &rows[1], registry: after}}}
}

// Question asks both files what they state about a use. It is one question for all agents
// that follow the same groups and that the same policy tokens bind.
type Question [2]asked

// About returns the question what the files state about a use to the agent of two rows of
// policies.
func (f *Files) About(two [2]records.Policy, use usage.Use) (q Question) {
	agent := f.names.Text(two[1].Agent)
	for i := range f.of {
		of := &f.of[i]
		q[i] = asked{of.set(f.names.Optional(two[i].Group)), of.tokensBinding(agent), use.String()}
	}
	return q
}

// Alike reports whether what both files state rests on the same.
func (f *Files) Alike(q Question) bool {
	alike, known := f.alike[q]
	if !known {
		if f.alike == nil {
			f.alike = make(map[Question]bool)
		}
		alike = maps.Equal(f.of[0].basis(q[0]), f.of[1].basis(q[1]))
		f.alike[q] = alike
	}
	return alike
}

// Lines returns the first line of each file that says what a stance before and after is:
// of one that depends on the path, the first that says anything. It is nil if none does.
func (f *Files) Lines(q Question, stanceBefore, stanceAfter string) (before, after *int32) {
	return f.of[0].line(q[0], stanceBefore), f.of[1].line(q[1], stanceAfter)
}

// Words returns the template in whose words the answers differ, nil for the files' own.
// known is false if no line shows it: none states what a policy token says by the rules
// for *.
func (f *Files) Words(q Question) (template *string, known bool) {
	return changedIn(f.of[0].stated(q[0], &f.of[1]), f.of[1].stated(q[1], &f.of[0]))
}

// GroupWords does the same for the groups that decide by two rows of policies.
func (f *Files) GroupWords(two [2]records.Policy) (template *string, known bool) {
	return changedIn(f.of[0].changed(f.names, two[0], &f.of[1]), f.of[1].changed(f.names, two[1], &f.of[0]))
}
