// Package summary holds the counters and examples of a run.
//
// Package evaluate adds to [Counts] and [Examples] while it makes rows, and each
// segment stores its own as rows. [SumUp] merges those of all segments when a run
// completes; the terminal and the report read the result.
//
// Counters are additive: those of segments add up to those of a run, and every
// figure of a report is a sum of counters. So a share needs two counters, and a
// quantile a histogram with fixed bins. Keys come from fixed sets: text from the
// network never creates a counter. Examples are limited to a few per metric and key.
//
// Of the counters come shares with their intervals (shares.go, percents.go). What a run says
// of each site and each agent is one word: open, partly, shut out or unread (access.go).
package summary
