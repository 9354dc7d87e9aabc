package pipeline

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
)

// The memory of a piece's captures is counted while they are held. What exceeds
// the limit goes to disk (an earlier copy too), comes back unchanged, and is
// released once the piece is written.
func TestMemoryOfCapturesIsReleased(t *testing.T) {
	c := newConfig(t, nil, "")
	c.Evaluate.Samples, c.Tables = nil, []string{"fetches", "bodies"}
	run, err := sink.Create(c.Dir, journal.Plan{Run: c.Run, Tables: c.Tables, Profiles: []string{"google"}})
	must(t, err)
	defer run.Close()
	n := &census{
		config: c, run: run, progress: new(Progress), shared: evaluate.Prepare(c.Evaluate),
		pressure: newBackpressure(&c), ready: make(chan *piece, 1),
	}
	n.totals = n.shared.NewCounts()
	p := &piece{segment: new(segment), alone: true}
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	add := func(host string, capture fetch.Capture) *job {
		capture.Origin, capture.Start = fetch.Origin{Scheme: "http", Host: host, Port: 80}, now
		capture.Hops[0].URL = capture.Origin.RobotsURL()
		j := &job{Target: target.Target{Seq: int64(len(p.jobs) + 1), Capture: &capture}, piece: p, ordinal: len(p.jobs)}
		p.jobs = append(p.jobs, j)
		return j
	}
	whole := func(body string) fetch.Capture {
		return fetch.Capture{Hops: []answer.Hop{{Status: http.StatusOK}}, Body: []byte(body)}
	}
	stale := func(body string) fetch.Capture {
		good, down := whole(body), fetch.Capture{Hops: []answer.Hop{{Status: http.StatusServiceUnavailable}}}
		memory := answer.Memory{}.After(good.Facts().Kind(), now.AddDate(0, 0, -50)).After(down.Facts().Kind(),
			now.AddDate(0, 0, -40))
		down.Memory, down.Copy = &memory, &fetch.WholeCopy{Fetched: now.AddDate(0, 0, -50), Body: []byte(body)}
		return down
	}
	var want []string
	for _, host := range []string{"a.example", "b.example", "c.example", "d.example"} {
		want = append(want, host+strings.Repeat("#", 1000))
	}
	must(t, n.pressure.enter(t.Context()))
	n.pressure.most = 3 * 1000 // two bodies, with their headers
	jobs := []*job{add("a.example", whole(want[0])), add("b.example", stale(want[1])), add("c.example", whole(want[2])),
		add("d.example", stale(want[3]))}
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
	if n.pressure.bodies < 2*1000 || n.pressure.bodies > n.pressure.most || n.pressure.bodies != p.bytes.Load() {
		t.Errorf("%d bytes are counted, %d of them the piece's", n.pressure.bodies, p.bytes.Load())
	}
	p.text = 7
	n.pressure.read(7)
	p.pending.Store(1)
	must(t, n.done(t.Context(), p))
	close(n.ready)
	must(t, n.evaluate(t.Context()))
	if g := n.pressure; g.bodies != 0 || g.input != 0 || g.open != 0 || g.complete != 0 {
		t.Errorf("after the commit: %d bytes of bodies, %d of texts, %d pieces open, %d full", g.bodies, g.input, g.open,
			g.complete)
	}
	var got []string
	for _, row := range rowsOf[schema.Body](t, c, "bodies") {
		got = append(got, string(row.Body))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

// Records of evidence and bodies of answers to identities that do not fit into memory come
// back from disk as they were.
func TestEvidenceAndAnswersComeBackFromDisk(t *testing.T) {
	c := newConfig(t, nil, "")
	c.Evaluate.Samples, c.Tables = nil, []string{"fetches", "answers", "bodies"}
	run, err := sink.Create(c.Dir, journal.Plan{Run: c.Run, Tables: c.Tables, Profiles: []string{"google"},
		Configuration: map[string]any{"warc-out": "e.warc.gz"}})
	must(t, err)
	defer run.Close()
	n := &census{config: c, run: run, progress: new(Progress), shared: evaluate.Prepare(c.Evaluate),
		pressure: newBackpressure(&c), ready: make(chan *piece, 1)}
	n.totals = n.shared.NewCounts()
	n.pressure.most = 0
	must(t, n.pressure.enter(t.Context()))
	p := &piece{segment: new(segment), alone: true}
	var evidence, bodies []string
	for i, host := range []string{"a.example", "b.example"} {
		answer := func(body string) *fetch.Capture {
			o := fetch.Origin{Scheme: "http", Host: host, Port: 80}
			return &fetch.Capture{Origin: o, Start: time.Unix(0, 0), Hops: []answer.Hop{
				{URL: o.RobotsURL(), Status: http.StatusOK}}, Attempts: 1, Body: []byte(body)}
		}
		own, other := host+strings.Repeat("#", 1000), host+strings.Repeat("+", 1000)
		j := &job{Target: target.Target{Seq: int64(i + 1), Capture: answer(own)}, piece: p, ordinal: i,
			evidence: []byte("evidence of " + host + "\n")}
		j.Capture.Also = []fetch.Also{{Identity: fetch.Identity{Name: "other"}, Capture: answer(other)},
			{Identity: fetch.Identity{Name: "alike"}, Capture: answer(own)}}
		j.Capture.Further = []*fetch.Further{{Body: []byte("body of " + host), Reading: []byte("reading of " + host)}}
		further := j.Capture.Further[0]
		p.jobs = append(p.jobs, j)
		must(t, n.account(j))
		if further.Body != nil || further.Reading != nil || j.Capture.Body != nil || j.evidence != nil ||
			j.Capture.Also[0].Capture.Body != nil || j.Capture.Also[1].Capture.Body != nil {
			t.Errorf("%s: something is in memory", host)
		}
		evidence, bodies = append(evidence, "evidence of "+host+"\n"), append(bodies, own, other)
	}
	p.pending.Store(1)
	must(t, n.done(t.Context(), p))
	close(n.ready)
	must(t, n.evaluate(t.Context()))
	files, err := filepath.Glob(filepath.Join(c.Dir, "_runs", c.Run, "warc", "*"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("files of evidence: %v", files)
	}
	got, err := os.ReadFile(files[0])
	must(t, err)
	if string(got) != strings.Join(evidence, "") {
		t.Errorf("the evidence is %q", got)
	}
	var kept []string
	for _, row := range rowsOf[schema.Body](t, c, "bodies") {
		kept = append(kept, string(row.Body))
	}
	if diff := cmp.Diff(bodies, kept); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
	for _, a := range rowsOf[schema.Answer](t, c, "answers") {
		if a.Same == nil || *a.Same != (a.Identity == "alike") {
			t.Errorf("%+v", a)
		}
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
