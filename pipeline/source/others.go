package source

import (
	"context"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/robocensus/robocensus/fetch"
)

const (
	othersWanted = 1024
	// othersTime bounds the reading for them, which delays the first probe.
	othersTime = 2 * time.Second
)

// Others are hosts of the list, drawn at random from as much of it as can be read
// in a short while: by them a run finds out whether its first hosts are dead, or
// this machine is cut off. A pipe has none, for what is read of it is gone.
func (s *Source) Others(ctx context.Context) []fetch.Origin {
	if info, err := os.Stat(s.config.Hosts); s.config.IsStored() || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, othersTime)
	defer cancel()
	var drawn []fetch.Origin
	seen := int64(0)
	// An error is one of the list, which its reader reports, or the end of the time.
	readHosts(ctx, s.config.Hosts, io.Discard, func(r row) error {
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
		case err != nil:
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
