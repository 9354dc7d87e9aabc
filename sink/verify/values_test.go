package verify

import (
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
)

// The comment of an enumerated column names all values, or none and another column that
// does.
func TestCommentsNameEveryValue(t *testing.T) {
	for _, d := range sink.Dictionary() {
		text, _, _ := strings.Cut(d.Meaning, "Example:")
		named := func(value string) bool { return strings.Contains(text, "`"+value+"`") }
		all := slices.DeleteFunc(slices.Clone(values[d.Table][d.Column]), func(value string) bool {
			return value == "" || value == string(answer.ErrorCanceled) // a run that is stopped has no row of it
		})
		if !slices.ContainsFunc(all, named) || strings.Contains(text, "…") {
			continue
		}
		for _, value := range all {
			if !named(value) {
				t.Errorf("the comment of %s.%s (package schema) does not name its value `%s`", d.Table, d.Column, value)
			}
		}
	}
}
