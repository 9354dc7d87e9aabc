package earlier

import (
	"context"
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
)

// maxEarlierBytes bounds the URLs that are read of one target, as [target.PathBytes] counts
// them: its own, and those that --urls listed.
const maxEarlierBytes = 4 * target.MaxPathBytes

// ownURLs reads, along with the targets of a segment, the URLs that only some hosts
// have: the absolute ones in the table verdicts.
type ownURLs struct{ *rowio.Cursor[schema.Verdict] }

// isOwn reports whether a URL is one that only some hosts have: it is absolute.
func isOwn(url string) bool { return !strings.HasPrefix(url, "/") }

// ownURLs passes over the parts without absolute URLs: most have none, and their other columns
// need not be read.
func (r *Run) ownURLs(ctx context.Context, verdicts []journal.Part) ownURLs {
	some := rowio.Selection{Columns: []string{"seq", "agent", "profile", "url"}}
	some.Part = func(p journal.Part, f *rowio.File) (found bool, err error) {
		if err := f.EachText(ctx, "url", func(text []byte) { found = found || isOwn(string(text)) }); err != nil {
			return false, rowio.Unreadable(r.in, p, err)
		}
		return found, nil
	}
	return ownURLs{rowio.Follow[schema.Verdict](ctx, r.in, verdicts, some)}
}

// of returns the own URLs of a target as paths, and the memory that they take. It is
// called for each target in order.
func (o ownURLs) of(seq int64, origin fetch.Origin) (paths []string, bytes int, err error) {
	var first *schema.Verdict // the rows of other agents and profiles have the same URLs
	read := 0
	for {
		row, at, err := o.UpTo(seq)
		if row == nil || err != nil {
			return paths, bytes, err
		}
		if at < seq || !isOwn(row.URL) {
			continue
		}
		if first == nil {
			first = new(*row)
		}
		if row.Agent != first.Agent || row.Profile != first.Profile {
			continue
		}
		if read += target.PathBytes(row.URL); read > maxEarlierBytes {
			return nil, 0, fmt.Errorf("target %d has more than %d MiB of URLs in the table verdicts", seq, maxEarlierBytes>>20)
		}
		if path, ok := strings.CutPrefix(row.URL, origin.String()); ok && strings.HasPrefix(path, "/") {
			paths, bytes = append(paths, path), bytes+target.PathBytes(path)
		}
	}
}
