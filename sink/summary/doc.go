// Package summary holds the counters and examples of a run.
//
// Counters are additive: those of segments add up to those of a run, and every
// figure of a report is a sum of counters. Their keys come from fixed sets, so text
// from the network never creates a counter. Examples are limited to a few per
// metric and key.
package summary
