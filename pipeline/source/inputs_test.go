package source

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/journal"
)

// Archives at https URLs are identified side by side, while others ask for the inputs.
func TestInputsWhileArchivesAreIdentified(t *testing.T) {
	const archives = 16
	var list strings.Builder
	for i := range archives {
		fmt.Fprintf(&list, "https://h.example/%d.warc\n", i)
	}
	s, err := Open(t.Context(), Config{Paths: writeFile(t, "list", []byte(list.String()))})
	must(t, err)
	defer s.Close()
	must(t, s.Start(t.Context(), input.NewAccount(nil, in(t, t.TempDir()), func(int64) {}), func(int64) {}))
	var all sync.WaitGroup
	begin := make(chan struct{})
	for i, v := range s.Volumes {
		all.Go(func() {
			<-begin
			if err := v.PassOver(1, &journal.ArchiveRecord{Bytes: int64(i + 1), Tag: v.Path()}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Go(func() {
		<-begin
		for _, in := range s.Inputs() {
			if identified := in.Bytes > 0; identified != (in.Tag == in.Path) {
				t.Errorf("%s has the size %d with the tag %q", in.Path, in.Bytes, in.Tag)
			}
		}
	})
	close(begin)
	all.Wait()
	for i, in := range s.Inputs() {
		if in.Bytes != int64(i+1) || in.Tag != in.Path {
			t.Errorf("%s has the size %d and the tag %q", in.Path, in.Bytes, in.Tag)
		}
	}
}
