package fetch

import (
	"fmt"
	"math/rand/v2"

	"github.com/robocensus/robocensus/robots"
)

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
	front, fail := lease.page(b, got, "/")
	if fail != nil || front.status < 200 || front.status > 399 {
		return true
	}
	missing, fail := lease.page(b, got, fmt.Sprintf("/%016x%016x", rand.Uint64(), rand.Uint64()))
	got.Misconfigured = fail == nil && missing.status == got.Status()
	return true
}

// page requests one more page of the origin that answered.
func (lease *Lease) page(b *budget, got *Capture, target string) (a answer, fail *failure) {
	err := lease.sure(b, func() robots.ErrorClass {
		if a, fail = lease.get(b, got.at, target); fail == nil {
			return ""
		}
		return fail.class
	})
	if err != nil && lease.ctx.Err() == nil {
		got.Local = err
	}
	return a, fail
}
