package pipeline

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/sink"
)

// Skipped counts what a source holds besides its targets.
type Skipped struct {
	OtherURLs    int64 // captures of something else than /robots.txt
	OtherRecords int64 // WARC records that are no captures
	OtherHosts   int64 // captures of hosts that --hosts does not name
	Damaged      int64 // places that could not be read
}

// kinds are the counts as the manifest has them.
func (s Skipped) kinds() map[string]int64 {
	out := make(map[string]int64)
	for kind, n := range map[string]int64{
		"other_urls": s.OtherURLs, "other_records": s.OtherRecords, "other_hosts": s.OtherHosts, "damaged": s.Damaged,
	} {
		if n > 0 {
			out[kind] = n
		}
	}
	return out
}

// archives are the WARC files that patterns name, each once, in the order of
// the patterns and of the names.
func archives(patterns []string) ([]string, error) {
	var out []string
	known := make(map[string]bool)
	for _, pattern := range patterns {
		if pattern == "-" {
			out = append(out, pattern)
			continue
		}
		paths, err := filepath.Glob(pattern)
		if err != nil {
			return nil, &userfile.Error{Path: pattern, Err: err}
		}
		if len(paths) == 0 {
			return nil, &userfile.Error{Path: pattern, Err: fmt.Errorf("no such file; give WARC files, and quote a pattern")}
		}
		for _, path := range paths {
			if name := realName(path); !known[name] {
				known[name] = true
				out = append(out, path)
			}
		}
	}
	return out, nil
}

// realName is the one name of a file, however a pattern or a link spells it.
func realName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if name, err := filepath.EvalSymlinks(path); err == nil {
		return name
	}
	return path // a pipe behind /dev/fd, or what opening it will tell of
}

// archiveVolumes are the volumes of --warc.
func (n *census) archiveVolumes(paths []string, limit int) ([]volume, error) {
	var out []volume
	for i, path := range paths {
		in, err := identify("warc", path)
		if path == "-" {
			in.Role, in.Path, err = "warc", path, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, volume{input: in, read: func(ctx context.Context, emit func(*job) error) error {
			reject, done, err := n.rejects.archive(i)
			if err != nil {
				return err
			}
			err = n.readArchive(ctx, path, limit, reject, emit)
			if e := done(); err == nil {
				err = e
			}
			return err
		}})
	}
	if len(out) > sink.MaxVolumes {
		return nil, &userfile.Error{Path: "--warc", Err: fmt.Errorf("names %d files, but a run takes at most %d; make several runs", len(out), sink.MaxVolumes)}
	}
	return numbered(out), nil
}

func (n *census) readArchive(ctx context.Context, path string, limit int, reject func(offset int64, path, reason string) error, emit func(*job) error) error {
	in, done, err := openStored(ctx, path)
	if err != nil {
		return err
	}
	defer done()
	var at int64 // of the last record, for the progress
	var others int64
	counts, err := warc.Read(ctx, path, in, limit, func(c *warc.Capture) error {
		n.progress.read(c.Offset - at)
		at = c.Offset
		target, ok := n.wanted(c.Origin)
		if !ok {
			others++
			return nil
		}
		target.Input = c.Hops[0].URL
		return emit(&job{target: target, capture: &c.Capture, stored: &stored{
			source: "warc", warc: path, offset: c.Offset, length: c.Length, mismatch: sink.TextString(c.Mismatch),
		}})
	}, func(offset int64, what string) error {
		return reject(offset, path, "damaged_record: "+what)
	})
	n.skipped.add(Skipped{OtherURLs: counts.OtherURLs, OtherRecords: counts.OtherTypes, OtherHosts: others, Damaged: counts.Damaged})
	return err
}

// wanted makes a target of a stored origin, if --hosts lets it pass.
func (n *census) wanted(o fetch.Origin) (Target, bool) {
	if n.filter != nil && !n.filter.has(o) {
		return Target{}, false
	}
	t := Target{Candidates: []fetch.Origin{o}}
	if rank, ok := n.ranks.of(o.Host); ok {
		t.Rank = &rank
	}
	return t, true
}

// tallySkipped adds up over volumes.
type tallySkipped struct {
	mu  sync.Mutex
	sum Skipped
}

func (t *tallySkipped) add(s Skipped) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.OtherURLs += s.OtherURLs
	t.sum.OtherRecords += s.OtherRecords
	t.sum.OtherHosts += s.OtherHosts
	t.sum.Damaged += s.Damaged
}
