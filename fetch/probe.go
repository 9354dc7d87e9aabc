package fetch

import (
	"fmt"
	"math/rand/v2"
)

// probe finds out whether a 5xx for robots.txt means anything. A site that
// answers every missing page so is misconfigured, and its robots.txt is
// missing: the front page is there, and a page that cannot exist gets the
// same status (SPEC section 2, "can be determined"). It costs two requests of
// the server that gave the 5xx, within what is left of the origin's time.
//
// It reports whether it asked anything.
func (p *Place) probe(b *budget, got *Capture) bool {
	if status := got.Status(); got.Error != "" || status < 500 || status > 599 || got.at.Scheme == "ftp" {
		return false
	}
	front, fail := p.get(b, got.at, "/")
	if fail != nil || front.status < 200 || front.status > 399 {
		return true
	}
	missing, fail := p.get(b, got.at, fmt.Sprintf("/%016x%016x", rand.Uint64(), rand.Uint64()))
	got.Misconfigured = fail == nil && missing.status == got.Status()
	return true
}
