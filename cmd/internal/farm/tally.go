package farm

import "net"

// maxWatched bounds the connections of one tally that are looked at again
// before a new peak is believed.
const maxWatched = 64

// tally counts what one host, domain or address was asked, and how much of
// it at once. Guarded by the server's lock.
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
	// A client that hangs up and dials again at once may be seen doing the
	// second before the first. A peak is evidence against it, so connections
	// that it has closed already do not count, whether or not their
	// goroutines have had the time to notice.
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
		t.watched = nil // most hosts are asked once
	}
}

// reset begins anew with what is going on.
func (t *tally) reset() { t.asked, t.peak = 0, t.now }
