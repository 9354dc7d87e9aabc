package evaluate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
		{"a token that one group names second", "User-agent: a\nUser-agent: GPTBot\nContent-Signal: ai-train=yes\n" +
			"Disallow:\nUser-agent: GPTBot\nContent-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"in any case and with a version", "User-agent: a\nUser-agent: gptbot/1.0\nContent-Signal: ai-train=yes\n" +
			"Disallow:\nUser-agent: GPTBot\nContent-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"a token beside *", "User-agent: a\nUser-agent: *\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: a\n" +
			"Content-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"* beside a token", "User-agent: a\nUser-agent: *\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: *\n" +
			"Content-Signal: ai-train=no\nDisallow:\n", []int32{3, 6}},
		{"no token in common", "User-agent: a\nUser-agent: b\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: c\n" +
			"User-agent: *\nContent-Signal: ai-train=no\nDisallow:\n", nil},
		{"names without a token are none in common", "User-agent: é\nUser-agent: b\nContent-Signal: ai-train=yes\n" +
			"Disallow:\nUser-agent: é\nUser-agent: c\nContent-Signal: ai-train=no\nDisallow:\n", nil},
		{"each neighbour in common, not the outer ones", "User-agent: a\nContent-Signal: ai-train=yes\nDisallow:\n" +
			"User-agent: a\nUser-agent: b\nContent-Signal: search=no\nDisallow:\nUser-agent: b\nContent-Signal: ai-train=no\n" +
			"Disallow:\n", nil},
		{"a group that agrees with one that is contradicted elsewhere",
			"User-agent: a\nContent-Signal: ai-train=yes\nDisallow:\n" +
				"User-agent: a\nUser-agent: b\nContent-Signal: ai-train=yes\nDisallow:\nUser-agent: b\n" +
				"Content-Signal: ai-train=no\nDisallow:\n", []int32{6, 9}},
		{"another path", "User-agent: a\nUser-agent: b\nContent-Usage: /x train-ai=y\nContent-Usage: /y search=n\n" +
			"Disallow:\nUser-agent: b\nContent-Usage: train-ai=n\nContent-Usage: /y search=y\nDisallow:\n", []int32{4, 8}},
		{"one group", "User-agent: a\nUser-agent: b\nContent-Signal: ai-train=yes\nContent-Signal: search=yes, search=no\n" +
			"Disallow:\n", []int32{4}},
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

// What contradicts is what comparing every two rows finds.
func TestMarkByPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 124))
	uses, paths, preferences := []string{"ai-train", "search"}, []string{"/0", "/1"}, []string{"allow", "disallow"}
	mechanisms := []string{"content-signal", "content-usage"}
	conflicts := 0
	for range 500 {
		file := new(robots.File)
		var tokens []string // of each group
		var groupOf []int   // of each row
		var rows []schema.Preference
		var finder contradictions
		for g := range 1 + r.IntN(6) {
			tokens = append(tokens, "")
			for range 1 + r.IntN(3) {
				token := string(rune('a' + r.IntN(5)))
				tokens[g] += token
				if r.IntN(2) == 0 {
					token = strings.ToUpper(token)
				}
				file.Agents = append(file.Agents, robots.AgentLine{Group: int32(g), Wide: []byte(token)})
			}
			for range r.IntN(4) {
				row := schema.Preference{Mechanism: mechanisms[r.IntN(2)], Use: &uses[r.IntN(2)],
					Preference: &preferences[r.IntN(2)], Path: &paths[r.IntN(2)]}
				switch r.IntN(10) {
				case 0:
					row.Use = nil
				case 1:
					row.Preference = nil
				case 2:
					row.Path = nil
				}
				finder.add(&row, len(rows), int32(g))
				rows, groupOf = append(rows, row), append(groupOf, g)
			}
		}
		finder.mark(rows, file)
		for i, x := range rows {
			want := false
			for k, y := range rows {
				want = want || strings.ContainsAny(tokens[groupOf[k]], tokens[groupOf[i]]) && contrary(&x, &y)
			}
			if want {
				conflicts++
			}
			if x.Conflict != want {
				t.Fatalf("tokens of groups %q, groups of rows %v: row %d is in conflict: %v, want %v", tokens, groupOf, i,
					x.Conflict, want)
			}
		}
	}
	if conflicts < 100 {
		t.Errorf("only %d rows contradict any", conflicts)
	}
}

// contrary reports whether two rows say the contrary of one subject.
func contrary(x, y *schema.Preference) bool {
	return x.Use != nil && y.Use != nil && x.Preference != nil && y.Preference != nil &&
		x.Mechanism == y.Mechanism && *x.Use == *y.Use && *x.Preference != *y.Preference &&
		schema.OrZero(x.Path) == schema.OrZero(y.Path)
}

// Without a file each group has its own token.
func TestMarkWithoutFile(t *testing.T) {
	use, allow, refuse := "ai-train", "allow", "disallow"
	rows := []schema.Preference{
		{Use: &use, Preference: &allow}, {Use: &use, Preference: &refuse},
		{Use: &use, Preference: &allow}, {Use: &use, Preference: &allow},
	}
	var finder contradictions
	for i, group := range []int32{0, 0, 1, 1} {
		finder.add(&rows[i], i, group)
	}
	finder.mark(rows, nil)
	for i, want := range []bool{true, true, false, false} {
		if rows[i].Conflict != want {
			t.Errorf("row %d is in conflict: %v, want %v", i, rows[i].Conflict, want)
		}
	}
}

// Each group has a token in common with a large one: the work grows with the lines.
func BenchmarkMark(b *testing.B) {
	for _, n := range []int{1000, 4000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var finder contradictions
			file := new(robots.File)
			path := make([]string, n)
			use, allow, refuse := "ai-train", "allow", "disallow"
			for i := range n {
				path[i] = fmt.Sprint("/", i)
				token := []byte(path[i][1:])
				file.Agents = append(file.Agents, robots.AgentLine{Group: 0, Wide: token}, robots.AgentLine{Group: int32(1 + i),
					Wide: token})
				finder.add(&schema.Preference{Use: &use, Preference: &allow, Path: &path[i]}, 2*i, 0)
				finder.add(&schema.Preference{Use: &use, Preference: &refuse, Path: &path[i]}, 2*i+1, int32(1+i))
			}
			rows := make([]schema.Preference, 2*n)
			for b.Loop() {
				finder.mark(rows, file)
			}
			if !rows[0].Conflict || !rows[2*n-1].Conflict {
				b.Error("no conflict")
			}
		})
	}
}
