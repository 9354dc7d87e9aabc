package sink

import (
	"errors"
	"slices"
	"testing"

	"github.com/robocensus/robocensus/sink/store"
)

// The parts of a shard become as few as the bounds allow, in order.
func TestGroupParts(t *testing.T) {
	part := func(bytes int64) Part { return Part{Digest: store.Digest{Bytes: bytes}} }
	sizes := func(parts ...Part) (out []int) {
		for _, g := range groupParts(parts) {
			out = append(out, len(g))
		}
		return out
	}
	for _, c := range []struct {
		parts []Part
		want  []int
	}{
		{nil, nil},
		{[]Part{part(1)}, []int{1}},
		{[]Part{part(maxPartBytes - 1), part(1), part(1)}, []int{2, 1}},
		{[]Part{part(1), part(2 * maxPartBytes), part(1)}, []int{1, 1, 1}},
		{slices.Repeat([]Part{part(0)}, 2*maxPartsJoined+1), []int{maxPartsJoined, maxPartsJoined, 1}},
	} {
		if got := sizes(c.parts...); !slices.Equal(got, c.want) {
			t.Errorf("%d parts in groups of %v, want %v", len(c.parts), got, c.want)
		}
	}
}

// Whoever opens a run of shards with other settings gets every difference.
func TestOpenShardedWithAnotherPlan(t *testing.T) {
	dir := t.TempDir()
	p := described()
	p.Shards = 3
	s, err := OpenSharded(dir, p)
	must(t, err)
	must(t, s.Close())
	again, err := OpenSharded(dir, p)
	must(t, err)
	must(t, again.Close())
	for what, change := range map[string]func(*Plan){
		"shards":   func(p *Plan) { p.Shards = 4 },
		"tables":   func(p *Plan) { p.Tables = []string{"fetches"} },
		"profiles": func(p *Plan) { p.Profiles = []string{"other"} },
	} {
		other := p
		change(&other)
		if _, err := OpenSharded(dir, other); !errors.Is(err, ErrOtherPlan) {
			t.Errorf("other %s: %v", what, err)
		}
	}
}
