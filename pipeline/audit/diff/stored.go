package diff

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/views"
)

// ErrWouldLose is the error of a comparison that cannot be made again as it was. The error
// that wraps it says what would be lost.
var ErrWouldLose = errors.New("is not made again")

// Stored returns the result of the comparison that the folder has, with the same
// expectations or, if c has none, with those of that time. It returns nil if there is none
// that still holds, so that [Runs] has to make it; it returns [ErrWouldLose] if that would
// lose what the folder has.
func Stored(c Config) (*Result, error) {
	record, err := journal.ReadComparison(c.In, c.After, c.Before)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, journal.ErrDamaged) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the comparison: %w", err)
	}
	if holds, err := record.Holds(c.In); err != nil || !holds {
		return nil, err
	}
	if record.Result != nil && (c.Expect == nil || c.Expect.Digest() == record.ExpectationsOf) {
		r := new(Result)
		if err := json.Unmarshal(record.Result, r); err != nil {
			return nil, fmt.Errorf("result of the comparison of %s with %s: %w", c.After, c.Before, err)
		}
		// The process that compared may have died before it wrote the views.
		return r, views.Write(c.In)
	}
	lost, err := lostAgain(c, record)
	if err == nil && len(lost) > 0 {
		err = fmt.Errorf("the comparison of %s with %s %w, because it would lose %s", c.After, c.Before, ErrWouldLose,
			strings.Join(lost, ", and "))
	}
	return nil, err
}

// lostAgain says what of a comparison is lost if it is made again.
func lostAgain(c Config, record *journal.Comparison) (lost []string, err error) {
	if record.Expectations != nil && c.Expect == nil {
		lost = append(lost, "its list of broken expectations (--expect checks them again)")
	}
	there, err := journal.RunIDs(c.In)
	if err != nil {
		return nil, fmt.Errorf("look for runs: %w", err)
	}
	for _, e := range record.Earlier {
		if !slices.Contains(there, e.Run) {
			lost = append(lost, fmt.Sprintf("what it says by run %s, which is gone", e.Run))
		}
	}
	return lost, nil
}
