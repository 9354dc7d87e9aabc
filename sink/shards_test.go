package sink

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// The parts of a shard become as few as the bounds allow, in order.
func TestGroupParts(t *testing.T) {
	part := func(bytes int64) journal.Part { return journal.Part{Digest: store.Digest{Bytes: bytes}} }
	sizes := func(parts ...journal.Part) (out []int) {
		for _, g := range groupParts(parts) {
			out = append(out, len(g))
		}
		return out
	}
	for _, c := range []struct {
		parts []journal.Part
		want  []int
	}{
		{nil, nil},
		{[]journal.Part{part(1)}, []int{1}},
		{[]journal.Part{part(maxPartBytes - 1), part(1), part(1)}, []int{2, 1}},
		{[]journal.Part{part(1), part(2 * maxPartBytes), part(1)}, []int{1, 1, 1}},
		{slices.Repeat([]journal.Part{part(0)}, 2*maxPartsJoined+1), []int{maxPartsJoined, maxPartsJoined, 1}},
	} {
		if got := sizes(c.parts...); !slices.Equal(got, c.want) {
			t.Errorf("%d parts in groups of %v, want %v", len(c.parts), got, c.want)
		}
	}
}

// Opening a run of shards with other settings reports every difference.
func TestOpenShardedWithAnotherPlan(t *testing.T) {
	dir := t.TempDir()
	p := described()
	p.Shards = 3
	for range 2 {
		_, err := OpenSharded(sinktest.Open(t, dir), p, 0)
		must(t, err)
	}
	for what, change := range map[string]func(*journal.Plan){
		"shards":   func(p *journal.Plan) { p.Shards = 4 },
		"tables":   func(p *journal.Plan) { p.Tables = []string{"fetches"} },
		"profiles": func(p *journal.Plan) { p.Profiles = []string{"other"} },
	} {
		other := p
		change(&other)
		if _, err := OpenSharded(sinktest.Open(t, dir), other, 0); !errors.Is(err, ErrOtherPlan) {
			t.Errorf("other %s: %v", what, err)
		}
	}
}

// spoolShard makes the run of one shard in a folder, ready to be committed.
func spoolShard(t *testing.T, spool string) {
	t.Helper()
	local, err := Create(spool, described())
	must(t, err)
	commitSegment(t, local, 0)
	finishAt(t, local, described().Started.Add(time.Hour))
	must(t, local.Close())
}

// A shard that is committed leaves nothing in the spool of its attempts, but for those that
// still run. One that is given up leaves what others need to go on.
func TestTheSpoolOfAttempts_NoRace(t *testing.T) {
	dir, spool := t.TempDir(), filepath.Join(t.TempDir(), "spool")
	p := described()
	p.Shards = 2
	begin := func(shard int) *Run {
		r, err := Begin(t.Context(), p, Place{Dir: dir, Spool: spool, Shard: shard, Resume: true})
		must(t, err)
		return r
	}
	left := func(want ...string) {
		t.Helper()
		entries, _ := os.ReadDir(spool)
		var got []string
		for _, e := range entries {
			shard, _, _ := strings.Cut(e.Name(), "-")
			got = append(got, shard+filepath.Ext(e.Name()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("left in the spool (-want +got):\n%s", diff)
		}
	}
	first, second, other := begin(0), begin(0), begin(1)
	killed := first.spool.attempts() + "7" // with a lock that nobody holds
	must(t, os.CopyFS(killed, os.DirFS(first.spool.own)))
	must(t, os.Mkdir(first.spool.attempts()+"8", 0o777)) // killed as it began
	must(t, os.Mkdir(other.spool.attempts()+"9", 0o777))
	given := begin(0)
	left("0.0", "0.1", "0.2", "0.7", "0.8", "1.0", "1.9")
	must(t, given.Discard())
	left("0.0", "0.1", "0.7", "0.8", "1.0", "1.9")
	commitSegment(t, first, 0)
	finishAt(t, first, p.Started.Add(time.Hour))
	if won, _, err := first.Send(t.Context(), nil, nil); !won || err != nil {
		t.Fatalf("sent: %v, %v", won, err)
	}
	must(t, first.Close())
	left("0.1", "1.0", "1.9")
	must(t, second.Close()) // has lost
	must(t, other.Close())
	left("1.0", "1.9")

	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o666))
	nowhere := filepath.Join(t.TempDir(), "out")
	if _, err := Begin(t.Context(), p, Place{Dir: nowhere, Spool: file}); err == nil || !strings.Contains(err.Error(),
		"not a folder") {
		t.Errorf("a file as spool: %v", err)
	}
	if _, err := os.Stat(nowhere); err == nil {
		t.Error("a run was begun whose spool is a file")
	}
}

// The process of a run that was removed, and begun anew under the same name, commits
// nothing to the new one.
func TestShardOfARemovedRun_NoRace(t *testing.T) {
	dir, spool := t.TempDir(), t.TempDir()
	p := described()
	p.Shards = 2
	old, err := OpenSharded(sinktest.Open(t, dir), p, 0)
	must(t, err)
	spoolShard(t, spool)

	must(t, Remove(sinktest.Open(t, dir), p.Run))
	if won, err := old.commit(t.Context(), sinktest.Open(t, spool), nil); won || !errors.Is(err, ErrOtherPlan) {
		t.Errorf("to a run that is gone: %v, %v", won, err)
	}
	p.Started = p.Started.Add(time.Minute)
	anew, err := OpenSharded(sinktest.Open(t, dir), p, 0)
	must(t, err)
	if won, err := old.commit(t.Context(), sinktest.Open(t, spool), nil); won || !errors.Is(err, ErrOtherPlan) {
		t.Errorf("to another run: %v, %v", won, err)
	}
	if n, err := anew.uncommitted(); n != 2 || err != nil {
		t.Errorf("%d shards are not committed, %v", n, err)
	}
	for _, table := range p.Tables {
		if files, err := os.ReadDir(filepath.Join(dir, layout.TableFolder(table, p.Run))); err != nil || len(files) > 0 {
			t.Errorf("%s has %v, %v", table, files, err)
		}
	}
	if won, err := anew.commit(t.Context(), sinktest.Open(t, spool), nil); !won || err != nil {
		t.Errorf("its own: %v, %v", won, err)
	}
}

// A committed shard is lost if a part is missing or has another size, not if the store
// cannot say: its record would be removed for nothing.
func TestCheckShard_NoRace(t *testing.T) {
	dir, spool := t.TempDir(), t.TempDir()
	p := described()
	p.Shards = 2
	s, err := OpenSharded(sinktest.Open(t, dir), p, 0)
	must(t, err)
	spoolShard(t, spool)
	if won, err := s.commit(t.Context(), sinktest.Open(t, spool), nil); !won || err != nil {
		t.Fatalf("won %v, %v", won, err)
	}
	for shard := range p.Shards {
		must(t, s.checkShard(shard))
	}
	in := s.store
	s.store = unreadable{in}
	var lost *LostError
	if err := s.checkShard(0); !errors.Is(err, errDown) || errors.As(err, &lost) {
		t.Errorf("a store that fails: %v", err)
	}
	must(t, s.findLost())
	s.store = in
	record, err := s.record(0)
	must(t, err)
	for _, p := range record.Parts {
		part := filepath.Join(dir, filepath.FromSlash(p.Path))
		whole, err := os.ReadFile(part)
		must(t, err)
		for what, damage := range map[string]func() error{
			"shorter": func() error { return os.Truncate(part, 1) },
			"missing": func() error { return os.Remove(part) },
		} {
			must(t, damage())
			for _, err := range []error{s.checkShard(0), s.findLost()} {
				if lost = nil; !errors.As(err, &lost) || lost.Shard != 0 || lost.Record != filepath.Join(dir,
					layout.Record("r", 0)) {
					t.Errorf("%s is %s: %v", p.Path, what, err)
				}
			}
			must(t, os.WriteFile(part, whole, 0o666))
		}
		must(t, s.checkShard(0))
	}
	must(t, s.checkShard(1))
}

// A process that loses the completion, and fails because the winner removes the part
// that it is writing, leaves none of the parts that it has written.
func TestLoserOfTheCompletionFails_NoRace(t *testing.T) {
	dir, spool := t.TempDir(), t.TempDir()
	p := described()
	p.Shards = 1
	s, err := OpenSharded(sinktest.Open(t, dir), p, 0)
	must(t, err)
	spoolShard(t, spool)
	if won, err := s.commit(t.Context(), sinktest.Open(t, spool), nil); !won || err != nil {
		t.Fatalf("won %v, %v", won, err)
	}
	loser, err := OpenSharded(sinktest.Open(t, dir), p, 0)
	must(t, err)
	end := Completion{
		Finished: p.Started.Add(time.Hour), Tally: journal.Tally{Targets: targetsOfSegment},
		Totals: Totals{Counts: []schema.Count{{Metric: "class"}}, LabelCounts: slices.Values([][]schema.LabelCount{
			{{Metric: "class"}}}), Examples: []schema.Example{{Metric: "line_class"}}},
	}
	loser.store = overtaken{loser.store, func() error { return s.Complete(end) }}
	if err := loser.Complete(end); !errors.Is(err, errDown) {
		t.Fatalf("the loser says %v", err)
	}
	for table := range layout.OfRun {
		files, err := os.ReadDir(filepath.Join(dir, layout.TableFolder(table, p.Run)))
		if err != nil || len(files) != 1 {
			t.Errorf("%s has %v, %v", table, files, err)
		}
	}
}

// A run with living shards is not removed.
func TestRemoveLeavesLivingShards(t *testing.T) {
	dir := t.TempDir()
	p := described()
	p.Shards = 2
	s, err := OpenSharded(sinktest.Open(t, dir), p, 0)
	must(t, err)
	must(t, s.Beat(t.Context(), 1))
	if err := Remove(sinktest.Open(t, dir), p.Run); !errors.Is(err, ErrRunBusy) {
		t.Errorf("error %v", err)
	}
}

// A run that cannot be read for now may be there.
func TestAnyOfAStoreThatFails(t *testing.T) {
	in := sinktest.Open(t, t.TempDir())
	if some, err := anyOf(in, "r"); some || err != nil {
		t.Errorf("an empty folder has the run: %v, %v", some, err)
	}
	if some, err := anyOf(unreadable{in}, "r"); !errors.Is(err, errDown) {
		t.Errorf("a store that fails has the run: %v, %v", some, err)
	}
}

// unreadable is a store that fails to open and describe files.
type unreadable struct{ store.Store }

var errDown = fmt.Errorf("%w: 503", remote.ErrTransfer)

func (unreadable) Open(string) (*os.File, error)    { return nil, errDown }
func (unreadable) Stat(string) (os.FileInfo, error) { return nil, errDown }

// overtaken is a store in which another process completes the run before a part of
// summary is written, and no part of examples can be written.
type overtaken struct {
	store.Store
	complete func() error
}

func (o overtaken) Create(name string) (*store.File, error) {
	if strings.HasPrefix(name, "examples/") {
		return nil, errDown
	}
	if err := o.complete(); err != nil {
		return nil, err
	}
	return o.Store.Create(name)
}
