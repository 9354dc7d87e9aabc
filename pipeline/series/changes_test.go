package series

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink"
)

// A host counts once by what its rows say together, and its text does not count for the
// next host.
func TestChangesAreCountedByHost(t *testing.T) {
	r := &changeReader{changes: changes{counts: make(map[id]int64)}, ways: make(map[agentOf]string)}
	for _, row := range [][7]string{ // origin, kind, agent, profile, before, after, severity
		{"a", "rules", "A", "google", "", "closes", "major"}, {"a", "rules", "B", "google", "", "opens", "minor"},
		{"b", "rules", "A", "google", "", "closes", "major"}, {"b", "policy_class", "A", "google", "disallow_all", "allow_all", "major"},
		{"c", "text", "", "", "x", "y", "cosmetic"},
		{"d", "sitemap", "", "", "", "s", "minor"},
		{"e", "text", "", "", "x", "y", "minor"},
		{"f", "policy_class", "A", "google", "disallow_all", "partial", "major"},
		{"g", "rules", "B", "google", "", "undecided", "minor"},
		{"h", "policy_class", "B", "google", "unknown", "partial", "minor"},
	} {
		cells := make([]*string, len(row))
		for k := range row {
			cells[k] = sink.NonZero(row[k])
		}
		r.add(cells)
	}
	r.endOfHost()
	of := func(agent, key string) id {
		if agent == "" {
			return id{metric: "change", key: key}
		}
		return id{metric: "change", agent: agent, profile: "google", key: key}
	}
	want := map[id]int64{
		of("", both): 1, of("", closed): 1, of("", reworded): 1, of("", undecided): 2, of("", opened): 1,
		of("A", closed): 2, of("A", opened): 1, of("B", opened): 1, of("B", undecided): 1,
	}
	if diff := cmp.Diff(want, r.counts, cmp.AllowUnexported(id{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

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
