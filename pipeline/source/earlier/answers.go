package earlier

import (
	"errors"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/verify"
)

// answerReader reads the answers to identities of a segment along with the rows of
// fetches. Both ascend by seq.
type answerReader struct {
	rowReader[schema.Answer]
	ahead *schema.Answer // read, and of a later target
}

// upTo returns the answers of targets up to a seq, by seq.
func (r *answerReader) upTo(last int64) (map[int64][]schema.Answer, error) {
	all := make(map[int64][]schema.Answer)
	for {
		if r.ahead == nil {
			row, err := r.next()
			if err == io.EOF {
				return all, nil
			}
			if err != nil {
				return nil, err
			}
			r.ahead = row
		}
		row := r.ahead
		if row.Seq > last {
			return all, nil
		}
		if err := verify.CheckAnswer(row); err != nil {
			return nil, err
		}
		if all[row.Seq] = append(all[row.Seq], *row); len(all[row.Seq]) > fetch.MaxIdentities {
			return nil, fmt.Errorf("seq %d has more than %d answers to identities", row.Seq, fetch.MaxIdentities)
		}
		r.ahead = nil
	}
}

// alsoOf makes the answer to an identity of its row.
func alsoOf(row *schema.Answer, o fetch.Origin, body []byte) fetch.Also {
	c := &fetch.Capture{
		Origin: o, Start: row.FetchTime, Attempts: 1, Error: answer.ErrorClass(schema.OrZero(row.ErrorClass)), Challenge: schema.OrZero(row.Challenge),
		Times: fetch.Times{Total: duration(row.TotalMicros)}, Body: body, Truncated: row.BodyTruncated,
	}
	switch {
	case c.Error == answer.ErrorServerError, c.Error == answer.ErrorUnexpectedStatus:
		c.Error = "" // in a capture, these are statuses
	case row.Error != nil:
		c.Err = errors.New(*row.Error)
	}
	if body == nil && row.BodyBytes != nil {
		size := int(*row.BodyBytes)
		c.Cut = &size
	}
	c.Hops = hopsOf(row.Hops)
	return fetch.Also{
		Identity: fetch.Identity{Name: row.Identity, UserAgent: row.UserAgent, IsControl: row.IsControl, Agent: schema.OrZero(row.Agent)},
		Capture:  c,
	}
}
