package pipeline

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// The memory of a segment's captures is counted while they are held. What exceeds
// the limit goes to disk (an earlier copy too), comes back unchanged, and is
// released once the segment is committed.
func TestMemoryOfCapturesIsReleased(t *testing.T) {
	c := newConfig(t, nil, "")
	c.Evaluate.Samples, c.Tables = nil, []string{"fetches", "bodies"}
	run, err := sink.Create(c.Dir, sink.Plan{Run: c.Run, Tables: c.Tables, Profiles: []string{"google"}})
	must(t, err)
	defer run.Close()
	n := &census{
		config: c, run: run, progress: new(Progress), shared: evaluate.Prepare(c.Evaluate),
		pressure: newBackpressure(&c), ready: make(chan *segment, 1),
	}
	n.totals = n.shared.NewCounts()
	s := &segment{}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	add := func(host string, capture fetch.Capture) *job {
		capture.Origin, capture.Start = fetch.Origin{Scheme: "http", Host: host, Port: 80}, now
		capture.Hops[0].URL = capture.Origin.RobotsURL()
		j := &job{Target: source.Target{Seq: int64(len(s.jobs) + 1), Capture: &capture}, segment: s, ordinal: len(s.jobs)}
		s.jobs = append(s.jobs, j)
		return j
	}
	whole := func(body string) fetch.Capture {
		return fetch.Capture{Hops: []robots.Hop{{Status: http.StatusOK}}, Body: []byte(body)}
	}
	stale := func(body string) fetch.Capture {
		good, down := whole(body), fetch.Capture{Hops: []robots.Hop{{Status: http.StatusServiceUnavailable}}}
		memory := robots.Memory{}.After(good.Facts().Kind(), now.AddDate(0, 0, -50)).After(down.Facts().Kind(), now.AddDate(0, 0, -40))
		down.Memory, down.Copy = &memory, &fetch.WholeCopy{Fetched: now.AddDate(0, 0, -50), Body: []byte(body)}
		return down
	}
	var want []string
	for _, host := range []string{"a.example", "b.example", "c.example", "d.example"} {
		want = append(want, host+strings.Repeat("#", 1000))
	}
	must(t, n.pressure.enter(t.Context()))
	n.pressure.most = 3 * 1000 // two bodies, with their headers
	jobs := []*job{add("a.example", whole(want[0])), add("b.example", stale(want[1])), add("c.example", whole(want[2])), add("d.example", stale(want[3]))}
	for i, j := range jobs {
		must(t, n.account(j))
		held := len(j.Capture.Body)
		if j.Capture.Copy != nil {
			held += len(j.Capture.Copy.Body)
		}
		if inMemory := i < 2; inMemory != (held > 0) {
			t.Errorf("%s: %d bytes of bodies are in memory", j.Capture.Origin, held)
		}
	}
	if n.pressure.bodies < 2*1000 || n.pressure.bodies > n.pressure.most || n.pressure.bodies != s.bytes.Load() {
		t.Errorf("%d bytes are counted, %d of them the segment's", n.pressure.bodies, s.bytes.Load())
	}
	s.text = 7
	n.pressure.read(7)
	s.pending.Store(1)
	must(t, n.done(t.Context(), s))
	close(n.ready)
	must(t, n.evaluate(t.Context()))
	if g := n.pressure; g.bodies != 0 || g.input != 0 || g.open != 0 || g.complete != 0 {
		t.Errorf("after the commit: %d bytes of bodies, %d of texts, %d segments open, %d full", g.bodies, g.input, g.open, g.complete)
	}
	var got []string
	for _, row := range rowsOf[sink.Body](t, c, "bodies") {
		got = append(got, string(row.Body))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

func TestGateCountsWhatItHolds(t *testing.T) {
	g := newBackpressure(&Config{})
	g.most = 100
	g.weigh(10)
	if !g.hold(60) || g.hold(31) || !g.hold(30) || g.hold(1) {
		t.Errorf("of 100 bytes, %d are held", g.bodies)
	}
	must(t, g.enter(t.Context()))
	g.filled()
	g.leave(90, 0)
	if !g.hold(90) || g.hold(1) {
		t.Errorf("of 100 bytes, of which 90 were released, %d are held", g.bodies)
	}
}
