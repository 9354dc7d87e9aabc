//go:build smallsegments

package main

const segmentTargets = 256
