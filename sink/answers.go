package sink

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// Answers stores the answers of an uncommitted segment's targets in a file of the
// run's folder, so that resuming requests none of them again. A killed process loses
// no answer; a power failure may lose the last ones. Committing the segment removes
// the file. Answers is safe for concurrent use.
//
// The file consists of a header, which binds it to the run's plan, and a frame per
// answer: length and CRC-32C of what follows (big endian), the target's ordinal
// within the segment (4 bytes), the answer. Reading stops at a torn or damaged
// frame; the frames before it are valid.
type Answers struct {
	store  *store.Store
	name   string
	header []byte

	mu   sync.Mutex
	file *os.File // nil before the first answer
	end  int64
	kept int64
	old  map[uint32]frame // answers of earlier processes, by ordinal
}

// frame is the position of an answer in the file.
type frame struct {
	from int64
	size int
}

const (
	answersMagic = "robocensus answers 1\n"
	frameHead    = 8
	ordinalSize  = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Answers returns the stored answers of an uncommitted segment. They stay open until
// the segment is committed or the run is closed.
func (r *Run) Answers(segment int) (*Answers, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.answers[segment]; a != nil {
		return a, nil
	}
	a, err := r.openAnswers(segment)
	if err != nil {
		a.close()
		return nil, fmt.Errorf("store answers: %w", err)
	}
	r.answers[segment] = a
	return a, nil
}

func (r *Run) openAnswers(segment int) (*Answers, error) {
	a := &Answers{store: r.store, name: layout.Answers(r.plan.Run, segment)}
	digest, err := hex.DecodeString(r.planDigest)
	if err != nil {
		return a, err
	}
	a.header = append([]byte(answersMagic), digest...)
	if r.answers == nil {
		r.answers = make(map[int]*Answers)
		if err := r.store.MakeFolder(layout.AnswersFolder(r.plan.Run)); err != nil {
			return a, err
		}
	}
	there, err := r.store.Exists(a.name)
	if there && err == nil {
		if a.file, err = r.store.Extend(a.name); err == nil {
			err = a.scan()
		}
	}
	return a, err
}

// scan reads the intact frames and truncates the file after them. A file of another
// plan becomes empty.
func (a *Answers) scan() error {
	in := &counted{r: bufio.NewReaderSize(a.file, 1<<16)}
	header := make([]byte, len(a.header))
	if _, err := io.ReadFull(in, header); err == nil && string(header) == string(a.header) {
		a.end = in.n
		a.old = make(map[uint32]frame)
		for {
			ordinal, size, err := nextFrame(in)
			if err == errTorn {
				break
			}
			if err != nil {
				return err
			}
			a.old[ordinal] = frame{a.end + frameHead + ordinalSize, size}
			a.end = in.n
		}
		a.kept = int64(len(a.old))
	} else if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	return a.file.Truncate(a.end)
}

// errTorn reports an incomplete or damaged frame, or the end of the file.
var errTorn = errors.New("torn")

// nextFrame reads a frame and discards its answer, because a damaged length may be
// huge.
func nextFrame(in io.Reader) (ordinal uint32, size int, err error) {
	torn := func(err error) error {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return errTorn
		}
		return err
	}
	var head [frameHead + ordinalSize]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, 0, torn(err)
	}
	length := binary.BigEndian.Uint32(head[:])
	if length < ordinalSize {
		return 0, 0, errTorn
	}
	sum := crc32.New(castagnoli)
	sum.Write(head[frameHead:])
	if _, err := io.CopyN(sum, in, int64(length)-ordinalSize); err != nil {
		return 0, 0, torn(err)
	}
	if sum.Sum32() != binary.BigEndian.Uint32(head[4:]) {
		return 0, 0, errTorn
	}
	return binary.BigEndian.Uint32(head[frameHead:]), int(length) - ordinalSize, nil
}

// counted is a reader that counts bytes.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Find returns the answer of a target that an earlier process of the run stored, or
// nil.
func (a *Answers) Find(ordinal int) ([]byte, error) {
	at, ok := a.old[uint32(ordinal)]
	if !ok {
		return nil, nil
	}
	answer := make([]byte, at.size)
	if _, err := a.file.ReadAt(answer, at.from); err != nil {
		return nil, fmt.Errorf("read a stored answer: %w", err)
	}
	return answer, nil
}

// Keep stores the answer of a target.
func (a *Answers) Keep(ordinal int, answer []byte) error {
	frame := make([]byte, frameHead+ordinalSize, frameHead+ordinalSize+len(answer))
	binary.BigEndian.PutUint32(frame, uint32(ordinalSize+len(answer)))
	binary.BigEndian.PutUint32(frame[frameHead:], uint32(ordinal))
	frame = append(frame, answer...)
	binary.BigEndian.PutUint32(frame[4:], crc32.Checksum(frame[frameHead:], castagnoli))
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.append(frame); err != nil {
		return fmt.Errorf("keep an answer: %w", err)
	}
	return nil
}

func (a *Answers) append(frame []byte) (err error) {
	if a.file == nil {
		if a.file, err = a.store.Extend(a.name); err != nil {
			return err
		}
	}
	if a.end == 0 {
		if _, err := a.file.WriteAt(a.header, 0); err != nil {
			return err
		}
		a.end = int64(len(a.header))
	}
	if _, err := a.file.WriteAt(frame, a.end); err != nil {
		return err
	}
	a.end += int64(len(frame))
	a.kept++
	return nil
}

func (a *Answers) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file != nil {
		a.file.Close()
		a.file = nil
	}
}

// sync syncs the answers to disk and returns their number.
func (a *Answers) sync() (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return 0, nil
	}
	return a.kept, a.file.Sync()
}

// Kept returns the number of targets in committed segments, and of other targets
// with a stored answer. It syncs these answers to disk.
func (r *Run) Kept() (committed, answered int64, err error) {
	folder := layout.AnswersFolder(r.plan.Run)
	files, err := r.store.List(folder)
	for _, f := range files {
		segment, ok := layout.AnswersNumber(f.Name())
		if err != nil || !ok || r.Committed(segment) != nil {
			continue
		}
		var a *Answers
		if a, err = r.Answers(segment); err == nil {
			var kept int64
			kept, err = a.sync()
			answered += kept
		}
	}
	if err == nil && answered > 0 {
		err = r.store.Sync(folder)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("store answers: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, record := range r.records {
		committed += record.Targets
	}
	return committed, answered, nil
}

// dropAnswers removes the answers of a committed segment. It ignores errors, because
// completion removes the whole folder.
func (r *Run) dropAnswers(segment int) {
	r.mu.Lock()
	a := r.answers[segment]
	delete(r.answers, segment)
	r.mu.Unlock()
	if a != nil {
		a.close()
		r.store.Remove(a.name)
	}
}

// sweepAnswers removes the answers of all committed segments.
func (r *Run) sweepAnswers() error {
	files, err := r.store.List(layout.AnswersFolder(r.plan.Run))
	for _, f := range files {
		if segment, ok := layout.AnswersNumber(f.Name()); err == nil && ok && r.records[segment] != nil {
			err = r.store.Remove(layout.Answers(r.plan.Run, segment))
		}
	}
	if err != nil {
		return fmt.Errorf("clean up the run: %w", err)
	}
	return nil
}
