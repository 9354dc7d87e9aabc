//go:build unix

package main

import (
	"syscall"

	"github.com/robocensus/robocensus/fetch"
)

// spareFiles are what a run opens besides its connections: parts under way,
// the memory of answers, inputs, the answers and bodies of waiting segments.
const spareFiles = 530

// enoughFiles refuses a concurrency that this process may not have the
// descriptors for. Go has raised the soft limit to the hard one at the start.
func enoughFiles(concurrency int, resolves bool) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // then the run will tell
	}
	files := concurrency + spareFiles
	if resolves {
		files += 2 * min(concurrency, fetch.MaxLookups)
	}
	if need := uint64(files); need > uint64(limit.Max) {
		return usagef("--concurrency %d needs %d open files and this process may have %d: lower it, or raise the hard limit (ulimit -Hn)", concurrency, need, limit.Max)
	}
	return nil
}
