package store

import (
	"crypto/sha256"
	"time"
)

// KeyHashBytes is the size of [KeyHash].
const KeyHashBytes = 16

// KeyHash returns the beginning of a key, by which records of equal texts come together.
func KeyHash(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:KeyHashBytes]
}

// KeyDate returns a date as a number that sorts like dates, big endian in a key.
func KeyDate(t time.Time) uint64 { return uint64(t.UnixMicro()) ^ 1<<63 }
