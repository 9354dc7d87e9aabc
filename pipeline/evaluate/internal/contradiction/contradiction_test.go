package contradiction

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

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
		var finder Finder
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
				row := schema.Preference{Mechanism: mechanisms[r.IntN(2)], Use: &uses[r.IntN(2)], Preference: &preferences[r.IntN(2)], Path: &paths[r.IntN(2)]}
				switch r.IntN(10) {
				case 0:
					row.Use = nil
				case 1:
					row.Preference = nil
				case 2:
					row.Path = nil
				}
				finder.Add(&row, len(rows), int32(g))
				rows, groupOf = append(rows, row), append(groupOf, g)
			}
		}
		finder.Mark(rows, file)
		for i, x := range rows {
			want := false
			for k, y := range rows {
				want = want || strings.ContainsAny(tokens[groupOf[k]], tokens[groupOf[i]]) && contrary(&x, &y)
			}
			if want {
				conflicts++
			}
			if x.Conflict != want {
				t.Fatalf("tokens of groups %q, groups of rows %v: row %d is in conflict: %v, want %v", tokens, groupOf, i, x.Conflict, want)
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
		x.Mechanism == y.Mechanism && *x.Use == *y.Use && *x.Preference != *y.Preference && schema.OrZero(x.Path) == schema.OrZero(y.Path)
}

// Without a file each group has its own token.
func TestMarkWithoutFile(t *testing.T) {
	use, allow, refuse := "ai-train", "allow", "disallow"
	rows := []schema.Preference{
		{Use: &use, Preference: &allow}, {Use: &use, Preference: &refuse},
		{Use: &use, Preference: &allow}, {Use: &use, Preference: &allow},
	}
	var finder Finder
	for i, group := range []int32{0, 0, 1, 1} {
		finder.Add(&rows[i], i, group)
	}
	finder.Mark(rows, nil)
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
			var finder Finder
			file := new(robots.File)
			path := make([]string, n)
			use, allow, refuse := "ai-train", "allow", "disallow"
			for i := range n {
				path[i] = fmt.Sprint("/", i)
				token := []byte(path[i][1:])
				file.Agents = append(file.Agents, robots.AgentLine{Group: 0, Wide: token}, robots.AgentLine{Group: int32(1 + i), Wide: token})
				finder.Add(&schema.Preference{Use: &use, Preference: &allow, Path: &path[i]}, 2*i, 0)
				finder.Add(&schema.Preference{Use: &use, Preference: &refuse, Path: &path[i]}, 2*i+1, int32(1+i))
			}
			rows := make([]schema.Preference, 2*n)
			for b.Loop() {
				finder.Mark(rows, file)
			}
			if !rows[0].Conflict || !rows[2*n-1].Conflict {
				b.Error("no conflict")
			}
		})
	}
}
