package memory

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/robots/answer"
)

// bodies counts the stored bodies and their marks, which must be equal in
// number.
func bodies(t testing.TB, m *Memory) int {
	t.Helper()
	n := map[byte]int{}
	for _, prefix := range []byte{bodyPrefix, knownPrefix} {
		if err := m.each(prefix, func(_, _ []byte) error { n[prefix]++; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n[bodyPrefix] != n[knownPrefix] {
		t.Fatalf("%d bodies and %d marks", n[bodyPrefix], n[knownPrefix])
	}
	return n[bodyPrefix]
}

func TestSupersededBodiesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	m := openMemory(t, dir)
	const n = minSuperseded + 100
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			for version := range 2 {
				if err := m.keep("r", whole(host(i), day, fmt.Sprintf("host %d version %d", i, version))); err != nil {
					t.Error(err)
				}
			}
			if err := m.keep("r", whole(host(n+i), day, "the same everywhere")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := bodies(t, m); got != 2*n+1 {
		t.Errorf("%d bodies are stored, want %d", got, 2*n+1)
	}
	closeMemory(t, m)
	m = openMemory(t, dir)
	if got := bodies(t, m); got != n+1 {
		t.Errorf("%d bodies are left, want %d", got, n+1)
	}
	for i := range n {
		checkLast(t, m, "r", whole(host(i), day, fmt.Sprintf("host %d version 1", i)))
	}
	checkLast(t, m, "r", whole(host(n), day, "the same everywhere"))
	if m.superseded.Load() != 0 || m.bodies.Load() != n+1 {
		t.Errorf("counted %d superseded of %d", m.superseded.Load(), m.bodies.Load())
	}
	closeMemory(t, m)
}

// After a sweep exactly the bodies that records name remain, whatever was kept
// in whatever order.
func TestASweepLeavesWhatIsNamed(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		m := openMemory(t, dir)
		for range rapid.IntRange(1, 2).Draw(rt, "runs") {
			for range rapid.IntRange(1, 12).Draw(rt, "answers") {
				o := host(rapid.IntRange(0, 2).Draw(rt, "origin"))
				outage := rapid.Bool().Draw(rt, "outage")
				c := status(o, day, map[bool]int{true: 503, false: 404}[outage])
				if rapid.Bool().Draw(rt, "body") {
					c = whole(o, day, rapid.SampledFrom([]string{"", "a", "b", "c"}).Draw(rt, "text"))
					if outage {
						c.Error = answer.ErrorTruncatedBody
					}
				}
				keepIn(t, m, c)
			}
			m.superseded.Store(minSuperseded)
			if err := m.storeCounts(); err != nil {
				t.Fatal(err)
			}
			closeMemory(t, m)
			m = openMemory(t, dir)
			named := map[digest]bool{}
			for i := range 3 {
				p := recall(t, m, host(i))
				if p.LastBody != nil {
					named[*p.LastBody] = true
				}
				if p.Copy != nil {
					named[p.Copy.Digest] = true
				}
			}
			for d := range named {
				if _, err := m.body(d); err != nil {
					rt.Error(err)
				}
			}
			if got := bodies(t, m); got != len(named) {
				rt.Errorf("%d bodies are left, but %d are named", got, len(named))
			}
		}
		closeMemory(t, m)
	})
}
