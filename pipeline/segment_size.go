//go:build !smallsegments

package pipeline

// segmentTargets is the size of a segment: large enough for full row groups
// of verdicts, small enough that a lost one costs little.
const segmentTargets = 2048
