package source

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/warc"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// matching returns the files that patterns name, in the order of the patterns and of the
// names. what they should be is for an error.
func matching(ctx context.Context, patterns []string, what string) (out []given, err error) {
	for _, pattern := range patterns {
		if pattern == "-" {
			out = append(out, given{path: pattern})
			continue
		}
		glob := filepath.Glob
		if remote.IsURL(pattern) {
			glob = func(pattern string) ([]string, error) { return input.Glob(ctx, pattern) }
		}
		paths, err := glob(pattern)
		if errors.Is(err, filepath.ErrBadPattern) {
			err = &userfile.Error{Path: remote.Name(pattern), Err: err}
		}
		if err != nil {
			return nil, err
		}
		if len(paths) == 0 {
			return nil, &userfile.Error{Path: remote.Name(pattern),
				Err: fmt.Errorf("no such file; give %s, and quote a pattern", what)}
		}
		for _, path := range paths {
			out = append(out, given{path: path})
		}
	}
	return out, nil
}

const warcFiles = "WARC files"

// readPaths reads a list of WARC files, one to a line, plain or compressed. Blank
// lines and those that begin with # are skipped.
func (c *Config) readPaths(ctx context.Context) ([]given, error) {
	name := remote.Name(c.Paths)
	f, closeList, err := input.Open(ctx, c.Paths)
	if err != nil {
		return nil, err
	}
	defer closeList()
	plain, done, err := input.Plain(f)
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: err}
	}
	defer done()
	var out []given
	lines := bufio.NewScanner(plain)
	for line := int64(1); lines.Scan(); line++ {
		path := lines.Text()
		if line == 1 {
			path = strings.TrimPrefix(path, "\ufeff")
		}
		if path = strings.TrimSpace(path); path == "" || strings.HasPrefix(path, "#") {
			continue
		}
		if len(out) == journal.MaxVolumes {
			return nil, &userfile.Error{Path: name, Line: line,
				Err: fmt.Errorf("a run takes at most %d archives; make several runs", journal.MaxVolumes)}
		}
		if _, why := c.refusal(c.Paths, path); why != "" {
			return nil, &userfile.Error{Path: name, Line: line, Err: errors.New(why)}
		}
		out = append(out, given{path: path, line: line})
	}
	if err := lines.Err(); err != nil {
		return nil, &userfile.Error{Path: name, Err: err}
	}
	if len(out) == 0 {
		return nil, &userfile.Error{Path: name, Err: errors.New("names no WARC file; give one path to a line")}
	}
	return out, nil
}

// openArchives adds the volumes of --warc.
func (s *Source) openArchives(ctx context.Context) error {
	inputs, at, err := s.identifyArchives(ctx)
	if err != nil {
		return err
	}
	if len(inputs) > journal.MaxVolumes {
		return &userfile.Error{Path: "--warc",
			Err: fmt.Errorf("names %d files, but a run takes at most %d; make several runs", len(inputs), journal.MaxVolumes)}
	}
	if n := s.config.Shard.Count; n > len(inputs) {
		return &userfile.Error{Path: "--warc", Err: fmt.Errorf("names %d files, too few for %d shards", len(inputs), n)}
	}
	sizes := make([]int64, len(inputs))
	for i, in := range inputs {
		sizes[i] = in.Bytes
		if in.IdentifiedWhenRead {
			sizes[i] = 1 // not known: all count the same
		}
	}
	if s.config.LastCapture && s.config.Shard.IsPart() {
		return &userfile.Error{Path: "--last-capture",
			Err: errors.New("does not apply to a shard, which does not have all captures of a host; make " +
				"the run without shards")}
	}
	from, to := s.config.Shard.GroupOf(sizes)
	s.elsewhere.Add(int64(len(inputs) - (to - from)))
	for i, in := range inputs {
		if planned := s.config.Archives != nil; planned && from <= i && i < to {
			now, err := s.config.identifyArchive(ctx, at[i])
			if err != nil {
				return err
			}
			if now.EndsSHA256 != in.EndsSHA256 || now.IdentifiedWhenRead != in.IdentifiedWhenRead {
				return &userfile.Error{Path: in.Path, Err: errors.New("has changed since the run was planned")}
			}
		}
		var v *Volume
		v = s.add(in, func(ctx context.Context, emit func(target.Target) error) error {
			return s.accountFor(i-from, func(reject rejectRecord) error { return s.readArchive(ctx, v, reject, emit) })
		})
		v.volume, v.location, v.archive = i-from, at[i], &journal.ArchiveRecord{Bytes: in.Bytes}
		v.pass = func(a *journal.ArchiveRecord) error {
			return s.passOver(i-from, a, func() (int64, error) {
				s.identified(v, a.Bytes, a.Tag)
				return a.Bytes, nil
			})
		}
		if s.config.Limit == 0 && from <= i && i < to {
			s.Total += v.input.Bytes
			if s.config.LastCapture {
				s.Total += v.input.Bytes // it is read for the index too
			}
		}
	}
	s.number()
	s.Volumes = s.Volumes[from:to]
	return s.findForeign(ctx)
}

// rejectRecord records what is wrong with a record of an archive.
type rejectRecord func(offset int64, path, reason string) error

// accountFor calls read with what records the damage of archive or block i, and ends the
// record.
func (s *Source) accountFor(i int, read func(rejectRecord) error) error {
	reject, done, err := s.rejects.Archive(i)
	if err != nil {
		return err
	}
	err = read(reject)
	if e := done(); err == nil || errors.Is(err, errEnough) && e != nil {
		err = e
	}
	return err
}

// passOver accounts for archive or block i, which is not read. size returns its part of the
// progress.
func (s *Source) passOver(i int, a *journal.ArchiveRecord, size func() (int64, error)) error {
	return s.accountFor(i, func(rejectRecord) error {
		s.passed.Store(true)
		s.rejects.Skip(a.Skipped)
		n, err := size()
		s.progress(n)
		return err
	})
}

// identifying is the number of archives that are identified at the same time: servers
// are waited for.
const identifying = 8

// identifyArchives identifies the archives of all shards, and returns where they are.
// Those of a planned run are known. Inputs have the names of archives, without the query
// of a URL; they are where the user says, with it.
func (s *Source) identifyArchives(ctx context.Context) (inputs []journal.Input, at []string, err error) {
	if s.config.Archives != nil {
		s.repeated = s.config.Repeated
		for _, in := range s.config.Archives {
			if _, why := s.config.refusal(s.config.Paths, in.Path); why != "" && s.config.Paths != "" {
				return nil, nil, &userfile.Error{Path: in.Path, Err: fmt.Errorf("the list of archives that was planned %s", why)}
			}
			at = append(at, s.config.locate(in.Path))
		}
		return s.config.Archives, at, nil
	}
	read := func() ([]given, error) { return matching(ctx, s.config.WARC, warcFiles) }
	if s.config.Paths != "" {
		read = func() ([]given, error) { return s.config.readPaths(ctx) }
	}
	all, err := read()
	if err != nil {
		return nil, nil, err
	}
	if all, err = s.once(all); err != nil {
		return nil, nil, err
	}
	inputs, at = make([]journal.Input, len(all)), make([]string, len(all))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(identifying)
	for i, a := range all {
		inputs[i], at[i] = journal.Input{Role: "warc"}, s.config.locate(a.path)
		g.Go(func() (err error) {
			if a.path != "-" {
				inputs[i], err = s.config.identifyArchive(ctx, at[i])
			}
			inputs[i].Path = a.name
			return err
		})
	}
	return inputs, at, g.Wait()
}

// identifyArchive identifies an archive. One at an https URL is identified when it is
// read: a crawl has a hundred thousand, and its server is asked for each only once.
func (c *Config) identifyArchive(ctx context.Context, at string) (journal.Input, error) {
	if remote.IsURL(at) && !remote.IsBucket(at) {
		return journal.Input{Role: "warc", IdentifiedWhenRead: true}, nil
	}
	return input.Identify(c.guarded(ctx, at), "warc", at)
}

// identified takes note of the size and tag of an archive that is identified when it is
// read.
func (s *Source) identified(v *Volume, bytes int64, tag string) {
	if !v.input.IdentifiedWhenRead {
		return
	}
	v.archive.Bytes, v.archive.Tag = bytes, tag
	s.mu.Lock()
	defer s.mu.Unlock()
	in := &s.inputs[v.at]
	in.Bytes, in.Tag = bytes, tag
}

// openVolume opens the archive of a volume.
func (s *Source) openVolume(ctx context.Context, v *Volume) (io.Reader, func(), error) {
	if !remote.IsURL(v.location) {
		return input.Open(ctx, v.location)
	}
	in, o, err := input.OpenArchive(s.config.guarded(ctx, v.location), s.servers, v.location)
	if err != nil {
		return nil, nil, err
	}
	if known := v.archive.Tag; known != "" && known != o.Tag() {
		in.Close()
		return nil, nil, &userfile.Error{Path: v.input.Path, Err: errors.New("has changed since it was first read")}
	}
	s.identified(v, o.Size, o.Tag())
	return in, func() { in.Close() }, nil
}

// captures says what to keep of stored captures.
func (c *Config) captures() warc.Config {
	return warc.Config{Limits: c.Limits}
}

// wanted returns the target of a stored origin. If the filter or the sample excludes
// it, wanted counts it as skipped and ok is false.
func (s *Source) wanted(o fetch.Origin, skipped input.Skipped) (_ target.Target, ok bool) {
	if s.filter != nil && !s.filter.Has(o) {
		skipped[input.OtherHosts]++
		return target.Target{}, false
	}
	if !target.InSample(o.Host, s.config.Sample) {
		skipped[input.NotSampled]++
		return target.Target{}, false
	}
	t := target.Target{Candidates: []fetch.Origin{o}}
	if rank, ok := s.ranks.Of(o); ok {
		t.Rank = &rank
	}
	return t, true
}
