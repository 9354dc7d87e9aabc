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

// Answers are what the targets of a segment that is not committed have
// answered so far, in a file of the run's folder, so that resuming asks none of
// them again. A process that is killed loses none; a machine that loses power
// may lose the last. The commit of the segment removes them. Answers are safe
// for concurrent use.
//
// The file is a header, which binds it to the run's plan, and a frame for each
// answer: length and CRC-32C of what follows (big endian), the target's ordinal
// within the segment (4 bytes), the answer. A frame that is torn or damaged
// ends the file; what stands before it counts.
type Answers struct {
	store  *store.Store
	name   string
	header []byte

	mu   sync.Mutex
	file *os.File // nil until there is an answer
	end  int64
	kept int64
	old  map[uint32]frame // those that were there before, by ordinal
}

// frame is where an answer lies.
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

// Answers are those of a segment that is not committed. They are open until it
// is, or the run is closed.
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

// scan finds the frames that are whole. The file ends after them, or is empty
// where it is not of this plan.
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

// errTorn is a frame that is not whole, and the end of the file.
var errTorn = errors.New("torn")

// nextFrame reads a frame without keeping its answer: a length that is damaged
// may be anything.
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

// counted counts what is read.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// Find is the answer of a target that an earlier process of the run has kept,
// nil where there is none.
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

// Keep adds the answer of a target.
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

// sync brings the answers to disk, and returns their number.
func (a *Answers) sync() (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.file == nil {
		return 0, nil
	}
	return a.kept, a.file.Sync()
}

// Kept counts the targets of committed segments, and those of others whose
// answers are kept, which it brings to disk.
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

// dropAnswers removes those of a segment that is committed. What stays does no
// harm, and goes when the run is complete.
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

// sweepAnswers removes those of all committed segments.
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
