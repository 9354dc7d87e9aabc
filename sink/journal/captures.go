package journal

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"

	"github.com/robocensus/robocensus/sink/store"
)

// Captures keeps the captures of a segment that is not committed yet, so that resuming its
// run requests none of them again. A killed process loses no capture; a power failure may
// lose the last ones. It is safe for concurrent use.
//
// The file consists of a header, which binds it to the run's plan, and a frame per capture:
// length and CRC-32C of what follows (big endian), the target's ordinal within the segment
// (4 bytes), the capture. Reading stops at a torn or damaged frame; the frames before it
// are valid.
type Captures struct {
	folder *store.Folder
	name   string
	header []byte

	mu   sync.Mutex
	file *os.File // nil before the first capture
	end  int64
	kept int64
	old  map[uint32]frame // captures of earlier processes, by ordinal
}

// frame is the position of a capture in the file.
type frame struct {
	from int64
	size int
}

const (
	magic       = "robocensus captures 2\n"
	frameHead   = 8
	ordinalSize = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// OpenCaptures opens the file of a folder by its name, and finds the captures of earlier
// processes of the same plan, which is given by its digest. A file that does not exist is
// created with its first capture, in a folder that exists.
func OpenCaptures(folder *store.Folder, name, planDigest string) (*Captures, error) {
	digest, err := hex.DecodeString(planDigest)
	if err != nil {
		return nil, err
	}
	c := &Captures{folder: folder, name: name, header: append([]byte(magic), digest...)}
	there, err := store.Exists(folder, name)
	if err != nil {
		return nil, err
	}
	if !there {
		return c, nil
	}
	if c.file, err = folder.Extend(name); err != nil {
		return nil, err
	}
	if err := c.scan(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// scan reads the intact frames and truncates the file after them. A file of another
// plan becomes empty.
func (c *Captures) scan() error {
	in := bufio.NewReaderSize(c.file, 1<<16)
	header := make([]byte, len(c.header))
	if _, err := io.ReadFull(in, header); err == nil && string(header) == string(c.header) {
		c.end = int64(len(header))
		c.old = make(map[uint32]frame)
		for {
			ordinal, size, err := nextFrame(in)
			if err == errTorn {
				break
			}
			if err != nil {
				return err
			}
			from := c.end + frameHead + ordinalSize
			c.old[ordinal] = frame{from, size}
			c.end = from + int64(size)
		}
		c.kept = int64(len(c.old))
	} else if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	return c.file.Truncate(c.end)
}

// countCaptures returns the number of targets of which a file has intact captures of a plan, which is
// given by its digest. It changes nothing: the file may be in use.
func countCaptures(file io.Reader, planDigest string) (int64, error) {
	digest, err := hex.DecodeString(planDigest)
	if err != nil {
		return 0, err
	}
	in, want := bufio.NewReaderSize(file, 1<<16), append([]byte(magic), digest...)
	header := make([]byte, len(want))
	if _, err := io.ReadFull(in, header); err == io.EOF || err == io.ErrUnexpectedEOF || err == nil &&
		string(header) != string(want) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	targets := make(map[uint32]bool)
	for {
		ordinal, _, err := nextFrame(in)
		if err == errTorn {
			return int64(len(targets)), nil
		}
		if err != nil {
			return 0, err
		}
		targets[ordinal] = true
	}
}

// errTorn reports an incomplete or damaged frame, or the end of the file.
var errTorn = errors.New("torn")

// nextFrame reads a frame and discards its capture, because a damaged length may be
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

// Find returns the capture of a target that an earlier process of the run stored, or
// nil.
func (c *Captures) Find(ordinal int) ([]byte, error) {
	at, ok := c.old[uint32(ordinal)]
	if !ok {
		return nil, nil
	}
	capture := make([]byte, at.size)
	if _, err := c.file.ReadAt(capture, at.from); err != nil {
		return nil, fmt.Errorf("read a stored capture: %w", err)
	}
	return capture, nil
}

// Keep stores the capture of a target, given in pieces.
func (c *Captures) Keep(ordinal int, pieces ...[]byte) error {
	size := ordinalSize
	for _, p := range pieces {
		size += len(p)
	}
	if uint64(size) > math.MaxUint32 {
		return fmt.Errorf("keep a capture: it has %d bytes", size)
	}
	frame := make([]byte, frameHead+ordinalSize, frameHead+size)
	binary.BigEndian.PutUint32(frame, uint32(size))
	binary.BigEndian.PutUint32(frame[frameHead:], uint32(ordinal))
	for _, p := range pieces {
		frame = append(frame, p...)
	}
	binary.BigEndian.PutUint32(frame[4:], crc32.Checksum(frame[frameHead:], castagnoli))
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.append(frame); err != nil {
		return fmt.Errorf("keep a capture: %w", err)
	}
	return nil
}

func (c *Captures) append(frame []byte) (err error) {
	if c.file == nil {
		if c.file, err = c.folder.Extend(c.name); err != nil {
			return err
		}
	}
	if c.end == 0 {
		if _, err := c.file.WriteAt(c.header, 0); err != nil {
			return err
		}
		c.end = int64(len(c.header))
	}
	if _, err := c.file.WriteAt(frame, c.end); err != nil {
		return err
	}
	c.end += int64(len(frame))
	c.kept++
	return nil
}

// Close closes the file. It may be called twice.
func (c *Captures) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file != nil {
		c.file.Close()
		c.file = nil
	}
}

// Sync syncs the captures to disk and returns their number.
func (c *Captures) Sync() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.file == nil {
		return 0, nil
	}
	return c.kept, c.file.Sync()
}
