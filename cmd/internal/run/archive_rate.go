package run

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/sink/store/remote"
)

// archiveRate is the value of --archive-rate: requests a second, and at once.
type archiveRate struct {
	rate   float64
	atOnce int
}

var errArchiveRate = errors.New(
	"expected requests a second up to 10000 and, if you like, requests at once, such as 5 or 5,2")

// politeArchives is the default of --archive-rate.
var politeArchives = archiveRate{rate: 5, atOnce: 2}

func (a *archiveRate) Type() string   { return "pace" }
func (a *archiveRate) String() string { return fmt.Sprintf("%g,%d", a.rate, a.atOnce) }

func (a *archiveRate) Set(text string) (err error) {
	now := archiveRate{atOnce: politeArchives.atOnce}
	rate, atOnce, ok := strings.Cut(text, ",")
	if now.rate, err = strconv.ParseFloat(rate, 64); err == nil && ok {
		now.atOnce, err = strconv.Atoi(atOnce)
	}
	if err != nil || !(now.rate >= 0 && now.rate <= 10_000) || now.atOnce < 1 || now.atOnce > 1000 {
		return errArchiveRate
	}
	*a = now
	return nil
}

// archiveLimits returns the pace of archives. Shards that run at once share it.
func (f *Flags) archiveLimits() remote.Limits {
	p := remote.Limits{Rate: f.archiveRate.rate, AtOnce: f.archiveRate.atOnce, Stores: f.archiveRate != politeArchives ||
		f.Set.Changed("archive-rate")}
	if at := f.atOnce(); at > 1 {
		p.Rate, p.AtOnce = p.Rate/float64(at), max(1, p.AtOnce/at)
	}
	return p
}
