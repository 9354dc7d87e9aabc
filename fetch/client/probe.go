package client

import (
	"fmt"
	"math/rand/v2"
	"net/http"

	"github.com/robocensus/robocensus/robots/answer"
)

// probe determines whether a 5xx for robots.txt means anything. A site that
// answers every missing page with 5xx is misconfigured, and its robots.txt is
// missing: the front page exists, and a page that cannot exist gets the same
// status. Google's document says to treat such a 5xx as a 404. The probe costs
// two requests to the server that gave the 5xx, within the time that the origin
// has left.
//
// A 429, which that document reads as a 5xx, has no misconfigured sites, but what holds after
// weeks of it depends on the front page, too: it alone is requested then.
//
// An origin that wants to be left alone is (Retry-After): what a 5xx means is not known then.
//
// It reports whether it sent a request, or was stopped before one.
func (lease *Lease) probe(b *budget, got *heard) bool {
	status := got.Status()
	fails := status >= 500 && status <= 599
	if got.Error != "" || !fails && status != http.StatusTooManyRequests || got.at.Scheme == "ftp" {
		return false
	}
	wait, again := got.pause(0)
	b.deadline = b.deadline.Add(wait) // retries may have used up what it takes
	if !again || wait > 0 && !lease.pause(b, wait) {
		return lease.ctx.Err() != nil
	}
	got.Probe.Front = lease.page(b, got, "/")
	if fails && got.Probe.HasFront() {
		got.Probe.Missing = lease.page(b, got, fmt.Sprintf("/%016x%016x", rand.Uint64(), rand.Uint64()))
	}
	return true
}

// page requests one more page of the origin that answered, and returns its status.
func (lease *Lease) page(b *budget, got *heard, target string) (status int) {
	before := len(lease.exchanges)
	err := lease.sure(b, func() answer.ErrorClass {
		lease.exchanges = lease.exchanges[:before]
		a, fail := lease.ask(b, got.at, target)
		if status = 0; fail != nil {
			return fail.Class
		}
		status = a.status
		return ""
	})
	if err != nil && lease.ctx.Err() == nil {
		got.Local = err
	}
	return status
}
