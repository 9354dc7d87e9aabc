package records

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/scan"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// ReadBodies adds a record with the body to a sorter for each target that needs one
// from a part. It reads one body at a time, as each may have half a megabyte.
func ReadBodies(ctx context.Context, in store.Store, parts []journal.Part, list []Wanted, into *sorter.Sorter) error {
	of := make(map[string][]int64)
	for _, w := range list {
		if w.Digest != "" {
			of[w.Digest] = append(of[w.Digest], w.N)
		}
	}
	for _, p := range parts {
		if len(of) == 0 {
			return nil
		}
		if err := readBodiesOf(ctx, in, p, of, into); err != nil {
			return err
		}
	}
	return nil
}

// readBodiesOf reads the bodies of one part, and removes those that it finds from of,
// the targets by digest.
func readBodiesOf(ctx context.Context, in store.Store, p journal.Part, of map[string][]int64, into *sorter.Sorter) (err error) {
	defer scan.Recovered(&err)
	f, err := scan.OpenPart(ctx, in, p)
	if err != nil {
		return err
	}
	defer f.Close()
	opened, err := schema.OpenRows[schema.Body](f, p.Bytes)
	if err != nil {
		return fmt.Errorf("read %s: %w", p.Path, err)
	}
	r := parquet.NewGenericReader[schema.Body](opened)
	defer r.Close()
	for len(of) > 0 && ctx.Err() == nil {
		one := make([]schema.Body, 1)
		n, err := r.Read(one)
		if n == 0 && err == io.EOF {
			break // a run lacks the bodies that it could not keep
		}
		if n == 0 || err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, target := range of[one[0].ContentDigest] {
			var key Encoder
			key.Ordered(target)
			key = append(key, Bodies)
			// The leading byte distinguishes an empty body from a missing one.
			if err := into.Add(key, append([]byte{1}, one[0].Body...)); err != nil {
				return err
			}
		}
		delete(of, one[0].ContentDigest)
	}
	return ctx.Err()
}
