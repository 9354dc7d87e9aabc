//go:build !smallsegments

package main

// segmentTargets is the number of hosts in a segment of the command: see package pipeline.
const segmentTargets = 2048
