package hosts

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// List is a list of hosts to ask.
type List struct {
	Path    string       // - for standard input
	Planned string       // path of the list of the shard, instead of Path
	Labels  bool         // that list has labels
	Named   []string     // the hosts themselves, instead of a list
	Schemes []string     // to try for a host without one, in order
	Shard   target.Shard // the share to read
	Sample  float64      // see [target.InSample]
	Column  string       // what a header calls the column of hosts, "" for a name that is known
	Bare    bool         // names without a dot are hosts
	Force   bool         // read a list most of whose lines name no host
}

// Targets emits the hosts of the list, in order, and returns how many rows are of other
// shards and how many of this shard are not in the sample. It writes the bytes of a pipe to sum.
func (l *List) Targets(ctx context.Context, sum io.Writer, rejects *input.Account,
	emit func(target.Target) error) (elsewhere, notSampled int64, err error) {
	g := &grouper{schemes: l.Schemes, shard: l.Shard, sample: l.Sample, reject: rejects.Host, remark: rejects.Remark,
		other: rejects.Label, emit: emit}
	if err = l.rows(ctx, sum, g.take); err == nil {
		err = g.flush()
	}
	return g.elsewhere, g.notSampled, err
}

// rows reads the rows of the list; see [readHosts].
func (l *List) rows(ctx context.Context, sum io.Writer, yield func(row) error) error {
	if l.Planned != "" {
		return readPlanned(ctx, l.Planned, l.Labels, yield)
	}
	if len(l.Named) == 0 {
		first := &look{name: remote.Name(l.Path), bare: l.Bare, forced: l.Force, enough: lookRows, yield: yield}
		if l.Path == "-" {
			first.name = "standard input"
		}
		if !l.isFile() {
			first.enough = pipeRows
		}
		if err := readHosts(ctx, l.Path, l.Column, sum, first.take); err != nil {
			return err
		}
		return first.release(true)
	}
	for i, host := range l.Named {
		if err := yield(row{line: int64(i) + 1, text: host, host: host, bare: l.Bare}); err != nil {
			return err
		}
	}
	return nil
}

// isFile reports whether the list can be read again.
func (l *List) isFile() bool {
	path := cmp.Or(l.Planned, l.Path)
	info, err := os.Stat(path)
	return remote.IsURL(path) || err == nil && info.Mode().IsRegular()
}

const (
	randomWanted = 1024
	// randomTime bounds the time of reading, which delays the first probe.
	randomTime = 2 * time.Second
)

// Random returns random hosts of the first rows, at most limit of them unless it is 0, that
// can be read in a short time. A pipe has none, because it can be read only once.
func (l *List) Random(ctx context.Context, limit int64) []fetch.Origin {
	if !l.isFile() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, randomTime)
	defer cancel()
	var drawn []fetch.Origin
	seen := int64(0)
	// An error of the list is reported when the list is read as a source.
	l.rows(ctx, io.Discard, func(r row) error {
		seen++
		if limit > 0 && seen > limit {
			return errors.New("enough")
		}
		at := int(seen - 1)
		if at >= randomWanted {
			at = int(rand.Int64N(seen))
		}
		if at >= randomWanted {
			return ctx.Err()
		}
		candidates, _, why := candidatesOf(r.given(), l.Schemes, r.bare)
		switch {
		case why != "" || !target.InSample(candidates[0].Host, l.Sample):
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
