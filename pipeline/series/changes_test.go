package series

import (
	"testing"

	"github.com/robocensus/robocensus/sink"
)

// Hosts that could not be read in one of two runs are no base of changes.
func TestUnreadHostsAreNoBase(t *testing.T) {
	dir := t.TempDir()
	m := madeUp{"h.a.com": {"A": "partial", "B": "partial", "C": "partial"}}
	m.write(t, dir, "r0", 0)
	m.write(t, dir, "r1", 1)
	before, err := sink.ReadManifest(t.Context(), dir, "r0")
	must(t, err)
	after, err := sink.ReadManifest(t.Context(), dir, "r1")
	must(t, err)
	c := Config{Dir: dir, Profiles: []string{"google"}}
	if got, err := readChanges(t.Context(), c, before, after); got != nil || err != nil {
		t.Errorf("runs that are not compared: %+v, %v", got, err)
	}
	out, err := sink.CreateChanges(t.Context(), dir, after, "r0", "test", "a note")
	must(t, err)
	defer out.Abort()
	out.Compared(10, 3)
	must(t, out.Commit())
	got, err := readChanges(t.Context(), c, before, after)
	must(t, err)
	if got.hosts != 7 || len(got.notes) != 1 {
		t.Errorf("%d hosts were read in both of 10, 3 of them unread; notes %q", got.hosts, got.notes)
	}
}
