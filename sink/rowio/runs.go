package rowio

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

var errRuns = errors.New("the runs of a page end early, or are not encoded as they should be")

// hybrid reads words in the encoding RLE (Encodings.md of the format), run by run. To pass over a
// run takes as long for a million words as for one.
type hybrid struct {
	src   []byte
	width int // bits of a word

	left   int    // words of the run
	word   uint32 // which all of them are,
	packed []byte // unless they stand here
	at     int    // the bit there at which the next one begins
}

// begin reads the head of the next run that has words, if all of this one are taken.
func (h *hybrid) begin() error {
	for h.left == 0 {
		head, n := binary.Uvarint(h.src)
		if n <= 0 || head>>1 > math.MaxInt32 {
			return errRuns
		}
		h.src, h.left, h.at = h.src[n:], int(head>>1), 0
		size, isPacked := (h.width+7)/8, head&1 == 1
		if isPacked {
			size = h.left * h.width // in eights
			h.left *= 8
		}
		if size > len(h.src) {
			return errRuns
		}
		if h.packed = h.src[:size]; !isPacked || h.width == 0 {
			if h.word, h.packed = uint32(bitsAt(h.packed, 0, 8*size)), nil; h.word>>h.width != 0 {
				return errRuns
			}
		}
		h.src = h.src[size:]
	}
	return nil
}

// next returns a word, and how often it follows, at most most times.
func (h *hybrid) next(most int) (word uint32, n int, err error) {
	if err := h.begin(); err != nil {
		return 0, 0, err
	}
	if h.packed == nil {
		n = min(most, h.left)
		h.left -= n
		return h.word, n, nil
	}
	word = uint32(bitsAt(h.packed, h.at, h.width))
	h.left, h.at = h.left-1, h.at+h.width
	return word, 1, nil
}

// pass goes over words.
func (h *hybrid) pass(n int) error {
	for n > 0 {
		if err := h.begin(); err != nil {
			return err
		}
		some := min(n, h.left)
		h.left, h.at, n = h.left-some, h.at+some*h.width, n-some
	}
	return nil
}

// ones goes over words of one bit, and returns how many of them are 1.
func (h *hybrid) ones(n int) (ones int, err error) {
	for n > 0 {
		if err := h.begin(); err != nil {
			return 0, err
		}
		some := min(n, h.left)
		if h.packed != nil {
			some = min(some, 32)
			ones += bits.OnesCount64(bitsAt(h.packed, h.at, some))
		} else if h.word == 1 {
			ones += some
		}
		h.left, h.at, n = h.left-some, h.at+some, n-some
	}
	return ones, nil
}

// bitsAt returns a number of at most 64 bits, the lowest one first, that begins at a bit.
func bitsAt(b []byte, at, width int) uint64 {
	var near [9]byte
	shift := at & 7
	copy(near[:], b[at>>3:min(len(b), (at+width+7)>>3)])
	v := binary.LittleEndian.Uint64(near[:])>>shift | uint64(near[8])<<1<<(63-shift)
	return v & (1<<width - 1)
}

// eachDelta calls f with runs of the first n numbers in the encoding DELTA_BINARY_PACKED.
func eachDelta(src []byte, n int, f func(v int64, n int) error) error {
	number := func() uint64 {
		v, size := binary.Uvarint(src)
		if size <= 0 {
			src, v = nil, math.MaxUint64
			return v
		}
		src = src[size:]
		return v
	}
	signed := func() int64 {
		v := number()
		return int64(v>>1) ^ -int64(v&1)
	}
	block, minis, total := number(), number(), number()
	last, same := signed(), 1
	switch {
	case n == 0:
		return nil
	case block == 0 || block%128 != 0 || block > 1<<16 || minis == 0 || block/minis%32 != 0 || block/minis == 0,
		total < uint64(n), total > math.MaxInt32:
		return errRuns
	}
	for left := n - 1; left > 0; {
		least := signed()
		if uint64(len(src)) < minis {
			return errRuns
		}
		widths := src[:minis]
		src = src[minis:]
		for _, width := range widths {
			if left == 0 {
				break
			}
			size := int(block/minis) / 8 * int(width)
			if width > 64 || size > len(src) {
				return errRuns
			}
			some := min(left, int(block/minis))
			for i := range some {
				delta := least
				if width > 0 {
					delta += int64(bitsAt(src, i*int(width), int(width)))
				} else if least == 0 {
					same += some
					break
				}
				if delta == 0 {
					same++
					continue
				}
				if err := f(last, same); err != nil {
					return err
				}
				last, same = last+delta, 1
			}
			src, left = src[size:], left-some
		}
	}
	return f(last, same)
}
