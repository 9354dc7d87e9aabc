package client

import (
	"net/http"
	"runtime"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
)

// Bounds of the header lines that are kept of an answer. A longer line has no value.
const (
	maxFrontLines = 32
	maxFrontValue = 2 << 10
)

// askFront asks the origin that answered for its front page, under our own user agent, as soon
// as it may be asked again: once, and redirects are followed within its registered domain.
// We keep to the robots.txt of each origin. It asks nobody if there was no answer, or over FTP.
// It returns early if the context ends or this machine fails; got then says so.
func (lease *Lease) askFront(got *heard) {
	if !lease.client.config.FrontPage || !got.answered() {
		return
	}
	f, _ := lease.further(got, &fetch.Question{Kind: fetch.KindPage, Origin: got.Origin, Target: "/",
		Headers: usage.PageHeaders})
	if f == nil {
		return
	}
	got.Front = &fetch.Front{Outcome: f.Outcome, Hops: f.Hops, Error: f.Error}
	if f.Outcome == usage.PageSpared && lease.outcome(got) == answer.Undefined {
		got.Front.Outcome = usage.PageUnread // whenever the host may be asked again
	}
	if f.Outcome == usage.PageRead {
		got.Front.Header = f.Header
	}
}

// permission returns PageRead if a page may be asked for: the robots.txt that speaks for its
// origin allows it, under RFC 9309, to an agent, nil for our own. An error is one of this
// machine, or that of the context.
func (lease *Lease) permission(got *heard, agent *robots.Agent, o fetch.Origin, target string) (usage.PageOutcome,
	error) {
	switch {
	case got.missing:
		return usage.PageRead, nil
	case got.spared:
		return usage.PageSpared, nil
	}
	switch lease.outcome(got) {
	case answer.FullAllow:
		return usage.PageRead, nil
	case answer.ConditionalAllow:
	default:
		return usage.PageUnread, nil
	}
	allowed, err := lease.client.rules.allow(lease, got, agent, o.String()+target)
	if err == nil && !allowed {
		return usage.PageDisallowed, nil
	}
	return usage.PageRead, err
}

// outcome returns what the answer of the host means for our own crawler: undefined if it
// does not say what we may fetch.
func (lease *Lease) outcome(got *heard) answer.Outcome {
	if got.Challenge != "" || got.Status() == http.StatusTooManyRequests || got.overFTP() {
		return answer.Undefined
	}
	read := lease.client.rules.profile.Answer(answer.Facts{Hops: got.Hops, Error: got.Error, Time: got.Start})
	if read.Outcome == answer.FullAllow || read.Outcome == answer.ConditionalAllow && got.text != nil {
		return read.Outcome
	}
	return answer.Undefined
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
	r := &ownRules{profile: p, agent: robots.Agent{Name: "own", Tokens: OwnTokens(userAgent)},
		readers: make(chan *rulesReader, runtime.GOMAXPROCS(0))}
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

// allow reports whether the file of a capture allows a URL to an agent, nil for our own.
func (r *ownRules) allow(lease *Lease, got *heard, agent *robots.Agent, url string) (allowed bool, err error) {
	err = r.parse(lease, got, r.profile, func(reader *rulesReader) {
		judge := reader.judge
		if agent != nil {
			judge = robots.NewJudge(r.profile, []robots.Agent{*agent})
		}
		judge.Load(&reader.file)
		target := r.profile.Target(url)
		allowed = judge.Policy(0).Judge(&target).Value == robots.Permitted
	})
	return allowed, err
}

// parse calls each with a reader that has parsed the file of a capture.
func (r *ownRules) parse(lease *Lease, got *heard, p *robots.Profile, each func(*rulesReader)) error {
	var reader *rulesReader
	select {
	case reader = <-r.readers:
	case <-lease.ctx.Done():
		return lease.ctx.Err()
	}
	defer func() { r.readers <- reader }()
	body, err := got.text.bytes()
	if err != nil {
		return err
	}
	reader.file.Cut = got.Truncated
	reader.file.Parse(body, p)
	each(reader)
	return nil
}

// headerLines returns the lines of the headers of these names, in lower case, in the order
// of their names and lines.
func headerLines(h http.Header, names []string) (kept []usage.HeaderField) {
	for _, name := range names {
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
