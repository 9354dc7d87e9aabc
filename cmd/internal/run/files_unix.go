//go:build unix

package run

import (
	"syscall"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/fetch/names"
)

// spareFiles is the number of files that a run opens besides its connections: open
// parts, the memory of answers, inputs, the answers and bodies of segments.
const spareFiles = 530

// enoughFiles refuses a concurrency that needs more file descriptors than the
// process may have. Go raises the soft limit to the hard one at the start.
func enoughFiles(concurrency int, resolves bool) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // the run will fail if it matters
	}
	files := concurrency + spareFiles
	if resolves {
		files += 2 * min(concurrency, names.MaxLookups)
	}
	if need := uint64(files); need > uint64(limit.Max) {
		return cli.Usagef("--concurrency %d needs %d open files and this process may have %d: lower it, or raise the "+
			"hard limit (ulimit -Hn)", concurrency, need, limit.Max)
	}
	return nil
}
