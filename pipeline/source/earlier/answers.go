package earlier

import (
	"context"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/verify"
)

// besideReader reads the rows of another table of a segment along with those of fetches.
// Both ascend by seq.
type besideReader[R any] struct {
	rowReader[R]
	ahead *R // read, and of a later target
	what  string
	most  int // rows of a target
	seq   func(*R) int64
	check func(*R) error
}

// upTo returns the rows of targets up to a seq, by seq.
func (r *besideReader[R]) upTo(last int64) (map[int64][]R, error) {
	all := make(map[int64][]R)
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
		seq := r.seq(row)
		if seq > last {
			return all, nil
		}
		if err := r.check(row); err != nil {
			return nil, err
		}
		if all[seq] = append(all[seq], *row); len(all[seq]) > r.most {
			return nil, fmt.Errorf("seq %d has more than %d %s", seq, r.most, r.what)
		}
		r.ahead = nil
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

// listed returns the readers of the sitemaps and the pages of a segment.
func (r *Run) listed(ctx context.Context, parts *Segment) (*besideReader[schema.SitemapFile],
	*besideReader[schema.ListedURL]) {
	files := &besideReader[schema.SitemapFile]{
		rowReader: newRowReader[schema.SitemapFile](ctx, r.in, parts.sitemaps), what: "sitemaps", most: fetch.MaxFurther,
		seq: func(row *schema.SitemapFile) int64 { return row.Seq }, check: verify.CheckSitemapFile,
	}
	pages := &besideReader[schema.ListedURL]{
		rowReader: newRowReader[schema.ListedURL](ctx, r.in, parts.urls), what: "listed pages", most: sitemap.MaxSample,
		seq: func(row *schema.ListedURL) int64 { return row.Seq }, check: func(*schema.ListedURL) error { return nil },
	}
	return files, pages
}
