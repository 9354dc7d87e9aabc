package records

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Answer is what a host answered to an identity that is not a control, for its robots.txt or for
// a page.
type Answer struct {
	IsPage          bool
	Identity, Agent string // no agent is ""
	asked           uint64 // hash of the user agent, the agent and the path: equal if the question is
	State           string // as [summary.AnswerState] or [summary.PageState] has it, "" if it is not known
	digest          string // of a file that is not that of the host's own answer
}

// askedSeed hashes user agents, for this process alone.
var askedSeed = maphash.MakeSeed()

// encodeAnswers encodes the answers of a target: those for robots.txt, then those for a page, in
// the order of identities. How a host answers an identity is known only if it answers a control
// as it answers us, or serves a control the page each time that it asks: else it may turn away any
// second request.
func encodeAnswers(rows []schema.Answer, _ *Names) string {
	var lets [2]bool // no control, or each is let in; of robots.txt, and of a page
	lets[0], lets[1] = true, true
	for i := range rows {
		switch a := &rows[i]; {
		case !a.IsControl:
		case schema.IsPage(a.Path):
			lets[1] = lets[1] && a.Treatment == string(consent.PageServed) && schema.OrZero(a.Remark) != consent.WhyOnce
		default:
			lets[0] = lets[0] && summary.AnswerState(a.Treatment, a.Policy) == summary.Alike
		}
	}
	var e Encoder
	for _, a := range slices.SortedFunc(slices.Values(rows), func(a, b schema.Answer) int {
		return cmp.Or(place(schema.IsPage(a.Path))-place(schema.IsPage(b.Path)), strings.Compare(a.Identity, b.Identity))
	}) {
		if a.IsControl {
			continue
		}
		state, digest, isPage := "", "", place(schema.IsPage(a.Path))
		switch {
		case !lets[isPage]:
		case isPage == 1:
			state = summary.PageState(a.Treatment)
		default:
			state = summary.AnswerState(a.Treatment, a.Policy)
		}
		if summary.IsOtherFile(state) {
			digest = schema.OrZero(a.ContentDigest)
		}
		e.Uint(uint64(isPage))
		e.Text(a.Identity)
		e.Text(schema.OrZero(a.Agent))
		e.Uint(maphash.String(askedSeed, a.UserAgent+"\x00"+schema.OrZero(a.Agent)+"\x00"+a.Path))
		e.Text(state)
		e.Text(digest)
	}
	return string(e)
}

// place returns the place of answers for a page, and of others.
func place(isPage bool) int {
	if isPage {
		return 1
	}
	return 0
}

// Compare orders answers as a host has them.
func (a *Answer) Compare(b *Answer) int {
	return cmp.Or(place(a.IsPage)-place(b.IsPage), strings.Compare(a.Identity, b.Identity))
}

// Answers returns what the host answered to identities, in their order: for robots.txt, then for
// a page.
func (f *Fetched) Answers() (out []Answer) {
	for d := Decoder(f.beside[OfAnswers]); len(d) > 0; {
		out = append(out, Answer{d.Uint() == 1, d.Text(), d.Text(), d.Uint(), d.Text(), d.Text()})
	}
	return out
}

// SameQuestion reports whether both are answers to an identity of one name, user agent and
// agent, for one path.
func (a *Answer) SameQuestion(b *Answer) bool { return a.Compare(b) == 0 && a.asked == b.asked }

// SameFile reports whether both are the same file, or neither is one that is not that of
// the host's own answer.
func (a *Answer) SameFile(b *Answer) bool { return a.digest == b.digest }
