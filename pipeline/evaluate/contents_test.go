package evaluate

import (
	"slices"
	"testing"
)

// The cache drops contents in the end, and finds a cached one whatever other bodies
// occur.
func TestContentsAreBounded(t *testing.T) {
	k := newContents()
	heavy := make([]byte, 10_000)
	for i := range 20_000 {
		k.keep(uint64(i), &content{body: heavy})
		if _, ok := k.young[uint64(i)]; !ok && k.weight != 0 {
			t.Fatal("what was kept last is gone")
		}
	}
	if n := len(k.young) + len(k.old); n*(&content{body: heavy}).weight() > 2*generationBytes+2*keptBytes {
		t.Errorf("%d contents of %d bytes are kept", n, len(heavy))
	}
	old := uint64(0)
	for h := range k.old {
		old = h
	}
	if c, _ := k.find(old, heavy, questions{}); c == nil {
		t.Error("a content of the generation before is not found")
	}
	if c, _ := k.find(old, heavy, questions{cut: true}); c != nil {
		t.Error("a content is found for another question")
	}
	if c, _ := k.find(old, slices.Concat(heavy, heavy), questions{}); c != nil {
		t.Error("a content is found for another body of the same hash")
	}
}
