package fetch

import (
	"fmt"
	"slices"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// recall answers from the memory where that may serve, else from the network,
// and keeps what it has learned. A memory that fails is a failure of this
// machine: no host's facts can be told without it.
func (lease *Lease) recall(candidates []Origin) *Capture {
	config := &lease.client.config
	pasts := make([]history, len(candidates))
	for i, o := range candidates {
		var err error
		if pasts[i], err = config.Memory.recall(o); err != nil {
			return lost(o, err)
		}
	}
	serves, prefer := -1, 0
	for i := range pasts {
		past := &pasts[i]
		// A later candidate's answer stands for all only if it was got after
		// the first was given up, and the first one's only if it was not.
		if last := past.Last; last != nil && (last.Fallback != "") == (i > 0) && (lease.client.isOwn(past) || lease.client.isFresh(past)) &&
			(serves < 0 || last.Start.After(pasts[serves].Last.Start)) {
			serves = i
		}
		// Where no scheme answers, the row is of the one that last did.
		if past.Copy != nil && (pasts[prefer].Copy == nil || past.Copy.Fetched.After(pasts[prefer].Copy.Fetched)) {
			prefer = i
		}
	}
	if serves >= 0 {
		return lease.client.remembered(candidates[serves], &pasts[serves])
	}
	got := lease.ask(candidates, prefer)
	if got.Error == robots.Canceled || got.Local != nil {
		return got
	}
	past := &pasts[max(0, slices.Index(candidates, got.Origin))]
	if err := lease.client.addPast(got, past); err != nil {
		return lost(got.Origin, err)
	}
	// The slot is held until the answer is stored: what a crash can lose, and
	// another run asks again, is then bounded by the concurrency.
	if err := config.Memory.keep(config.Run, got); err != nil {
		return lost(got.Origin, err)
	}
	return got
}

func lost(o Origin, err error) *Capture {
	return &Capture{Origin: o, Start: time.Now(), Error: robots.Canceled, Err: err, Local: err}
}

// isOwn says that this run has stored the answer itself, before it was
// interrupted.
func (c *Client) isOwn(past *history) bool { return past.Last != nil && past.Run == c.config.Run }

// isFresh says that the answer of another run may serve without a request. What
// some profile counts as an outage never may, nor what this run might read or
// follow further.
func (c *Client) isFresh(past *history) bool {
	last := past.Last
	if last == nil || !past.Memory.Settled() || last.Truncated ||
		last.Error == robots.RedirectLimit && len(last.Hops) <= c.config.MaxRedirects {
		return false
	}
	age := c.config.Now().Sub(past.Last.Start)
	return age >= 0 && age < lifetime(c.config.MaxAge, past.Last.Headers.CacheControl, c.config.Lengthen)
}

// remembered is the answer as it was stored.
func (c *Client) remembered(o Origin, past *history) *Capture {
	got := past.Last
	got.Remembered = !c.isOwn(past)
	if past.LastBody != nil {
		var err error
		if got.Body, err = c.config.Memory.body(*past.LastBody); err != nil {
			return lost(o, err)
		}
	}
	if err := c.addPast(got, past); err != nil {
		return lost(o, err)
	}
	return got
}

// addPast adds to the facts what is known of the origin's past. Only an answer
// that some profile may count as an outage needs the copy.
func (c *Client) addPast(got *Capture, past *history) error {
	got.Memory = &past.Memory
	if past.Copy == nil || got.Facts().Kind().Settled() {
		return nil
	}
	body, err := c.config.Memory.body(past.Copy.Digest)
	if err != nil {
		return fmt.Errorf("the last whole copy of %s: %w", got.Origin, err)
	}
	got.Copy = &WholeCopy{Fetched: past.Copy.Fetched, Body: body, Truncated: past.Copy.Truncated}
	return nil
}
