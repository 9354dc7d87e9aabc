package cli

import (
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestGarbageByWhatIsInUse(t *testing.T) {
	for _, test := range []struct {
		inUse uint64
		want  int
	}{{0, 400}, {1 << 20, 400}, {24 << 20, 200}, {48 << 20, 100}, {96 << 20, 50}, {1 << 30, 30}} {
		if got := garbageFor(test.inUse); got != test.want {
			t.Errorf("garbageFor(%d) = %d, want %d", test.inUse, got, test.want)
		}
	}
}

// The pace follows the memory, and ends with its run.
func TestPaceOfGarbage(t *testing.T) {
	percent := func() int {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64())
	}
	before := percent()
	t.Setenv("GOGC", "")
	stop := PaceGarbage()
	held := make([]byte, 256<<20)
	runtime.GC()
	for deadline := time.Now().Add(time.Minute); percent() != 30; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("GOGC is %d with %d MB in use", percent(), len(held)>>20)
		}
	}
	runtime.KeepAlive(held)
	if stop(); percent() != before {
		t.Errorf("GOGC is %d after a run, %d before", percent(), before)
	}
	t.Setenv("GOGC", "77")
	stop = PaceGarbage()
	defer stop()
	if percent() != before {
		t.Errorf("GOGC is %d where the environment says it", percent())
	}
}
