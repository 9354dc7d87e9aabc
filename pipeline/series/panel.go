package series

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strconv"

	"github.com/robocensus/robocensus/pipeline/past"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/visible"
)

// Panel describes the hosts that all runs of a series have. A host is a name with a
// port; http and https on their own ports are one.
type Panel struct {
	Hosts int64 `json:"hosts"`
	// BytesPerHost is the memory that a host of the panel takes, beside a bounded part
	// of each run.
	BytesPerHost int `json:"bytes_per_host"`
}

// A key is 8 bytes of a hash of a host. Two of ten million hosts have the same key
// with a probability of one in 400,000. The keys of the panel are in memory.
const bytesPerHost = 8

// seed keeps the author of a list from choosing hosts with the same key.
var seed = maphash.MakeSeed()

// keyOf returns the key of a host.
func keyOf(host string, port int32) uint64 {
	switch port {
	case 21, 80, 443:
		return maphash.String(seed, host)
	}
	return maphash.String(seed, host+":"+strconv.Itoa(int(port)))
}

// Hosts counts the hosts of a run, of which an archive may have several captures, as a
// panel does. It returns 0 where that would not be cheap, or the run has no fetches.
func Hosts(ctx context.Context, in store.Store, m *journal.Manifest) (int64, error) {
	if m.Targets > mostKeys {
		return 0, nil
	}
	keys, err := (&panelFinder{ranges: 1}).read(ctx, in, m, 0, nil)
	slices.Sort(keys)
	return int64(len(slices.Compact(keys))), err
}

// moved counts the hosts of a run against the run before.
type moved struct{ entered, left, stayed int64 }

// mostKeys is the number of hosts of a run whose keys are in memory while the panel is
// found: of larger runs, fetches is read several times, each time for a range of keys.
const mostKeys = 4 << 20

// findPanel returns the sorted keys of the hosts that all runs have, and counts those
// that come and go.
func findPanel(ctx context.Context, c Config, runs []*countedRun, r *Result) (panel []uint64, err error) {
	most := int64(1)
	for _, run := range runs {
		most = max(most, run.Targets)
	}
	ranges := 1 + uint64(most-1)/uint64(cmp.Or(c.keys, mostKeys))
	f := &panelFinder{runs: runs, ranges: ranges, hosts: make([]int64, len(runs))}
	for part := range f.ranges {
		if err := f.find(ctx, c.In, part); err != nil {
			return nil, err
		}
	}
	var several []string
	for i, run := range runs {
		if f.hosts[i] < run.Targets {
			answers, hosts := visible.Count(run.Targets, "answer", "answers"), visible.Count(f.hosts[i], "host", "hosts")
			several = append(several, fmt.Sprintf("%s has %s of %s", run.ID(), answers, hosts))
		}
	}
	if len(several) > 0 {
		r.warn("some hosts have several answers in a run, of several origins or captured again, and each of them counts"+
			" (in the panel, an origin that the list names twice counts once): %s", past.Some(several, 3))
	}
	r.Panel = &Panel{Hosts: int64(len(f.panel)), BytesPerHost: bytesPerHost}
	return f.panel, nil
}

// panelFinder finds the panel, one range of keys after the other.
type panelFinder struct {
	runs          []*countedRun
	ranges        uint64
	hosts         []int64 // of the runs, in the ranges so far
	panel         []uint64
	before, spare []uint64 // keys of a run; their memory is used again
}

// find adds the hosts of a range of keys.
func (f *panelFinder) find(ctx context.Context, in store.Store, part uint64) error {
	from := len(f.panel)
	for i, run := range f.runs {
		keys, err := f.read(ctx, in, run.Manifest, part, f.spare[:0])
		if err != nil {
			return err
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		f.hosts[i] += int64(len(keys))
		if i == 0 {
			f.panel = append(f.panel, keys...)
		} else {
			stayed := int64(0)
			common(f.before, keys, func(uint64) { stayed++ })
			run.moved.stayed += stayed
			run.moved.entered += int64(len(keys)) - stayed
			run.moved.left += int64(len(f.before)) - stayed
			n := from
			common(f.panel[from:], keys, func(key uint64) { f.panel[n] = key; n++ })
			f.panel = f.panel[:n]
		}
		f.before, f.spare = keys, f.before
	}
	return nil
}

// isIn reports whether a key is in a range. Ranges are in the order of their keys.
func (f *panelFinder) isIn(key, part uint64) bool {
	at, _ := bits.Mul64(key, f.ranges)
	return at == part
}

// common calls each with the keys that two sorted lists have in common.
func common(a, b []uint64, each func(uint64)) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			each(a[i])
			i, j = i+1, j+1
		}
	}
}

// read appends the keys of the hosts of a run that are in a range.
func (f *panelFinder) read(
	ctx context.Context, in store.Store, m *journal.Manifest, part uint64, keys []uint64,
) ([]uint64, error) {
	keys = slices.Grow(keys, int(uint64(m.Targets)/f.ranges))
	what := rowio.Selection{Columns: []string{"host", "port"}}
	err := rowio.Of(ctx, in, m.PartsOf("fetches"), what, func(batch []schema.Fetch) error {
		for i := range batch {
			if key := keyOf(batch[i].Host, batch[i].Port); f.isIn(key, part) {
				keys = append(keys, key)
			}
		}
		return nil
	})
	return keys, err
}
