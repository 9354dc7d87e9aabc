package fetch

import (
	"fmt"
	"math/rand/v2"

	"github.com/robocensus/robocensus/robots/answer"
)

// A Probe has the statuses of two pages of an origin, 0 if a page was not
// requested or gave no answer: its front page, and one that cannot exist.
type Probe struct{ Front, Missing int }

// misconfigured reports whether the front page exists, and a page that cannot
// exist gets the same 5xx as robots.txt.
func (p Probe) misconfigured(status int) bool {
	return p.hasFront() && status >= 500 && status <= 599 && p.Missing == status
}

func (p Probe) hasFront() bool { return p.Front >= 200 && p.Front <= 399 }

// probe determines whether a 5xx for robots.txt means anything. A site that
// answers every missing page with 5xx is misconfigured, and its robots.txt is
// missing: the front page exists, and a page that cannot exist gets the same
// status. Google's document says to treat such a 5xx as a 404. The probe costs
// two requests to the server that gave the 5xx, within the time that the origin
// has left.
//
// It reports whether it sent a request.
func (lease *Lease) probe(b *budget, got *Capture) bool {
	if status := got.Status(); got.Error != "" || status < 500 || status > 599 || got.at.Scheme == "ftp" {
		return false
	}
	got.Probe.Front = lease.page(b, got, "/")
	if got.Probe.hasFront() {
		got.Probe.Missing = lease.page(b, got, fmt.Sprintf("/%016x%016x", rand.Uint64(), rand.Uint64()))
	}
	return true
}

// page requests one more page of the origin that answered, and returns its status.
func (lease *Lease) page(b *budget, got *Capture, target string) (status int) {
	before := len(lease.exchanges)
	err := lease.sure(b, func() answer.ErrorClass {
		lease.exchanges = lease.exchanges[:before]
		a, fail := lease.ask(b, got.at, target)
		if status = 0; fail != nil {
			return fail.class
		}
		status = a.status
		return ""
	})
	if err != nil && lease.ctx.Err() == nil {
		got.Local = err
	}
	return status
}
