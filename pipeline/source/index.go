package source

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/internal/sorter"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/source/rejected"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// The captures that an index names are sorted by archive and offset on disk, whatever the
// order of the index: so each is read once, neighbours with one request, and the numbers
// of the targets depend on the index alone. They are cut into blocks. A block is a volume
// and a segment, so that resuming reads none of a committed one.

// blockPlaces is the number of captures of a block.
const blockPlaces = 2048

// places has the sorted captures of an index on disk.
type places struct {
	file   *store.Scratch
	blocks []int64 // where each ends
}

const indexFiles = "indexes of captures"

// index is a file of an index.
type index struct {
	path  string
	first int64 // number of the lines of the files before it; unknown until it is read
}

// openIndexes adds the indexes of captures. Their volumes are known when they are read.
func (s *Source) openIndexes(ctx context.Context) error {
	if s.config.Shard.IsPart() {
		return &userfile.Error{Path: "--cdx", Err: errors.New("does not apply to shards; divide the index, for example by year, and make a run of each part")}
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
	return cdx.OpenTable(l.Parquet, l.Name, path, s.config.LastCapture)
}

// readCaptures reads the index and makes the volumes.
func (s *Source) readCaptures(ctx context.Context) (err error) {
	scratch := s.rejects.Scratch
	sorted := &sorter.Sorter{Scratch: scratch, Memory: sorter.Memory}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	if s.originals, err = newOriginals(scratch); err != nil {
		return err
	}
	if s.config.LastCapture {
		err = s.lastOfIndex(ctx, scratch, sorted)
	} else {
		err = s.takePlaces(ctx, func(p *cdx.Capture) error { return sorted.Add(p.Key(), p.Value()) })
	}
	if err == nil {
		err = s.originals.settle()
	}
	if err != nil {
		return err
	}
	file, err := scratch()
	if err != nil {
		return fmt.Errorf("create a file for captures: %w", err)
	}
	s.places = &places{file: file}
	if err := s.layOutPlaces(sorted); err != nil {
		return err
	}
	if len(s.places.blocks) == 0 {
		s.places.blocks = []int64{0} // an empty one
	}
	from := int64(0)
	for i, end := range s.places.blocks {
		s.addBlock(i, end-from)
		from = end
	}
	return nil
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
	var skipped rejected.Skipped
	defer func() { s.rejects.Skip(skipped) }()
	to := cdx.Receiver{
		Capture: func(c cdx.Capture) error {
			lines = c.Line
			c.Line += x.first
			if why := s.config.checkPlace(x, c.File); why != "" {
				return s.rejectLine(c.Line, c.File, why)
			}
			if err := s.originals.add(&c); err != nil {
				return err
			}
			if !s.wantsPlace(&c, &skipped) {
				s.progress(1)
				return nil
			}
			if c.Original.File != "" && s.config.checkPlace(x, c.Original.File) != "" {
				c.Original = cdx.Place{}
			}
			s.paced = s.paced || s.isPaced(s.config.locate(c.File))
			return take(&c)
		},
		Other: func(c cdx.Capture) error {
			if s.config.checkPlace(x, c.File) != "" {
				return nil
			}
			return s.originals.add(&c)
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
		skipped.OtherURLs, skipped.OtherSubsets, skipped.OtherHosts = skipped.OtherURLs+otherURLs, skipped.OtherSubsets+otherSubsets, skipped.OtherHosts+unread
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
func (s *Source) wantsPlace(c *cdx.Capture, skipped *rejected.Skipped) bool {
	if c.Origin.Scheme == "" && s.filter != nil { // the record tells the rest
		if !s.filter.Names(c.Origin.Host) {
			skipped.OtherHosts++
			return false
		}
		return true
	}
	_, ok := s.wanted(c.Origin, skipped)
	return ok
}

// checkPlace returns why an archive that an index names is not read, "" if it is.
func (c *Config) checkPlace(x *index, file string) string {
	switch {
	case remote.IsURL(file):
		return ""
	case !filepath.IsLocal(file):
		return "outside_base: the archive is outside --warc-base"
	case c.Base == "" && remote.IsURL(x.path):
		return "not_a_capture: names a path and no URL; give --warc-base"
	}
	return ""
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

// lastOfIndex adds the last capture of each origin, by its date in the index.
func (s *Source) lastOfIndex(ctx context.Context, scratch func() (*store.Scratch, error), to *sorter.Sorter) (err error) {
	byDate := &sorter.Sorter{Scratch: scratch, Memory: sorter.Memory}
	defer func() { err = errors.Join(err, byDate.Close()) }()
	err = s.takePlaces(ctx, func(p *cdx.Capture) error {
		key := binary.BigEndian.AppendUint64(sorter.Hash(p.Origin.String()), sorter.Date(p.Date))
		return byDate.Add(append(key, p.Key()...), p.Value())
	})
	if err != nil {
		return err
	}
	all, err := byDate.Sorted()
	if err != nil {
		return err
	}
	var skipped rejected.Skipped
	defer func() { s.rejects.Skip(skipped) }()
	var last, what []byte
	settle := func() error {
		if last == nil {
			return nil
		}
		return to.Add(last[sorter.HashBytes+8:], what)
	}
	for {
		key, value, err := all.Next()
		if err == io.EOF {
			return settle()
		}
		if err != nil {
			return err
		}
		if last != nil && bytes.Equal(last[:sorter.HashBytes], key[:sorter.HashBytes]) {
			skipped.Earlier++
			s.progress(1)
		} else if err := settle(); err != nil {
			return err
		}
		last, what = append(last[:0], key...), append(what[:0], value...)
	}
}

// layOutPlaces writes the sorted captures to disk, each record once. If lines of one record
// have different lengths, its length is not known.
func (s *Source) layOutPlaces(sorted *sorter.Sorter) error {
	all, err := sorted.Sorted()
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.places.file, 0), 1<<18)
	var end int64
	var record, first []byte // key and value of the record's first line
	var line uint64          // its number
	n := 0
	settle := func() {
		if record == nil {
			return
		}
		if n > 0 && n%blockPlaces == 0 {
			s.places.blocks = append(s.places.blocks, end)
		}
		n++
		for _, part := range [][]byte{record, first} {
			head := binary.AppendUvarint(nil, uint64(len(part)))
			w.Write(head)
			w.Write(part)
			end += int64(len(head) + len(part))
		}
	}
	for {
		key, value, err := all.Next()
		if err == io.EOF {
			settle()
			break
		}
		if err != nil {
			return err
		}
		at := len(key) - 8
		named := binary.BigEndian.Uint64(key[at:])
		if len(key) != len(record) || !bytes.Equal(key[:at], record[:at]) {
			settle()
			record, first, line = append(record[:0], key...), append(first[:0], value...), named
			continue
		}
		if !bytes.Equal(value[:8], first[:8]) {
			clear(first[:8])
		}
		first, file := s.lineOf(int64(line))
		reason := fmt.Sprintf("duplicate: the same record as in line %d", first)
		if file != "" {
			reason += " of " + file
		}
		if err := s.rejectLine(int64(named), remote.Name(string(key[:len(key)-17])), reason); err != nil {
			return err
		}
	}
	if n > 0 {
		s.places.blocks = append(s.places.blocks, end)
	}
	if len(s.places.blocks) > journal.MaxVolumes*journal.SegmentsPerVolume {
		return &userfile.Error{Path: namesOf(s.config.CDX), Err: errors.New("names more captures than a run takes; divide it")}
	}
	if err := w.Flush(); err != nil { // keeps the first error of the writes
		return fmt.Errorf("write the list of captures: %w", err)
	}
	return nil
}

// block reads the captures of a block.
func (p *places) block(i int) (out []cdx.Capture, err error) {
	from := int64(0)
	if i > 0 {
		from = p.blocks[i-1]
	}
	in := bufio.NewReaderSize(io.NewSectionReader(p.file, from, p.blocks[i]-from), 1<<16)
	next := func() ([]byte, error) {
		n, err := binary.ReadUvarint(in)
		if err == nil && n > 2*input.MaxLine {
			err = errors.New("it is damaged")
		}
		if err != nil {
			return nil, err
		}
		part := make([]byte, n)
		_, err = io.ReadFull(in, part)
		return part, err
	}
	for {
		key, err := next()
		if err == io.EOF {
			return out, nil
		}
		var value []byte
		if err == nil {
			value, err = next()
		}
		var c cdx.Capture
		if err == nil {
			c, err = cdx.Kept(key, value)
		}
		if err != nil {
			return nil, fmt.Errorf("read the list of captures: %w", err)
		}
		out = append(out, c)
	}
}

func (p *places) close() error {
	if p == nil {
		return nil
	}
	return p.file.Close()
}

// addBlock adds the volume of block i, which takes the given bytes of the list of captures.
func (s *Source) addBlock(i int, bytes int64) {
	v := &Volume{First: i, Most: 1, source: s, input: s.inputs[0], seq: int64(i) * blockPlaces, archive: &journal.ArchiveRecord{Bytes: bytes}}
	v.read = func(ctx context.Context, emit func(target.Target) error) error {
		return s.accountFor(i, func(reject rejectRecord) error { return s.readBlock(ctx, i, v, reject, emit) })
	}
	v.pass = func(a *journal.ArchiveRecord) error {
		return s.passOver(i, a, func() (int64, error) {
			captures, err := s.places.block(i)
			return int64(len(captures)), err
		})
	}
	s.Volumes = append(s.Volumes, v)
}
