package earlier

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/verify"
)

// answerReader reads the answers to identities of a segment along with the rows of
// fetches. Both ascend by seq.
type answerReader struct {
	run    *Run
	parts  []journal.Part // to open
	file   *os.File
	groups []parquet.RowGroup // to read
	rows   *parquet.GenericReader[schema.Answer]
	batch  []schema.Answer
	ahead  *schema.Answer // read, and of a later target
}

// answersBatch is the number of rows that are read at once.
const answersBatch = 256

// upTo returns the answers of targets up to a seq, by seq.
func (r *answerReader) upTo(ctx context.Context, last int64) (map[int64][]schema.Answer, error) {
	all := make(map[int64][]schema.Answer)
	for {
		if r.ahead == nil {
			row, err := r.read(ctx)
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

// read returns the next row.
func (r *answerReader) read(ctx context.Context) (_ *schema.Answer, err error) {
	defer scan.Recovered(&err)
	for len(r.batch) == 0 {
		switch {
		case r.rows != nil:
			batch := make([]schema.Answer, answersBatch)
			n, err := r.rows.Read(batch)
			if r.batch = batch[:n]; err == io.EOF {
				r.rows.Close()
				r.rows = nil
			} else if err != nil {
				return nil, err
			}
		case len(r.groups) > 0:
			g := r.groups[0]
			for _, c := range g.ColumnChunks() { // of a part that somebody else wrote
				if c.NumValues() > mostValues*(g.NumRows()+answersBatch) {
					return nil, fmt.Errorf("a column of answers has %d values in %d rows", c.NumValues(), g.NumRows())
				}
			}
			r.groups, r.rows = r.groups[1:], parquet.NewGenericRowGroupReader[schema.Answer](g)
		case len(r.parts) > 0:
			p := r.parts[0]
			r.close()
			if r.file, err = scan.OpenPart(ctx, r.run.in, p); err != nil {
				return nil, err
			}
			opened, err := openNeeded[schema.Answer](r.file, p)
			if err != nil {
				return nil, err
			}
			r.parts, r.groups = r.parts[1:], opened.RowGroups()
		default:
			return nil, io.EOF
		}
	}
	row := &r.batch[0]
	r.batch = r.batch[1:]
	return row, nil
}

// close closes the part that is open.
func (r *answerReader) close() {
	if r.rows != nil {
		r.rows.Close()
		r.rows = nil
	}
	if r.file != nil {
		r.file.Close()
		r.file = nil
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
	return fetch.Also{Identity: fetch.Identity{Name: row.Identity, UserAgent: row.UserAgent, IsControl: row.IsControl, Agent: schema.OrZero(row.Agent)}, Capture: c}
}
