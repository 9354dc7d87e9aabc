package source

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/cdx"
	"github.com/robocensus/robocensus/pipeline/source/input"
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

// readCaptures reads the index and makes the volumes.
func (s *Source) readCaptures(ctx context.Context) (err error) {
	scratch := s.rejects.Scratch
	sorted := &store.Sorter{Scratch: scratch, Memory: store.SortMemory}
	defer func() { err = errors.Join(err, sorted.Close()) }()
	if s.originals, err = newOriginals(scratch, s.config.Further); err != nil {
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

// lastOfIndex adds the last capture of each origin, by its date in the index.
func (s *Source) lastOfIndex(ctx context.Context, scratch func() (*store.Scratch, error), to *store.Sorter) (
	err error) {
	byDate := &store.Sorter{Scratch: scratch, Memory: store.SortMemory}
	defer func() { err = errors.Join(err, byDate.Close()) }()
	err = s.takePlaces(ctx, func(p *cdx.Capture) error {
		key := binary.BigEndian.AppendUint64(store.KeyHash(p.Origin.String()), store.KeyDate(p.Date))
		return byDate.Add(append(key, p.Key()...), p.Value())
	})
	if err != nil {
		return err
	}
	all, err := byDate.Sorted()
	if err != nil {
		return err
	}
	skipped := make(input.Skipped)
	defer func() { s.rejects.Skip(skipped) }()
	var last, what []byte
	settle := func() error {
		if last == nil {
			return nil
		}
		return to.Add(last[store.KeyHashBytes+8:], what)
	}
	for {
		key, value, err := all.Next()
		if err == io.EOF {
			return settle()
		}
		if err != nil {
			return err
		}
		if last != nil && bytes.Equal(last[:store.KeyHashBytes], key[:store.KeyHashBytes]) {
			skipped[input.Earlier]++
			s.progress(1)
		} else if err := settle(); err != nil {
			return err
		}
		last, what = append(last[:0], key...), append(what[:0], value...)
	}
}

// layOutPlaces writes the sorted captures to disk, each record once. If lines of one record
// have different lengths, its length is not known.
func (s *Source) layOutPlaces(sorted *store.Sorter) error {
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
		return &userfile.Error{Path: namesOf(s.config.CDX),
			Err: errors.New("names more captures than a run takes; divide it")}
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
	v := &Volume{First: i, Most: 1, source: s, input: s.inputs[0], seq: int64(i) * blockPlaces,
		archive: &journal.ArchiveRecord{Bytes: bytes}}
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
