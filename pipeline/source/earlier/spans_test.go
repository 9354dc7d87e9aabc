package earlier

import (
	"sync"
	"testing"
)

// Segments that are read side by side are held against each other, in whichever order
// they end.
func TestSpansOfSegmentsReadSideBySide(t *testing.T) {
	const segments = 64
	var s spans
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i := range segments {
		all.Go(func() {
			<-begin
			if err := s.add(2*i, span{first: int64(10 * i), last: int64(10*i + 5), some: true}); err != nil {
				t.Error(err)
			}
		})
	}
	close(begin)
	all.Wait()
	if len(s.read) != segments {
		t.Fatalf("%d segments are known, want %d", len(s.read), segments)
	}
	for i := range segments - 1 {
		for _, one := range []span{{first: int64(10*i + 5), last: int64(10*i + 7)},
			{first: int64(10*i + 7), last: int64(10*i + 10)}} {
			one.some = true
			if err := s.add(2*i+1, one); err == nil {
				t.Errorf("seqs %d to %d are added between segments %d and %d", one.first, one.last, 2*i, 2*i+2)
			}
		}
	}
}
