package farm

import "net"

// maxWatched bounds the connections that a tally checks again before it accepts
// a new peak.
const maxWatched = 64

// tally counts requests or connections, in total and at once. It is guarded by
// Server.mu.
type tally struct {
	asked     int64
	now, peak int32
	watched   []*net.TCPConn
}

func (t *tally) enter(c *net.TCPConn) {
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

func (t *tally) leave(c *net.TCPConn) {
	t.now--
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
func (t *tally) reset() { t.asked, t.peak = 0, t.now }
