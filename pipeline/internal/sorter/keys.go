package sorter

import (
	"crypto/sha256"
	"time"
)

// HashBytes is the size of [Hash].
const HashBytes = 16

// Hash returns the beginning of a key, by which records of equal texts come together.
func Hash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:HashBytes]
}

// Date returns a date as a number that sorts like dates, big endian in a key.
func Date(t time.Time) uint64 { return uint64(t.UnixMicro()) ^ 1<<63 }
