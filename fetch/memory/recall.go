package memory

import (
	"fmt"
	"slices"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/robots/answer"
)

// Terms say when a stored answer may be used without a request. An answer
// stored by the run named Run may always be. One of another run may be if it is
// younger than MaxAge or than its Cache-Control says, which can extend MaxAge
// only if Lengthen is set.
type Terms struct {
	Run      string
	MaxAge   time.Duration
	Lengthen bool
	Now      func() time.Time // nil: time.Now

	fetch.Limits // of this run; a MaxBody of 0 keeps all of a body
}

// Fetch returns the stored answer if the terms permit, else one from the
// network, and stores that. A failure of the memory is a failure of this
// machine: without it no host's facts are complete.
func (m *Memory) Fetch(lease *client.Lease, t Terms, candidates ...fetch.Origin) *fetch.Capture {
	pasts := make([]history, len(candidates))
	for i, o := range candidates {
		var err error
		if pasts[i], err = m.recall(o); err != nil {
			return lost(o, err)
		}
	}
	serves, prefer := t.choose(pasts)
	if serves >= 0 {
		return m.remembered(candidates[serves], &pasts[serves], t)
	}
	got := lease.Fetch(prefer, candidates...)
	if got.Error == answer.ErrorCanceled || got.Local != nil {
		return got
	}
	past := &pasts[max(0, slices.Index(candidates, got.Origin))]
	if err := m.addPast(got, past, t); err != nil {
		return lost(got.Origin, err)
	}
	// The lease keeps its slot until the answer is stored. So a crash loses at
	// most as many answers as there are slots, and only those are requested
	// again.
	if err := m.keep(t.Run, got); err != nil {
		return lost(got.Origin, err)
	}
	return got
}

// choose returns the candidate whose past answer may be used without a request,
// -1 for none, and the candidate whose facts count if none answers: the one
// that last had a whole copy.
func (t Terms) choose(pasts []history) (serves, prefer int) {
	serves = -1
	for i := range pasts {
		past := &pasts[i]
		// A later candidate's answer counts for all only if it came after the
		// first was given up, and the first one's only if it was not.
		if last := past.Last; last != nil && (last.Fallback != "") == (i > 0) && (t.isOwn(past) || t.isFresh(past)) &&
			(serves < 0 || last.Start.After(pasts[serves].Last.Start)) {
			serves = i
		}
		if past.Copy != nil && (pasts[prefer].Copy == nil || past.Copy.Fetched.After(pasts[prefer].Copy.Fetched)) {
			prefer = i
		}
	}
	return serves, prefer
}

func lost(o fetch.Origin, err error) *fetch.Capture {
	return &fetch.Capture{Origin: o, Start: time.Now(), Error: answer.ErrorCanceled, Err: err, Local: err}
}

// isOwn reports whether this run stored the answer itself, before it was
// interrupted.
func (t Terms) isOwn(past *history) bool { return past.Last != nil && past.Run == t.Run }

// isFresh reports whether the answer of another run may be used without a
// request. An answer that some profile counts as an outage never may, nor one
// that this run might read or follow further.
func (t Terms) isFresh(past *history) bool {
	last := past.Last
	if last == nil || !past.Memory.Settled() || last.Truncated || t.ErrorBodies && past.LastBody == nil &&
		last.Status()/100 != 2 ||
		last.Error == answer.ErrorRedirectLimit && len(last.Hops) <= t.MaxRedirects {
		return false
	}
	age := t.now().Sub(past.Last.Start)
	return age >= 0 && age < lifetime(t.MaxAge, past.Last.Headers.CacheControl, t.Lengthen)
}

func (t Terms) now() time.Time {
	if t.Now != nil {
		return t.Now()
	}
	return time.Now()
}

// remembered returns the answer as it was stored.
func (m *Memory) remembered(o fetch.Origin, past *history, t Terms) *fetch.Capture {
	got := past.Last
	got.Remembered = !t.isOwn(past)
	if past.LastBody != nil {
		var err error
		if got.Body, err = m.body(*past.LastBody); err != nil {
			return lost(o, err)
		}
		got.Body, got.Truncated = t.cut(got.Body, got.Truncated)
	}
	if err := m.addPast(got, past, t); err != nil {
		return lost(o, err)
	}
	return got
}

// addPast adds the origin's history to the facts. Only an answer that some
// profile may count as an outage needs the copy.
func (m *Memory) addPast(got *fetch.Capture, past *history, t Terms) error {
	got.Memory = &past.Memory
	if past.Copy == nil || got.Facts().Kind().Settled() {
		return nil
	}
	body, err := m.body(past.Copy.Digest)
	if err != nil {
		return fmt.Errorf("the last whole copy of %s: %w", got.Origin, err)
	}
	got.Copy = &fetch.WholeCopy{Fetched: past.Copy.Fetched}
	got.Copy.Body, got.Copy.Truncated = t.cut(body, past.Copy.Truncated)
	return nil
}

// cut cuts a body that was kept up to the limit of another run.
func (t Terms) cut(body []byte, truncated bool) ([]byte, bool) {
	if t.MaxBody > 0 && len(body) > t.MaxBody {
		return body[:t.MaxBody], true
	}
	return body, truncated
}
