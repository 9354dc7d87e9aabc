package warc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// maxFrameWindow bounds the output of a frame that we must keep: the window
	// of zstd --long.
	maxFrameWindow = 128 << 20
	// maxDictionary bounds the dictionary of a file.
	maxDictionary = 8 << 20
)

// isSkippable reports whether head begins a skippable frame (RFC 8878, 3.1.2).
func isSkippable(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && string(head[1:4]) == "\x2a\x4d\x18"
}

// isDictionary reports whether head begins a frame that may hold the dictionary of a file.
func isDictionary(head []byte) bool { return isSkippable(head) && head[0] == 0x5d }

// nextFrame opens the zstd frame at the start of raw, after skippable frames.
func (m *members) nextFrame() (*bufio.Reader, error) {
	for {
		head, err := m.raw.Peek(8)
		if !isSkippable(head) {
			break
		}
		if err != nil {
			return nil, cutOff(err)
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		if m.start == 0 && isDictionary(head) {
			err = m.loadDictionary(size)
		} else {
			err = cutOff(m.skip(m.raw, 8+size))
		}
		if err != nil {
			return nil, err
		}
		m.start = m.offset()
	}
	if m.zstd == nil {
		if err := m.newDecoder(); err != nil {
			return nil, err
		}
	}
	if err := m.frame.open(m.raw); err != nil {
		return nil, err
	}
	if err := m.zstd.Reset(&m.frame); err != nil {
		return nil, err
	}
	return m.unfold(m.zstd), nil
}

func (m *members) newDecoder(dictionary ...[]byte) (err error) {
	m.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxFrameWindow), zstd.WithDecoderDicts(dictionary...))
	return err
}

// loadDictionary loads the dictionary of the file. A .warc.zst may begin with a
// skippable frame that holds the dictionary of all others, plain or itself
// compressed (IIPC, "Use of Zstandard dictionaries in WARC").
func (m *members) loadDictionary(size int64) error {
	if size > maxDictionary {
		return fmt.Errorf("the dictionary is longer than %d bytes", maxDictionary)
	}
	m.raw.Discard(8)
	dictionary := make([]byte, size)
	if _, err := io.ReadFull(m.raw, dictionary); err != nil {
		return cutOff(err)
	}
	if bytes.HasPrefix(dictionary, []byte(zstdMagic)) {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
		if err != nil {
			return err
		}
		defer d.Close()
		if dictionary, err = d.DecodeAll(dictionary, nil); err != nil {
			return fmt.Errorf("the dictionary cannot be read: %v", err)
		}
	}
	if err := m.newDecoder(dictionary); err != nil {
		return fmt.Errorf("the dictionary cannot be read: %v", err)
	}
	return nil
}

// zstdFrame reads the bytes of one frame and no more. The decoder alone would
// continue into the next frame and hide where it begins.
type zstdFrame struct {
	r         *bufio.Reader
	left      int // bytes left of the current header, block or checksum
	last, sum bool
}

// open begins the frame at the start of r.
func (f *zstdFrame) open(r *bufio.Reader) error {
	head, err := r.Peek(zstd.HeaderMaxSize)
	if len(head) == 0 {
		return err
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return err
	}
	*f = zstdFrame{r: r, left: h.HeaderSize, sum: h.HasCheckSum}
	return nil
}

// Read goes from block to block (RFC 8878, section 3.1.1).
func (f *zstdFrame) Read(p []byte) (int, error) {
	for f.left == 0 {
		if f.last {
			if !f.sum {
				return 0, io.EOF
			}
			f.left, f.sum = 4, false
			break
		}
		head, err := f.r.Peek(3)
		if err != nil {
			return 0, cutOff(err)
		}
		block := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		f.last, f.left = block&1 == 1, 3+block>>3
		switch block >> 1 & 3 {
		case 1: // one byte, repeated
			f.left = 3 + 1
		case 3:
			return 0, errors.New("a block of unknown type")
		}
	}
	n, err := f.r.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, cutOff(err)
}
