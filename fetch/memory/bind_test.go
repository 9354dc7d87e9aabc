package memory

import (
	"errors"
	"testing"
	"time"
)

// The memory of a shard is refused for another shard, for another number of shards,
// and for a run without shards; also one from before there were shards.
func TestMemoryBelongsToAShard(t *testing.T) {
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ first, then string }{
		{"shard 1 of 4", "shard 2 of 4"}, {"shard 1 of 4", "shard 1 of 8"}, {"shard 1 of 4", ""}, {"", "shard 1 of 4"},
	} {
		dir := t.TempDir()
		for _, share := range []string{c.first, c.first, c.then} {
			m, err := Open(dir)
			must(t, err)
			err = m.Bind(share)
			if refused := errors.Is(err, ErrOtherShare); refused != (share != c.first) {
				t.Errorf("bound to %q, then %q: %v", c.first, share, err)
			}
			must(t, m.Close())
		}
	}
	dir := t.TempDir()
	m := openMemory(t, dir)
	keepIn(t, m, whole(host(1), time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), "a"))
	closeMemory(t, m)
	m = openMemory(t, dir)
	if err := m.Bind("shard 1 of 4"); !errors.Is(err, ErrOtherShare) {
		t.Errorf("an old memory of all hosts: %v", err)
	}
	must(t, m.Bind(""))
	must(t, m.Close())
}
