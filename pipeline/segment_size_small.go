//go:build smallsegments

package pipeline

// pieceTargets and segmentsOfASize are so small that a test of several segments, which
// grow, does with few hosts.
const (
	pieceTargets    = 256
	segmentsOfASize = 1
)
