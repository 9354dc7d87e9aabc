package cli

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// PaceGarbage decides when the garbage collector runs, unless GOGC does. By default a process
// may allocate as much as is in use before the next collection: a small run collects again and
// again, and a large one takes twice its memory. stop returns to what was.
//
// It looks at the memory every few milliseconds. A finalizer would tell of a collection, but
// where all cores are busy it may run only when the next one is due.
func PaceGarbage() (stop func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	set := garbageFor(0)
	before := debug.SetGCPercent(set)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		inUse := []metrics.Sample{{Name: "/gc/heap/live:bytes"}} // after the last collection
		often := time.NewTicker(20 * time.Millisecond)
		defer often.Stop()
		for {
			select {
			case <-end:
				return
			case <-often.C:
			}
			metrics.Read(inUse)
			if percent := garbageFor(inUse[0].Value.Uint64()); percent != set {
				set = percent
				debug.SetGCPercent(set)
			}
		}
	}()
	return func() {
		close(end)
		<-ended
		debug.SetGCPercent(before)
	}
}

// garbageFor returns how much may be allocated before the next collection, as a percentage of
// what is in use: as a rule 48 MB, so that collections take the same share of the CPU in a run
// of any size.
func garbageFor(inUse uint64) (percent int) {
	const each, least, most = 48 << 20, 30, 400
	return int(min(max(each*100/max(inUse, 1), least), most))
}
