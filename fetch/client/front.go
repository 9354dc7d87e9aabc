package client

import (
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// Bounds of the header that is kept of a front page. A longer line has no value.
const (
	maxFrontLines = 32
	maxFrontValue = 2 << 10
)

// askFront asks the origin that answered for its front page, under our own user agent, a
// second after the answer: once, and redirects are followed within its registered domain.
// We keep to the origin's robots.txt. It asks nobody if there was no answer, or over FTP.
// It returns early if the context ends or this machine fails; got then says so.
func (lease *Lease) askFront(got *heard) {
	config := &lease.client.config
	if !config.FrontPage || !got.answered() {
		return
	}
	front := &fetch.Front{Outcome: usage.PageRead}
	b := &budget{deadline: time.Now().Add(IdentityPause + config.Timeout)}
	var failed error // ours
	may := func(o fetch.Origin, target string) bool {
		front.Outcome, failed = lease.permission(got, o, target)
		return front.Outcome == usage.PageRead && failed == nil
	}
	if may(got.Origin, "/") {
		if !lease.pause(b, IdentityPause) {
			got.stop(lease.ctx.Err())
			return
		}
		lease.front = front
		a := lease.attempt(b, 1, got.Origin, route{target: "/", may: may})
		lease.front = nil
		if got.stoppedBy(lease, a) {
			return
		}
		front.Hops = a.Hops
		switch status := a.Status(); {
		case front.Outcome != usage.PageRead: // we may not follow the redirect
		case a.Error != "":
			front.Outcome, front.Error = usage.PageFailed, a.Error
		case a.Challenge != "":
			front.Outcome = usage.PageChallenge
		case status < 200 || status > 299:
			front.Outcome = usage.PageStatus
		}
	}
	if failed != nil {
		if lease.ctx.Err() == nil {
			got.Local = failed
		}
		got.stop(failed)
		return
	}
	if front.Outcome != usage.PageRead {
		front.Header = nil
	}
	got.Front = front
}

// permission returns PageRead if we may ask for a page of the origin, or of another host
// of its registered domain: the robots.txt that speaks for the origin allows it to our
// product token under RFC 9309. An error is one of this machine, or that of the context.
func (lease *Lease) permission(got *heard, o fetch.Origin, target string) (usage.PageOutcome, error) {
	if o.Host != got.Origin.Host {
		own, _ := fetch.RegisteredDomain(got.Origin.Host)
		if other, _ := fetch.RegisteredDomain(o.Host); own == "" || other != own {
			return usage.PageElsewhere, nil
		}
	}
	if got.Challenge != "" || got.Status() == http.StatusTooManyRequests || got.overFTP() {
		return usage.PageUnread, nil
	}
	rules := lease.client.rules
	switch read := rules.profile.Answer(answer.Facts{Hops: got.Hops, Error: got.Error, Time: got.Start}); {
	case read.Outcome == answer.FullAllow:
		return usage.PageRead, nil
	case read.Outcome != answer.ConditionalAllow || got.text == nil:
		return usage.PageUnread, nil
	}
	allowed, err := rules.allow(lease, got, o.String()+target)
	if err == nil && !allowed {
		return usage.PageDisallowed, nil
	}
	return usage.PageRead, err
}

// ownRules read the rules of files for our own crawler.
type ownRules struct {
	profile *robots.Profile
	agent   robots.Agent
	// readers bounds the files that are parsed at the same time.
	readers chan *rulesReader
}

type rulesReader struct {
	file  robots.File
	judge *robots.Judge
}

func newOwnRules(userAgent string) *ownRules {
	p, _ := robots.ProfileNamed("rfc9309")
	r := &ownRules{profile: p, agent: robots.Agent{Name: "own", Tokens: OwnTokens(userAgent)}, readers: make(chan *rulesReader, runtime.GOMAXPROCS(0))}
	for range cap(r.readers) {
		r.readers <- &rulesReader{judge: robots.NewJudge(p, []robots.Agent{r.agent})}
	}
	return r
}

// ourToken is the product token of this program, which a file may name whatever the user
// agent is.
const ourToken = "robocensus"

// OwnTokens returns the product tokens that we answer to: that of the user agent, and that
// of this program.
func OwnTokens(userAgent string) []string {
	product := userAgent
	if rest, ok := strings.CutPrefix(product, "Mozilla/"); ok {
		_, rest, _ = strings.Cut(rest, "compatible;")
		product = strings.TrimLeft(rest, " ")
	}
	end := strings.IndexFunc(product, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.')
	})
	if end >= 0 {
		product = product[:end]
	}
	if product == "" || strings.EqualFold(product, ourToken) {
		return []string{ourToken}
	}
	return []string{product, ourToken}
}

// allow reports whether the file of a capture allows a URL to us.
func (r *ownRules) allow(lease *Lease, got *heard, url string) (bool, error) {
	var reader *rulesReader
	select {
	case reader = <-r.readers:
	case <-lease.ctx.Done():
		return false, lease.ctx.Err()
	}
	defer func() { r.readers <- reader }()
	body, err := got.text.bytes()
	if err != nil {
		return false, err
	}
	reader.file.Cut = got.Truncated
	reader.file.Parse(body, r.profile)
	reader.judge.Load(&reader.file)
	target := r.profile.Target(url)
	return reader.judge.Policy(0).Judge(&target).Value == robots.Permitted, nil
}

// pageHeader returns the headers about use, in the order of their names and lines.
func pageHeader(h http.Header) (kept []usage.HeaderField) {
	for _, name := range usage.PageHeaders {
		for _, value := range h[http.CanonicalHeaderKey(name)] {
			if len(kept) == maxFrontLines {
				return kept
			}
			f := usage.HeaderField{Name: name}
			if len(value) <= maxFrontValue {
				value = strings.Clone(value) // releases the header block, which ReadResponse keeps as one string
				f.Value = &value
			}
			kept = append(kept, f)
		}
	}
	return kept
}
