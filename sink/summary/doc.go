// Package summary holds the counters and examples of a run.
//
// Counters are additive: those of segments add up to those of a run, and those
// of runs to any figure of a report. Their keys come from sets that are known
// beforehand, so that what a stranger writes never makes a counter. Examples
// are a bounded few of each metric and key.
package summary
