package evaluate

import (
	"slices"
	"testing"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// statedBy returns the rows of preferences of a file, by a function.
func statedBy(t *testing.T) func(body string) []schema.Preference {
	labels, err := registry.ParseUses("uses.yaml", configs.Uses, nil)
	if err != nil {
		t.Fatal(err)
	}
	google, _ := robots.ProfileNamed("google")
	e := Prepare(Config{Labels: labels, Profiles: []*robots.Profile{google}}).Evaluator()
	return func(body string) []schema.Preference {
		e.read(0, []byte(body), questions{judging: true})
		e.preferences = nil
		e.preferenceRows(&schema.Fetch{}, &e.readings[0].file)
		return e.preferences
	}
}

// Statements contradict each other if one agent follows both: in one group, or in several
// that name one token, whatever other tokens they name.
func TestContradictions(t *testing.T) {
	stated := statedBy(t)
	for _, row := range []struct {
		clause, file string
		want         []int32 // lines in conflict
	}{
		{"a token that one group names second", "User-agent: a\nUser-agent: GPTBot\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: GPTBot\nContent-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"in any case and with a version", "User-agent: a\nUser-agent: gptbot/1.0\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: GPTBot\nContent-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"a token beside *", "User-agent: a\nUser-agent: *\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: a\nContent-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"* beside a token", "User-agent: a\nUser-agent: *\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: *\nContent-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"no token in common", "User-agent: a\nUser-agent: b\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: c\nUser-agent: *\nContent-Signal: ai-train=no\nDisallow:\n", nil},
		{"names without a token are none in common", "User-agent: é\nUser-agent: b\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: é\nUser-agent: c\nContent-Signal: ai-train=no\nDisallow:\n", nil},
		{"each neighbour in common, not the outer ones", "User-agent: a\nContent-Signal: ai-train=yes\nDisallow:\n" +
			"User-agent: a\nUser-agent: b\nContent-Signal: search=no\nDisallow:\nUser-agent: b\nContent-Signal: ai-train=no\nDisallow:\n", nil},
		{"a group that agrees with one that is contradicted elsewhere", "User-agent: a\nContent-Signal: ai-train=yes\nDisallow:\n" +
			"User-agent: a\nUser-agent: b\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: b\nContent-Signal: ai-train=no\nDisallow:\n", []int32{6, 9}},
		{"another path", "User-agent: a\nUser-agent: b\nContent-Usage: /x train-ai=y\nContent-Usage: /y search=n\nDisallow:\nUser-agent: b\nContent-Usage: train-ai=n\nContent-Usage: /y search=y\nDisallow:\n", []int32{4, 8}},
		{"one group", "User-agent: a\nUser-agent: b\nContent-Signal: ai-train=yes\nContent-Signal: search=yes, search=no\nDisallow:\n", []int32{4}},
	} {
		var got []int32
		for _, r := range stated(row.file) {
			if r.Conflict {
				got = append(got, *r.Line)
			}
		}
		if got = slices.Compact(got); !slices.Equal(got, row.want) {
			t.Errorf("%s: lines %v, want %v", row.clause, got, row.want)
		}
	}
}
