package memory

import (
	"testing"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// An earlier run's answer is used only if this run would get the same.
func TestAnswersUsedWithoutARequest(t *testing.T) {
	terms := Terms{Run: "r", MaxAge: 24 * time.Hour, Limits: fetch.Limits{MaxRedirects: 2}, Now: func() time.Time {
		return day
	}}
	o := host(1)
	limited := func(hops int) *fetch.Capture {
		got := &fetch.Capture{Origin: o, Start: day.Add(-time.Hour), Error: answer.ErrorRedirectLimit}
		for range hops {
			got.Hops = append(got.Hops, answer.Hop{URL: o.RobotsURL(), Status: 301})
		}
		return got
	}
	cut := whole(o, day.Add(-time.Hour), "User-agent: *\n")
	cut.Truncated = true
	for _, row := range []struct {
		name string
		last *fetch.Capture
		want bool
	}{
		{"an hour ago", whole(o, day.Add(-time.Hour), ""), true},
		{"right now", whole(o, day, ""), true},
		{"a 404", status(o, day.Add(-time.Hour), 404), true},
		{"after a day", whole(o, day.Add(-24*time.Hour), ""), false},
		{"dated by a clock that was ahead", whole(o, day.Add(time.Second), ""), false},
		{"cut at a limit that may be another now", cut, false},
		{"more redirects than are followed now", limited(3), true},
		{"as many as are followed now", limited(2), false},
		{"an outage to some profile", status(o, day.Add(-time.Hour), 503), false},
		{"429", status(o, day.Add(-time.Hour), 429), false},
		{"nobody answered", broken(o, day.Add(-time.Hour), answer.ErrorConnectTimeout), false},
	} {
		past := &history{Run: "another", Last: row.last, Memory: answer.Memory{}.After(row.last.Facts().Kind(),
			row.last.Start)}
		if got := terms.isFresh(past); got != row.want {
			t.Errorf("%s: serves %v", row.name, got)
		}
	}
}

// A body that an earlier run kept up to a larger limit is cut at that of this run.
func TestBodiesOfAnotherLimit(t *testing.T) {
	m := openMemory(t, t.TempDir())
	defer closeMemory(t, m)
	keepIn(t, m, whole(host(1), day, "User-agent: *\n"))
	past := recall(t, m, host(1))
	for _, row := range []struct {
		limit int
		want  string
		cut   bool
	}{{0, "User-agent: *\n", false}, {14, "User-agent: *\n", false}, {13, "User-agent: *", true}} {
		terms := Terms{Run: "r", Limits: fetch.Limits{MaxBody: row.limit}}
		down := status(host(1), day.Add(time.Hour), 503)
		if err := m.addPast(down, &past, terms); err != nil {
			t.Fatal(err)
		}
		again := recall(t, m, host(1))
		got := m.remembered(host(1), &again, terms)
		if string(down.Copy.Body) != row.want || down.Copy.Truncated != row.cut || string(got.Body) != row.want ||
			got.Truncated != row.cut {
			t.Errorf("limit %d: the copy %q, cut %v; the answer %q, cut %v", row.limit, down.Copy.Body, down.Copy.Truncated,
				got.Body, got.Truncated)
		}
	}
}

// The answer by https counts if https was not given up, that by http only after it was.
func TestAnswersOfCandidates(t *testing.T) {
	terms := Terms{Run: "r", MaxAge: 24 * time.Hour, Now: func() time.Time { return day }}
	https := fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}
	http := fetch.Origin{Scheme: "http", Host: "a.example", Port: 80}
	past := func(o fetch.Origin, hours int, givenUp answer.ErrorClass) history {
		last := whole(o, day.Add(time.Duration(-hours)*time.Hour), "")
		last.Fallback = givenUp
		return history{Run: "another", Last: last, Memory: answer.Memory{}.After(last.Facts().Kind(), last.Start)}
	}
	for _, row := range []struct {
		name string
		past []history
		want int
	}{
		{"neither", []history{{}, {}}, -1},
		{"https", []history{past(https, 3, ""), {}}, 0},
		{"http, of a run that asked by http alone", []history{{}, past(http, 2, "")}, -1},
		{"https, and http later in such a run", []history{past(https, 3, ""), past(http, 2, "")}, 0},
		{"http, after https was given up", []history{{}, past(http, 2, answer.ErrorConnectTimeout)}, 1},
		{"https, and http later, after it was given up", []history{past(https, 3, ""),
			past(http, 2, answer.ErrorConnectTimeout)}, 1},
		{"http, and https later", []history{past(https, 1, ""), past(http, 2, answer.ErrorConnectTimeout)}, 0},
		{"https, given up after another", []history{past(https, 1, answer.ErrorConnectTimeout), {}}, -1},
	} {
		if got, _ := terms.choose(row.past); got != row.want {
			t.Errorf("%s: candidate %d serves, want %d", row.name, got, row.want)
		}
	}
}

// If no candidate answers, the facts are those of the one that had a whole copy last.
func TestThePreferredCandidate(t *testing.T) {
	past := func(hours int) history {
		return history{Copy: &goodCopy{Fetched: day.Add(time.Duration(-hours) * time.Hour)}}
	}
	for _, row := range []struct {
		name string
		past []history
		want int
	}{
		{"none had", []history{{}, {}, {}}, 0},
		{"one had", []history{{}, past(3), {}}, 1},
		{"the first had later", []history{past(1), past(3), past(2)}, 0},
		{"the first had earlier", []history{past(3), past(1), past(2)}, 1},
	} {
		if _, got := (Terms{}).choose(row.past); got != row.want {
			t.Errorf("%s: candidate %d is preferred, want %d", row.name, got, row.want)
		}
	}
}

// An answer that the same run stored before it was interrupted is one of the network;
// only that of another run is one of the memory.
func TestOwnAnswersAreOfTheNetwork(t *testing.T) {
	m := openMemory(t, t.TempDir())
	defer closeMemory(t, m)
	o := host(1)
	keepIn(t, m, whole(o, day, "User-agent: *\n"))
	for run, want := range map[string]bool{"r": false, "another": true} {
		got := m.Fetch(nil, Terms{Run: run, MaxAge: time.Hour, Now: func() time.Time { return day }}, o)
		if got.Error != "" || string(got.Body) != "User-agent: *\n" || got.Remembered != want {
			t.Errorf("run %s: remembered %v, body %q, error %v", run, got.Remembered, got.Body, got.Err)
		}
	}
}

// A request that we refused to send, or could not send, says nothing about the
// site.
func TestRequestsNotSentAreNotKept(t *testing.T) {
	m := openMemory(t, t.TempDir())
	defer closeMemory(t, m)
	o := host(1)
	keepIn(t, m, whole(o, day, "User-agent: *\n"))
	for _, class := range []answer.ErrorClass{answer.ErrorCanceled, answer.ErrorAddressBlocked, answer.ErrorNoRoute} {
		keepIn(t, m, broken(o, day.Add(time.Hour), class))
		if past := recall(t, m, o); past.Last.Error != "" || !past.Last.Start.Equal(day) || past.Copy == nil {
			t.Errorf("%s is remembered: %+v", class, past.Last)
		}
	}
}
