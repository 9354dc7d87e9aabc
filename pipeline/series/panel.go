package series

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/scan"
)

// Panel describes the hosts that all runs of a series have. A host is a name with a
// port; http and https on their own ports are one.
type Panel struct {
	Hosts int64 `json:"hosts"`
	// BytesPerHost is the memory that finding the panel takes for a host of a run.
	BytesPerHost int `json:"bytes_per_host"`
}

// A key is 8 bytes of a hash of a host. Two of ten million hosts have the same key
// with a probability of one in 400,000. The panel found so far, and the keys of one
// run and of the run before it, are in memory.
const bytesPerHost = 3 * 8

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

// moved counts the hosts of a run against the run before.
type moved struct{ entered, left, stayed int64 }

// findPanel returns the sorted keys of the hosts that all runs have, and counts those
// that come and go.
func findPanel(ctx context.Context, dir string, runs []*counted, r *Result) (panel []uint64, err error) {
	var before []uint64
	var several []string
	for i, run := range runs {
		keys, err := readKeys(ctx, dir, run.m)
		if err != nil {
			return nil, err
		}
		slices.Sort(keys)
		targets := len(keys)
		keys = slices.Compact(keys)
		if again := targets - len(keys); again > 0 {
			several = append(several, fmt.Sprintf("%s has %d answers of %d hosts", run.m.Run, targets, len(keys)))
		}
		if i == 0 {
			panel = slices.Clone(keys)
		} else {
			common(before, keys, func(uint64) { run.moved.stayed++ })
			run.moved.entered, run.moved.left = int64(len(keys))-run.moved.stayed, int64(len(before))-run.moved.stayed
			n := 0
			common(panel, keys, func(key uint64) { panel[n] = key; n++ })
			panel = panel[:n]
		}
		before = keys
	}
	if len(several) > 0 {
		r.warn("some hosts have several answers in a run, of several origins or captured again, and each of them counts: %s", some(several, 3))
	}
	r.Panel = &Panel{Hosts: int64(len(panel)), BytesPerHost: bytesPerHost}
	return panel, nil
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

// readKeys returns the keys of the hosts of a run.
func readKeys(ctx context.Context, dir string, m *sink.Manifest) ([]uint64, error) {
	keys := make([]uint64, 0, m.Targets)
	for _, p := range m.PartsOf("fetches") {
		err := scan.Rows(ctx, dir, p, scan.Selection{Columns: []string{"host", "port"}}, func(batch arrow.RecordBatch) error {
			hosts, ports := scan.Column[*array.String](batch, "host"), scan.Column[*array.Int32](batch, "port")
			for i := range int(batch.NumRows()) {
				keys = append(keys, keyOf(hosts.Value(i), ports.Value(i)))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}
