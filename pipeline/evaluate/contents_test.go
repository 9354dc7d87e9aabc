package evaluate

import (
	"strings"
	"testing"
)

// The memory drops contents in the end, and finds one that it has whatever others occur.
func TestContentsAreBounded(t *testing.T) {
	k := newContents(1)
	key := func(i int) contentKey { return contentKey{hash: bodyHash{uint64(i)}} }
	heavy := &content{cited: []citation{{pattern: strings.Repeat("x", 10_000)}}}
	for i := range 20_000 {
		k.keep(key(i), heavy)
		if k.find(key(i)) == nil {
			t.Fatal("what was kept last is gone")
		}
		if k.find(key(0)) == nil {
			t.Fatal("what is found each time is gone")
		}
	}
	if n := len(k.young) + len(k.old); n*heavy.weight() > 2*generationBytes {
		t.Errorf("%d contents of %d bytes are kept", n, heavy.weight())
	}
	for old := range k.old {
		if k.find(old) == nil {
			t.Error("a content of the generation before is not found")
		}
		break
	}
	other := key(0)
	if other.cut = true; k.find(other) != nil {
		t.Error("a content is found for another question")
	}
	k.keep(other, &content{cited: []citation{{pattern: strings.Repeat("x", keptBytes)}}})
	if k.find(other) != nil {
		t.Error("a content that is too heavy is kept")
	}
}
