package check

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/fetch/outage"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// liveURL returns the URL that is checked for a word: a bare host stands for its
// front page over https.
func liveURL(word string) string {
	if strings.HasPrefix(word, "/") || strings.Contains(word, "://") {
		return word
	}
	if o, path, err := fetch.Parse(word, "https"); err == nil {
		return o.String() + cmp.Or(path, "/")
	}
	return word
}

// checkLive judges URLs by the robots.txt of their origins.
func (f *checkFlags) checkLive(ctx context.Context, urls, names []string, profiles []*robots.Profile, stdout,
	stderr io.Writer) error {
	asked, err := f.findAgents(ctx, names)
	if err != nil {
		return err
	}
	shown := WithOthers(profiles)
	for _, agent := range asked {
		shown = append(shown, f.ForAgent(profiles, agent.Agent)...)
	}
	urls = slices.Clone(urls)
	for i := range urls {
		urls[i] = liveURL(urls[i])
		if err := CheckURL(urls[i], true); err != nil {
			return err
		}
	}
	captures, err := f.captures(ctx, urls, shown)
	if err != nil {
		return err
	}
	return f.explain(ctx, asked, profiles, stdout, stderr, func(e *explainer, _ bool) {
		for i, url := range urls {
			if captures[i] != nil {
				e.capture(captures[i])
			}
			e.explain(url)
		}
	})
}

// captures fetches the robots.txt of the origin of each URL. One that has the origin of
// the URL before it has none. Plans ask each origin for more.
func (f *checkFlags) captures(ctx context.Context, urls []string, profiles []*robots.Profile, plans ...fetch.Plan) (
	[]*fetch.Capture, error) {
	config, err := f.FetchConfig(ctx, profiles)
	if err != nil {
		return nil, f.InFile(err)
	}
	config.Further = plans
	client, err := client.New(config, client.Backing{})
	if err != nil {
		return nil, cli.UsageError{Err: err}
	}
	// Fetch all before judging any: one answer proves that another's failure is not
	// this machine's.
	captures := make([]*fetch.Capture, len(urls))
	reached := f.acceptUnreachable
	var doubtful *fetch.Capture
	var last fetch.Origin
	for i, url := range urls {
		origin, _, err := fetch.Parse(url, "")
		if err != nil {
			return nil, cli.UsageError{Err: err}
		}
		if origin == last {
			continue
		}
		c := client.Fetch(ctx, origin)
		if ctx.Err() != nil {
			return nil, cli.ErrInterrupted
		}
		if c.Local != nil {
			return nil, &pipeline.LocalError{Err: c.Local}
		}
		captures[i], last = c, origin
		if c.IsDoubtful() {
			doubtful = cmp.Or(doubtful, c)
		} else {
			reached = reached || c.Error != answer.ErrorAddressBlocked
		}
	}
	if doubtful != nil && !reached {
		return nil, fmt.Errorf("%w: %w; %s", outage.ErrNeverReached, doubtful.Err, afterNothing(doubtful))
	}
	return captures, nil
}

// afterNothing says what to do about a failure that may be this machine's.
func afterNothing(c *fetch.Capture) string {
	text := "this machine may be cut off; if it is connected, give --accept-unreachable"
	if c.Error == answer.ErrorReset || c.Error == answer.ErrorTLS { // which follow a connection
		text = "the connection was accepted, so this machine is not cut off; if no proxy or filter on the way ended it, " +
			"give --accept-unreachable"
	}
	if c.Origin.Scheme == "https" {
		text += ", or http:// before a host without https"
	}
	return text
}
