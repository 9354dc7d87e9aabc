package sink

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// journalName is the journal of a run under way, in its folder: one line of
// JSON per committed segment. Once a line is on disk its segment is committed;
// a last line that is not whole was being written when the run ended, and
// counts for nothing.
const journalName = "segments.jsonl"

// maxEntry bounds a line of the journal.
const maxEntry = 1 << 20

// entry is a line of the journal.
type entry struct {
	Segment int             `json:"segment"`
	Note    json.RawMessage `json:"note,omitempty"`
	Parts   []Part          `json:"parts"`
}

// journal is the journal of the run that is being written.
type journal struct {
	path   string
	file   *os.File
	end    int64 // of the last whole line
	broken error // why nothing more may be written
}

// errInDoubt tells that a line may be on disk or not: only a later look at the
// journal can say whether its segment is committed.
var errInDoubt = errors.New("the journal is in doubt")

// openJournal opens the journal for lines after its first end bytes.
func openJournal(path string, end int64) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	j := &journal{path: path, file: f, end: end}
	if err := j.cut(); err != nil {
		f.Close()
		return nil, fmt.Errorf("open the journal: %w", err)
	}
	return j, nil
}

// cut removes what follows the last whole line.
func (j *journal) cut() error {
	if err := j.file.Truncate(j.end); err != nil {
		return err
	}
	return syncFile(j.file)
}

// add writes a line and returns once it is on disk. After an error nothing of
// it is there, except where the error is errInDoubt: then no further line is
// taken, since it could continue half a one.
func (j *journal) add(e entry) error {
	if j.broken != nil {
		return j.broken
	}
	line, err := json.Marshal(&e)
	if err != nil {
		return fmt.Errorf("segment %d as JSON: %w", e.Segment, err)
	}
	line = append(line, '\n')
	if len(line) > maxEntry {
		return fmt.Errorf("segment %d: its line of the journal has %d bytes, more than %d: its note is too long", e.Segment, len(line), maxEntry)
	}
	if err := j.inPlace(); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	_, err = j.file.WriteAt(line, j.end)
	if err == nil {
		err = syncFile(j.file)
	}
	if err == nil {
		j.end += int64(len(line))
		return nil
	}
	err = fmt.Errorf("write the journal: %w", err)
	if e := j.cut(); e != nil {
		j.broken = fmt.Errorf("%w: %w; %w", errInDoubt, err, e)
		return j.broken
	}
	return err
}

// inPlace finds out whether the file still has its name: what is written to
// one that was removed is lost without an error.
func (j *journal) inPlace() error {
	named, err := os.Stat(j.path)
	if err != nil {
		return err
	}
	open, err := j.file.Stat()
	if err != nil {
		return err
	}
	if !os.SameFile(named, open) {
		return fmt.Errorf("%s was replaced by another file", j.path)
	}
	return nil
}

// readJournal reads the committed segments, in the order in which they were
// committed, and where the last whole line ends.
func readJournal(path string) (entries []entry, end int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("read the journal: %w", err)
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, maxEntry)
	seen := make(map[int]bool)
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		if err == io.EOF {
			return entries, end, nil // a line without its end is none
		}
		if err != nil && err != bufio.ErrBufferFull {
			return nil, 0, fmt.Errorf("read the journal: %w", err)
		}
		if err == nil {
			var e entry
			if err = json.Unmarshal(line, &e); err == nil && seen[e.Segment] {
				err = fmt.Errorf("segment %d stands here twice", e.Segment)
			}
			if err == nil {
				e.Note = bytes.Clone(e.Note)
				seen[e.Segment] = true
				entries = append(entries, e)
				end += int64(len(line))
				continue
			}
		}
		// Power may fail while a line is on its way to the disk, of which
		// any block may then be missing; no other line follows it.
		torn := !json.Valid(line)
		if _, e := r.ReadByte(); e == io.EOF && torn {
			return entries, end, nil
		}
		return nil, 0, fmt.Errorf("%s:%d: the journal is %w: %w", path, n, errDamaged, err)
	}
}
