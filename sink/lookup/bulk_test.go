package lookup

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// writtenFiles writes a run of two segments. Hosts have two origins and several captures of
// each, out of order; some bodies are kept, some of them for several captures.
func writtenFiles(t *testing.T, dir string, hosts int) *journal.Manifest {
	t.Helper()
	draw := rand.New(rand.NewPCG(7, 8))
	run, err := sink.Create(dir, journal.Plan{Run: "r", Tables: []string{"fetches", "groups", "rules", "bodies"},
		Profiles: []string{"google"}})
	must(t, err)
	defer run.Close()
	seq := int64(0)
	kept := []string{"User-agent: *\n", "", "# copy\n"}
	for index := range 2 {
		s, err := run.Segment(index)
		must(t, err)
		for _, body := range kept {
			must(t, s.Bodies.Write(schema.Body{ContentDigest: schema.ContentDigest([]byte(body)), Body: []byte(body)}))
		}
		begin := seq
		for range 3 * hosts {
			seq++
			host := fmt.Sprintf("h%d.example", draw.IntN(hosts))
			f := schema.Fetch{Seq: seq, Host: host, Origin: []string{"http://", "https://"}[draw.IntN(2)] + host,
				FetchTime: time.Unix(int64(draw.IntN(4)), 0).UTC()}
			switch draw.IntN(3) {
			case 0:
				f.ContentDigest = new(schema.ContentDigest([]byte(kept[draw.IntN(len(kept))])))
			case 1:
				f.ContentDigest = new(fmt.Sprint("not kept ", seq))
				for i := range draw.IntN(4) {
					must(t, s.Groups.Write(schema.Group{Seq: seq, Host: host, GroupIndex: int32(i)}))
				}
				for i := range draw.IntN(200) {
					must(t, s.Rules.Write(schema.Rule{Seq: seq, Host: host, Pattern: fmt.Sprint("/", i)}))
				}
			}
			must(t, s.Fetches.Write(f))
		}
		s.Targets = seq - begin
		must(t, s.Commit())
	}
	must(t, run.Complete(sink.Completion{Tally: journal.Tally{Targets: seq}}))
	m, err := journal.ReadManifest(sinktest.Open(t, dir), "r")
	must(t, err)
	return m
}

func TestEachFindsWhatLookingUpDoes(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	const hosts = 400
	r := Open(sinktest.Open(t, dir), writtenFiles(t, dir, hosts))
	defer r.Close()
	for _, every := range []int{1, 3, 150} {
		wanted, want, got := make(map[string]bool), make(map[string]*Found), make(map[string]*Found)
		for i := 0; i < hosts; i += every {
			host := fmt.Sprintf("h%d.example", i)
			wanted[host] = true
			targets, err := r.Targets(ctx, host)
			must(t, err)
			for _, target := range Last(targets) {
				body, err := Body(ctx, r, &target)
				must(t, err)
				want[target.Origin], err = FoundOf(ctx, r, &target, body)
				must(t, err)
			}
		}
		wanted["nobody.example"] = true
		must(t, r.Each(ctx, wanted, true, func(f *Found) error {
			if got[f.Origin] != nil {
				t.Errorf("%s is found twice", f.Origin)
			}
			kept := *f
			kept.Groups, kept.Rules = append([]schema.Group(nil), f.Groups...), append([]schema.Rule(nil), f.Rules...)
			got[f.Origin] = &kept
			return nil
		}))
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || len(want) < hosts/every {
			t.Errorf("every %d: %d origins (-looked up +found):\n%.2000s", every, len(want), diff)
		}
	}
	enough := errors.New("enough")
	if err := r.Each(ctx, map[string]bool{"h1.example": true}, true, func(*Found) error { return enough }); err != enough {
		t.Errorf("an error of do becomes %v", err)
	}
}
