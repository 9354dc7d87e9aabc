package last

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// chain follows a capture through others. It ends as a chain over the network does.
type chain struct {
	*fetch.Capture
	limit int
	seen  map[string]bool
}

func newChain(c *fetch.Capture, limit int) *chain {
	return &chain{c, limit, map[string]bool{c.Hops[0].URL: true}}
}

// add adds the capture that the chain leads to: the target of a redirect, or the record
// that a revisit record stands for.
func (c *chain) add(next *fetch.Capture) {
	switch status := c.Status(); {
	case c.Location != "":
		if c.end(); c.Location == "" {
			return
		}
		c.seen[next.Hops[0].URL] = true
		c.Hops = append(c.Hops, next.Hops[0])
	case c.Unstored && (status == 0 || status == http.StatusNotModified):
		c.Hops[len(c.Hops)-1].Status = next.Status()
	case c.Unstored && isAnswer(status) && isAnswer(next.Status()): // the body alone: the header is its own
		c.Body, c.Truncated, c.Digest, c.Unstored, c.Error, c.Err = next.Body, next.Truncated, next.Digest, next.Unstored, next.Error, next.Err
		if c.Challenge == "" {
			c.Challenge = next.Challenge
		}
		return
	default:
		return
	}
	c.HTTPVersion, c.Headers, c.Remote, c.Challenge = next.HTTPVersion, next.Headers, next.Remote, next.Challenge
	c.Location, c.Unstored, c.Error, c.Err = next.Location, next.Unstored, next.Error, next.Err
	c.Body, c.Truncated, c.Digest = next.Body, next.Truncated, next.Digest
}

func isAnswer(status int) bool { return status >= 200 && status < 300 }

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
