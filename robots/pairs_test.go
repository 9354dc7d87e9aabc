package robots

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// judge reads a file for agents a0, a1 and so on.
func judge(t *testing.T, body string, agents int) *Judge {
	t.Helper()
	google, _ := ProfileNamed("google")
	var list []Agent
	for i := range agents {
		list = append(list, Agent{Name: fmt.Sprint("a", i), Tokens: []string{fmt.Sprint("a", string(rune('a'+i/26)),
			string(rune('a'+i%26)))}})
	}
	f := new(File)
	f.Parse([]byte(body), google)
	j := NewJudge(google, list)
	j.Load(f)
	return j
}

// groups writes a group for each agent, with the rules of a kind.
func groups(kinds ...int) string {
	var out strings.Builder
	for i, kind := range kinds {
		fmt.Fprintf(&out, "User-agent: a%c%c\nDisallow: /x%d*y\nAllow: /x%d*z\n", 'a'+i/26, 'a'+i%26, kind, kind)
	}
	return out.String()
}

// Each distinct pair is compared once, whether its agents share a group or one group
// is a copy of the other. A copy takes no work.
func TestACopyIsComparedOnce(t *testing.T) {
	a, b := judge(t, groups(1, 1, 2, 1, 2), 5), judge(t, groups(3, 3, 3, 4, 3), 5)
	var compared []string
	var most []int
	m := PairMemo[string]{Most: 100, Each: 60, Compare: func(x, y *Policy, bound int) (string, int) {
		text := fmt.Sprint(x.SameAs, "-", y.SameAs)
		compared, most = append(compared, text), append(most, bound)
		return text, 30
	}}
	var got []string
	for i := range 5 {
		got = append(got, m.Of(a.Policy(i), b.Policy(i)))
	}
	got = append(got, m.Of(a.Policy(2), b.Policy(0)), m.Of(a.Policy(3), b.Policy(4)))
	if want := []string{"0-0", "0-0", "2-2", "3-3", "2-2", "2-2", "0-0"}; !slices.Equal(got, want) {
		t.Errorf("results %s, want %s", got, want)
	}
	if want := []string{"0-0", "2-2", "3-3"}; !slices.Equal(compared, want) {
		t.Errorf("compared %s, want %s", compared, want)
	}
	if want := []int{60, 60, 40}; !slices.Equal(most, want) {
		t.Errorf("bounds %d, want %d", most, want)
	}
}

// A pair that took no work is not looked up by its rules: to compare it anew is cheaper.
// Beyond maxCostlyPairs, copies are compared anew.
func TestLookingUpIsBounded(t *testing.T) {
	const n = maxCostlyPairs + 10
	kinds := make([]int, 2*n)
	for i := range kinds {
		kinds[i] = i % n
	}
	j := judge(t, groups(kinds...), 2*n)
	for work, want := range map[int]int{0: 2 * n, 1: n + 10} {
		compared := 0
		m := PairMemo[int]{Most: 1 << 20, Compare: func(_, _ *Policy, most int) (int, int) {
			compared++
			return compared, work
		}}
		for i := range 2 * n {
			m.Of(j.Policy(0), j.Policy(i))
		}
		if compared != want || len(m.costly) > maxCostlyPairs {
			t.Errorf("%d comparisons of work %d, want %d; %d are looked up", compared, work, want, len(m.costly))
		}
	}
}
