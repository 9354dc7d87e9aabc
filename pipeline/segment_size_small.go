//go:build smallsegments

package pipeline

// segmentTargets is so small that a test of several segments does with few hosts.
const segmentTargets = 256
