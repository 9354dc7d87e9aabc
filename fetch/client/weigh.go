package client

import (
	"context"
	"net"
	"time"
)

// weighed is a connection that takes a place among the heavy answers if its TLS
// handshake and header are longer than usual: they are held in memory until
// they are complete, and take several times as much once parsed. The wait for
// the place is ours, not the host's.
type weighed struct {
	net.Conn
	ctx    context.Context
	spool  *spool
	paused func(time.Duration)
	read   int
	body   bool // the header has been read
	held   bool
}

func (w *weighed) Read(p []byte) (int, error) {
	if w.read > lightBytes && !w.held && !w.body {
		began := time.Now()
		select {
		case w.spool.heavy <- struct{}{}:
			w.held = true
		case <-w.ctx.Done():
			return 0, w.ctx.Err()
		}
		w.paused(time.Since(began))
	}
	n, err := w.Conn.Read(p)
	w.read += n
	return n, err
}

// leave releases the place.
func (w *weighed) leave() {
	if w.held {
		<-w.spool.heavy
	}
}
