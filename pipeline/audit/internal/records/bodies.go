package records

import (
	"context"
	"errors"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
)

// errAllFound ends the reading of bodies of which no more are needed.
var errAllFound = errors.New("all found")

// ReadBodies adds a record with the body to a sorter for each target that needs one
// from a part. A run lacks the bodies that it could not keep.
func ReadBodies(ctx context.Context, in store.Store, parts []journal.Part, list []Wanted, into *store.Sorter) error {
	of := make(map[string][]int64) // targets by digest
	for _, w := range list {
		if w.Digest != "" {
			of[w.Digest] = append(of[w.Digest], w.N)
		}
	}
	if len(of) == 0 {
		return nil
	}
	err := rowio.Of(ctx, in, parts, rowio.Selection{}, func(batch []schema.Body) error {
		for _, b := range batch {
			for _, target := range of[b.ContentDigest] {
				var key Encoder
				key.Ordered(target)
				key = append(key, Bodies)
				// The leading byte distinguishes an empty body from a missing one.
				if err := into.Add(key, append([]byte{1}, b.Body...)); err != nil {
					return err
				}
			}
			if delete(of, b.ContentDigest); len(of) == 0 {
				return errAllFound
			}
		}
		return nil
	})
	if errors.Is(err, errAllFound) {
		return nil
	}
	return err
}
