package source

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store/remote"
)

const indexFiles = "indexes of captures"

// index is a file of an index.
type index struct {
	path  string
	first int64 // number of the lines of the files before it; unknown until it is read
}

// openIndexes adds the indexes of captures. Their volumes are known when they are read.
func (s *Source) openIndexes(ctx context.Context) error {
	if s.config.Shard.IsPart() {
		return &userfile.Error{Path: "--cdx",
			Err: errors.New("does not apply to shards; divide the index, for example by year, and make a run of each part")}
	}
	all, err := matching(ctx, s.config.CDX, indexFiles)
	if err != nil {
		return err
	}
	for _, file := range all {
		in, err := s.inspectIndex(ctx, file.path)
		if err != nil {
			return err
		}
		in.Role, in.Path = "cdx", remote.Name(file.path)
		s.indexes, s.inputs = append(s.indexes, index{path: file.path, first: math.MaxInt64}), append(s.inputs, in)
		if s.config.Limit == 0 {
			s.Total += in.Rows
		}
	}
	return nil
}

// inspectIndex reads a file of an index once before the run; see [input.List.Inspect].
func (s *Source) inspectIndex(ctx context.Context, path string) (in journal.Input, err error) {
	if path == "-" {
		return in, nil
	}
	l, err := input.OpenList(ctx, path)
	if err != nil || l == nil {
		return in, err
	}
	defer l.Close()
	return l.Inspect(ctx, func() (int64, error) {
		table, err := s.openTable(l, path)
		if err != nil {
			return 0, err
		}
		return table.Rows(), nil
	}, input.PlainOrJSON)
}

func (s *Source) openTable(l *input.List, path string) (*cdx.Table, error) {
	info, err := l.Parquet.Stat()
	if err != nil {
		return nil, &userfile.Error{Path: l.Name, Err: err}
	}
	return cdx.OpenTable(l.Parquet, info.Size(), l.Name, path, s.config.LastCapture)
}

// takePlaces reads the indexes and calls take with the captures that are wanted.
func (s *Source) takePlaces(ctx context.Context, take func(*cdx.Capture) error) error {
	lines := int64(0)
	for i := range s.indexes {
		s.indexes[i].first = lines
		n, err := s.takeIndex(ctx, &s.indexes[i], take)
		if err != nil {
			return err
		}
		lines += n
	}
	return nil
}

// takeIndex reads a file of an index, and returns the number of its lines as far as they
// matter. The lines of all files are numbered together.
func (s *Source) takeIndex(ctx context.Context, x *index, take func(*cdx.Capture) error) (lines int64, err error) {
	skipped := make(input.Skipped)
	defer func() { s.rejects.Skip(skipped) }()
	to := cdx.Receiver{
		Capture: func(c cdx.Capture) error {
			lines = c.Line
			c.Line += x.first
			if kind, why := s.config.refusal(x.path, c.File); why != "" {
				return s.rejectLine(c.Line, c.File, kind+": "+why)
			}
			if err := s.originals.addLine(&c); err != nil {
				return err
			}
			if !s.wantsPlace(&c, skipped) {
				s.progress(1)
				return nil
			}
			if _, why := s.config.refusal(x.path, c.Original.File); why != "" {
				c.Original = cdx.Place{}
			}
			s.paced = s.paced || s.isPaced(s.config.locate(c.File))
			return take(&c)
		},
		Other: func(c cdx.Capture) (used bool, err error) {
			if _, why := s.config.refusal(x.path, c.File); why != "" {
				return false, nil
			}
			if used = s.config.Further; used {
				lines = c.Line
				skipped[input.OtherURLs]++
				s.progress(1)
			}
			return used, s.originals.addLine(&c)
		},
		Reject: func(line int64, text, reason string) error {
			lines = line
			return s.rejectLine(x.first+line, text, reason)
		},
	}
	var l *input.List
	if x.path != "-" {
		if l, err = input.OpenList(ctx, x.path); err != nil {
			return 0, err
		}
	}
	if l == nil {
		return lines, s.takePipe(ctx, x.path, to)
	}
	defer l.Close()
	if l.Parquet == nil {
		return lines, takeText(ctx, l.Name, l.Text, to)
	}
	table, err := s.openTable(l, x.path)
	if err != nil {
		return 0, err
	}
	from := cdx.TableReceiver{Receiver: to, Skipped: func(otherURLs, otherSubsets, unread int64) {
		skipped[input.OtherURLs] += otherURLs
		skipped[input.OtherSubsets] += otherSubsets
		skipped[input.OtherHosts] += unread
		s.progress(otherURLs + otherSubsets + unread)
	}}
	if s.filter != nil {
		from.Hosts = s.filter.Hosts()
	}
	return table.Rows(), table.Read(ctx, from)
}

// takePipe reads an index that can be read only once.
func (s *Source) takePipe(ctx context.Context, path string, to cdx.Receiver) error {
	f, done, err := input.Open(ctx, path)
	if err != nil {
		return err
	}
	defer done()
	in := io.TeeReader(f, s.sum)
	if err = takeText(ctx, remote.Name(path), in, to); err == nil && path == "-" {
		if _, err = io.Copy(io.Discard, in); err == nil { // the digest includes what follows a compressed stream
			s.digest()
		}
	}
	return err
}

func takeText(ctx context.Context, name string, in io.Reader, to cdx.Receiver) error {
	plain, end, err := input.PlainOrJSON(in)
	if err != nil {
		return &userfile.Error{Path: name, Line: 1, Err: err}
	}
	defer end()
	return cdx.Read(ctx, name, plain, to)
}

// wantsPlace reports whether a capture of an index may be wanted. If the filter or the sample
// excludes it, it is counted as skipped.
func (s *Source) wantsPlace(c *cdx.Capture, skipped input.Skipped) bool {
	if c.Origin.Scheme == "" && s.filter != nil { // the record tells the rest
		if !s.filter.Names(c.Origin.Host) {
			skipped[input.OtherHosts]++
			return false
		}
		return true
	}
	_, ok := s.wanted(c.Origin, skipped)
	return ok
}

// lineOf returns the number of a line in its file, and the name of the file if there are
// several.
func (s *Source) lineOf(n int64) (line int64, file string) {
	if len(s.indexes) == 1 {
		return n, ""
	}
	i := len(s.indexes) - 1
	for i > 0 && s.indexes[i].first >= n {
		i--
	}
	return n - s.indexes[i].first, s.inputs[i].Path
}

// rejectLine rejects a line of an index.
func (s *Source) rejectLine(n int64, text, reason string) error {
	line, file := s.lineOf(n)
	if file != "" {
		text = file + ": " + text
	}
	return s.reject(line, text, reason)
}
