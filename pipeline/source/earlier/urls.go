package earlier

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/scan"
)

// maxEarlierBytes bounds the URLs that are read of one target, as [target.PathBytes] counts
// them: its own, and those that --urls listed.
const maxEarlierBytes = 4 * target.MaxPathBytes

// errFound ends the reading of a part of which no more need be known.
var errFound = errors.New("found")

// ownURLs reads, along with the targets of a segment, the URLs that only some hosts
// have: the absolute ones in the table verdicts.
type ownURLs struct {
	pull func() (urlsOf, error, bool)
	stop func()
	next urlsOf // of a target that was not asked for yet; seq 0 for none
	over bool
}

// urlsOf are the absolute URLs of one target.
type urlsOf struct {
	seq            int64
	agent, profile string // of the rows that are read: those of others have the same URLs
	urls           []string
	bytes          int
}

func (r *Run) ownURLs(ctx context.Context, verdicts []journal.Part) *ownURLs {
	o := new(ownURLs)
	o.pull, o.stop = iter.Pull2(r.eachURLs(ctx, verdicts))
	return o
}

// of returns the own URLs of a target as paths, and the memory that they take. It is
// called for each target in order.
func (o *ownURLs) of(seq int64, origin fetch.Origin) (paths []string, bytes int, err error) {
	for !o.over && o.next.seq < seq {
		var ok bool
		if o.next, err, ok = o.pull(); err != nil {
			return nil, 0, err
		}
		o.over = !ok
	}
	if o.over || o.next.seq != seq {
		return nil, 0, nil
	}
	for _, url := range o.next.urls {
		if path, ok := strings.CutPrefix(url, origin.String()); ok && strings.HasPrefix(path, "/") {
			paths, bytes = append(paths, path), bytes+target.PathBytes(path)
		}
	}
	return paths, bytes, nil
}

// eachURLs yields the targets that have absolute URLs, in their order.
func (r *Run) eachURLs(ctx context.Context, verdicts []journal.Part) iter.Seq2[urlsOf, error] {
	return func(yield func(urlsOf, error) bool) {
		var now urlsOf
		for _, p := range verdicts {
			found, err := r.hasURLs(ctx, p)
			if err == nil && found {
				err = scan.Rows(ctx, r.in, p, scan.Selection{Columns: []string{"seq", "agent", "profile", "url"}, Dictionaries: []string{"agent", "profile", "url"}},
					func(batch arrow.RecordBatch) error { return now.take(batch, yield) })
			}
			if errors.Is(err, errFound) {
				return
			}
			if part, ok := errors.AsType[*rowio.PartError](err); ok {
				err = inputError(part.Path, part.Err)
			}
			if err != nil {
				yield(urlsOf{}, err)
				return
			}
		}
		if now.seq != 0 {
			yield(now, nil)
		}
	}
}

// hasURLs reports whether a part of verdicts has absolute URLs: most have none, and
// their other columns need not be read.
func (r *Run) hasURLs(ctx context.Context, p journal.Part) (found bool, err error) {
	err = scan.Rows(ctx, r.in, p, scan.Selection{Columns: []string{"url"}, Dictionaries: []string{"url"}}, func(batch arrow.RecordBatch) error {
		if found = slices.Contains(absolute(batch), true); found {
			return errFound
		}
		return nil
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return found, err
}

// absolute reports of each text in the dictionary of the URLs of a batch whether it is
// an absolute URL.
func absolute(batch arrow.RecordBatch) []bool {
	texts := scan.Column[*array.Dictionary](batch, "url").Dictionary().(*array.String)
	out := make([]bool, texts.Len())
	for i := range out {
		out[i] = !strings.HasPrefix(texts.Value(i), "/")
	}
	return out
}

// take adds the URLs of a batch, and yields those of the targets that end in it.
func (u *urlsOf) take(batch arrow.RecordBatch, yield func(urlsOf, error) bool) error {
	absolute, urls := absolute(batch), scan.Column[*array.Dictionary](batch, "url")
	seqs, agents, profiles := scan.Column[*array.Int64](batch, "seq"), scan.Column[*array.Dictionary](batch, "agent"), scan.Column[*array.Dictionary](batch, "profile")
	text := func(d *array.Dictionary, row int) string {
		return d.Dictionary().(*array.String).Value(d.GetValueIndex(row))
	}
	for i := range int(batch.NumRows()) {
		if !absolute[urls.GetValueIndex(i)] {
			continue
		}
		seq, agent, profile := seqs.Value(i), text(agents, i), text(profiles, i)
		if seq != u.seq {
			if u.seq != 0 && !yield(*u, nil) {
				return errFound
			}
			*u = urlsOf{seq: seq, agent: strings.Clone(agent), profile: strings.Clone(profile)}
		}
		if agent != u.agent || profile != u.profile {
			continue
		}
		url := strings.Clone(text(urls, i))
		if u.bytes += target.PathBytes(url); u.bytes > maxEarlierBytes {
			return fmt.Errorf("target %d has more than %d MiB of URLs in the table verdicts", seq, maxEarlierBytes>>20)
		}
		u.urls = append(u.urls, url)
	}
	return nil
}
