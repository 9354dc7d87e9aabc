package source

import (
	"cmp"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/sink/store/remote"
)

const (
	othersWanted = 1024
	// othersTime bounds the time of reading, which delays the first probe.
	othersTime = 2 * time.Second
)

// Others returns random hosts from the part of the list that can be read in a short
// time. By asking them, a run finds out whether its first hosts are dead or this
// machine is cut off. A pipe has none, because it can be read only once.
func (s *Source) Others(ctx context.Context) []fetch.Origin {
	list := cmp.Or(s.config.Planned, s.config.Hosts)
	if s.config.IsStored() {
		return nil
	}
	if info, err := os.Stat(list); !remote.IsURL(list) && (err != nil || !info.Mode().IsRegular()) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	var drawn []fetch.Origin
	seen := int64(0)
	// An error of the list is reported when the list is read as a source.
	s.readRows(ctx, io.Discard, func(r row) error {
		seen++
		if s.config.Limit > 0 && seen > s.config.Limit {
			return errEnough
		}
		at := int(seen - 1)
		if at >= othersWanted {
			at = int(rand.Int64N(seen))
		}
		if at >= othersWanted {
			return ctx.Err()
		}
		candidates, _, err := candidatesOf(r.given(), s.config.Schemes)
		switch {
		case err != nil || !InSample(candidates[0].Host, s.config.Sample):
			seen--
		case at < len(drawn):
			drawn[at] = candidates[0]
		default:
			drawn = append(drawn, candidates[0])
		}
		return ctx.Err()
	})
	rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn
}
