package records

import (
	"context"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// Answer is what a host answered to an identity that is not a control.
type Answer struct {
	Identity, Agent string // no agent is ""
	asked           uint64 // hash of the user agent and the agent: equal if the question is
	State           string // as [change.AnswerState] has it, "" if it is not known
	digest          string // of a file that is not that of the host's own answer
}

// askedSeed hashes user agents, for this process alone.
var askedSeed = maphash.MakeSeed()

var answerColumns = []string{"seq", "path", "identity", "is_control", "user_agent", "agent", "treatment", "policy",
	"content_digest"}

// readAnswers reads the parts of answers of a segment.
func readAnswers(ctx context.Context, in store.Store, parts []journal.Part) (map[int64]string, error) {
	return readBeside(ctx, in, parts, answerColumns, func(a *schema.Answer) int64 { return a.Seq }, encodeAnswers)
}

// encodeAnswers encodes the answers of a target, in the order of identities. How a host
// answers an identity is known only if it answers a control as it answers us: else it may
// turn away any second request.
func encodeAnswers(rows []schema.Answer) string {
	alone := true // no control, or each is answered as we are
	for i := range rows {
		alone = alone && (rows[i].IsPage() || !rows[i].IsControl || change.AnswerState(rows[i].Treatment, rows[i].Policy) == change.Alike)
	}
	var e Encoder
	for _, a := range slices.SortedFunc(slices.Values(rows),
		func(a, b schema.Answer) int { return strings.Compare(a.Identity, b.Identity) }) {
		if a.IsControl || a.IsPage() {
			continue
		}
		state, digest := "", ""
		if alone {
			state = change.AnswerState(a.Treatment, a.Policy)
		}
		if change.IsOtherFile(state) {
			digest = schema.OrZero(a.ContentDigest)
		}
		e.Text(a.Identity)
		e.Text(schema.OrZero(a.Agent))
		e.Uint(maphash.String(askedSeed, a.UserAgent+"\x00"+schema.OrZero(a.Agent)))
		e.Text(state)
		e.Text(digest)
	}
	return string(e)
}

// Answers returns what the host answered to identities, in their order.
func (f *Fetched) Answers() (out []Answer) {
	for d := Decoder(f.beside[OfAnswers]); len(d) > 0; {
		out = append(out, Answer{d.Text(), d.Text(), d.Uint(), d.Text(), d.Text()})
	}
	return out
}

// SameQuestion reports whether both are answers to an identity of one name, user agent and
// agent.
func (a *Answer) SameQuestion(b *Answer) bool { return a.Identity == b.Identity && a.asked == b.asked }

// SameFile reports whether both are the same file, or neither is one that is not that of
// the host's own answer.
func (a *Answer) SameFile(b *Answer) bool { return a.digest == b.digest }
