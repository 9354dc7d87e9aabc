package farm

import (
	"net"
	"time"
)

// maxWatched bounds the connections that a tally checks again before it accepts
// a new peak.
const maxWatched = 64

// tally counts requests or connections, in total and at once. It is guarded by
// Server.mu.
type tally struct {
	asked     int64
	now, peak int32
	left      time.Time     // when the last one ended, if none is in flight
	since     time.Duration // from then to the start of the next, 0 if there was none
	gap       time.Duration // least of these, but for redirects; 0 if there is none
	watched   []*net.TCPConn
}

func (t *tally) enter(c *net.TCPConn) {
	if t.since = 0; t.now == 0 && !t.left.IsZero() {
		t.since = time.Since(t.left)
	}
	t.now++
	if len(t.watched) < maxWatched {
		t.watched = append(t.watched, c)
	}
	if t.now <= t.peak {
		return
	}
	// When a client closes a connection and dials again, the farm may see the
	// new connection before the close. A peak is evidence against the client,
	// so connections that it has already closed must not count.
	live := t.now
	if t.now <= maxWatched {
		for _, w := range t.watched {
			if !established(w) {
				live--
			}
		}
	}
	t.peak = max(t.peak, live)
}

// begun counts the time before the current request, which follows no redirect.
func (t *tally) begun() {
	if t.since > 0 && (t.gap == 0 || t.since < t.gap) {
		t.gap = t.since
	}
}

func (t *tally) leave(c *net.TCPConn) {
	if t.now--; t.now == 0 {
		t.left = time.Now()
	}
	for i, w := range t.watched {
		if w == c {
			last := len(t.watched) - 1
			t.watched[i] = t.watched[last]
			t.watched[last] = nil
			t.watched = t.watched[:last]
			break
		}
	}
	if len(t.watched) == 0 {
		t.watched = nil // most hosts get one request: free the memory
	}
}

// reset clears the counts but keeps what is in flight.
func (t *tally) reset() { t.asked, t.peak, t.left, t.since, t.gap = 0, t.now, time.Time{}, 0, 0 }
