package earlier

import (
	"fmt"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// besideReader reads the rows of another table of a segment along with those of fetches.
// Both ascend by seq.
type besideReader[R any] struct {
	*rowio.Cursor[R]
	what  string
	most  int // rows of a target
	check func(*R) error
}

// upTo returns the rows of targets up to a seq, by seq.
func (r *besideReader[R]) upTo(last int64) (map[int64][]R, error) {
	all := make(map[int64][]R)
	for {
		row, seq, err := r.UpTo(last)
		if row == nil || err != nil {
			return all, err
		}
		if err := r.check(row); err != nil {
			return nil, err
		}
		if all[seq] = append(all[seq], *row); len(all[seq]) > r.most {
			return nil, fmt.Errorf("seq %d has more than %d %s", seq, r.most, r.what)
		}
	}
}

// alsoOf makes the answer to an identity of its row.
func alsoOf(row *schema.Answer, o fetch.Origin, body []byte) fetch.Also {
	c := &fetch.Capture{
		Origin: o, Start: schema.OrZero(row.FetchTime), Attempts: 1, Error: answer.ErrorClass(schema.OrZero(row.ErrorClass)),
		Challenge: schema.OrZero(row.Challenge),
		Times:     fetch.Times{Total: duration(row.TotalMicros)}, Body: body, Truncated: row.BodyTruncated,
	}
	if body == nil && row.BodyBytes != nil {
		size := int(*row.BodyBytes)
		c.Cut = &size
	}
	c.Hops = hopsOf(row.Hops)
	restoreError(c, row.Error)
	var price *consent.Price
	if row.Price != nil || row.PriceHeader != nil {
		price = &consent.Price{Header: schema.OrZero(row.PriceHeader), Text: schema.OrZero(row.Price)}
	}
	return fetch.Also{
		Price: price,
		Identity: fetch.Identity{Name: row.Identity, UserAgent: row.UserAgent, IsControl: row.IsControl,
			Agent: schema.OrZero(row.Agent)},
		Capture: c,
	}
}
