package main

import (
	"syscall"
	"testing"
)

// A data set is written to an empty mount point, which no rename replaces.
func TestPublishToAMountPoint_NoRace(t *testing.T) {
	out, bodies := smallRun(t)
	to := t.TempDir()
	if err := syscall.Mount("none", to, "tmpfs", 0, "size=8m"); err != nil {
		t.Skip("may not mount:", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(to, 0)) })
	publishTo(t, out, to)
	call(t, 0, "reproduce", to, "--bodies", bodies)
	call(t, 64, "publish", "--out", out, "r", "--to", to, "--creator", "Doe, Jane", "--licence", "CC-BY-4.0")
}
