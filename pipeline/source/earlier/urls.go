package earlier

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
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

// urlRow has the columns of verdicts that say which URLs a target has.
type urlRow struct {
	Seq     int64  `parquet:"seq"`
	Agent   string `parquet:"agent"`
	Profile string `parquet:"profile"`
	URL     string `parquet:"url"`
}

// isOwn reports whether a URL is one that only some hosts have: it is absolute.
func isOwn(url string) bool { return !strings.HasPrefix(url, "/") }

// eachURLs yields the targets that have absolute URLs, in their order.
func (r *Run) eachURLs(ctx context.Context, verdicts []journal.Part) iter.Seq2[urlsOf, error] {
	return func(yield func(urlsOf, error) bool) {
		var now urlsOf
		for i := range verdicts {
			part := verdicts[i : i+1]
			found, err := r.hasURLs(ctx, part[0])
			if err == nil && found {
				err = rowio.Of(ctx, r.in, part, rowio.Selection{}, func(batch []urlRow) error { return now.take(batch, yield) })
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
func (r *Run) hasURLs(ctx context.Context, part journal.Part) (found bool, err error) {
	f, err := rowio.OpenPart(ctx, r.in, part)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := f.EachText(ctx, "url", func(text []byte) { found = found || isOwn(string(text)) }); err != nil {
		return false, rowio.Unreadable(r.in, part, err)
	}
	return found, nil
}

// take adds the URLs of a batch, and yields those of the targets that end in it.
func (u *urlsOf) take(batch []urlRow, yield func(urlsOf, error) bool) error {
	for i := range batch {
		row := &batch[i]
		if !isOwn(row.URL) {
			continue
		}
		if row.Seq != u.seq {
			if u.seq != 0 && !yield(*u, nil) {
				return errFound
			}
			*u = urlsOf{seq: row.Seq, agent: row.Agent, profile: row.Profile}
		}
		if row.Agent != u.agent || row.Profile != u.profile {
			continue
		}
		if u.bytes += target.PathBytes(row.URL); u.bytes > maxEarlierBytes {
			return fmt.Errorf("target %d has more than %d MiB of URLs in the table verdicts", row.Seq, maxEarlierBytes>>20)
		}
		u.urls = append(u.urls, row.URL)
	}
	return nil
}
