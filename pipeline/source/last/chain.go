package last

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/robots/answer"
)

// chain follows a capture through others. It ends as a chain over the network does.
type chain struct {
	*warc.Capture
	limit  int
	pages  bool // bodies of errors are kept
	seen   map[string]bool
	digest string // of the record that the chain has come to
}

func newChain(c *warc.Capture, limit int, pages bool) *chain {
	return &chain{c, limit, pages, map[string]bool{c.Hops[0].URL: true}, digestOf(c)}
}

// add adds the capture that the chain leads to: the target of a redirect, or the record
// that a revisit record stands for.
func (c *chain) add(next *warc.Capture) {
	said := digestOf(next)
	switch {
	case !c.Unstored:
	case !tagOf(c.digest).contradicts(tagOf(said)):
		c.Mismatch = cmp.Or(c.Mismatch, next.Mismatch)
	default:
		c.Mismatch = fmt.Sprintf("the original, by WARC-Refers-To, has the payload digest %s, and the revisit record %s",
			said, c.digest)
	}
	// The original of a 200 may be what another URL said with a 404.
	hasPayload := isSuccess(next.Status()) || next.Body != nil && said != "" && said == c.digest
	if !next.Unstored || c.digest == "" {
		c.digest = said
	}
	switch status := c.Status(); {
	case c.Location != "":
		if c.end(); c.Location == "" {
			return
		}
		c.seen[next.Hops[0].URL] = true
		c.Hops = append(c.Hops, next.Hops[0])
	case c.Unstored && (status == 0 || status == http.StatusNotModified):
		c.Hops[len(c.Hops)-1].Status = next.Status()
	case c.Unstored && isSuccess(status) && hasPayload: // the body alone: the header is its own
		c.Restore(&next.Capture)
		if c.Challenge == "" && isSuccess(next.Status()) {
			c.Challenge = next.Challenge
		}
		return
	default:
		return
	}
	c.HTTPVersion, c.Headers, c.Remote, c.Challenge, c.CDN = next.HTTPVersion, next.Headers, next.Remote, next.Challenge,
		next.CDN
	c.Location, c.Unstored, c.Error, c.Err = next.Location, next.Unstored, next.Error, next.Err
	if isSuccess(next.Status()) || c.pages {
		c.Body, c.Truncated, c.Digest = next.Body, next.Truncated, next.Digest
	}
}

// end ends a chain that leads in a circle or too far.
func (c *chain) end() {
	switch {
	case c.Location == "":
		return
	case c.seen[c.Location]:
		c.Error, c.Err = answer.ErrorRedirectLoop, errors.New("redirected to a URL of the same chain")
	case len(c.Hops) > c.limit:
		c.Error, c.Err = answer.ErrorRedirectLimit, fmt.Errorf("redirected more than %d times", c.limit)
	default:
		return
	}
	c.Location = ""
}
