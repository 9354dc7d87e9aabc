package target

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/robocensus/robocensus/fetch"
)

// InSample reports whether a host is in the sample of a share of all registered domains.
// The domain alone decides, whatever the list, the source and the order, so the
// samples of several crawls are a panel, and a smaller share is a part of a larger one.
//
// A domain is in the sample if the first eight bytes (big endian) of the SHA-256 of
// "sample " and the domain are below share × 2^64. Without a registered domain the
// host stands for itself. The prefix makes the sample independent of the shard (see
// [ShardOf]), so that shards of a sample are even.
func InSample(host string, share float64) bool {
	if share <= 0 || share >= 1 {
		return true
	}
	sum := sha256.Sum256([]byte("sample " + fetch.DomainOf(host)))
	return binary.BigEndian.Uint64(sum[:8]) < uint64(math.Ldexp(share, 64))
}
