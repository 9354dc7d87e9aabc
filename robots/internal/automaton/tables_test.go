package automaton

import (
	"reflect"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// Whatever is compared, tables take a bounded amount of memory. A reader that forgets its
// tables makes the same ones again.
func TestTablesAreBounded(t *testing.T) {
	first := readerOf(readerKind{views: [maxReaderViews]viewKind{
		{true, View{Rewritten, rewrite.Rewriter{Requote: rewrite.RequotePath}}}}})
	var start readMode
	want := first.table(&start)
	for n := range 3 * maxTables {
		r := first
		if n%2 == 0 {
			r = readerOf(readerKind{paths: Paths(n % 3), views: [maxReaderViews]viewKind{
				{true, View{Rewritten, rewrite.Rewriter{Requote: rewrite.RequoteValid, DoubleSlash: n%8 > 3}}}}})
		}
		m := start
		m.views[0] = rewrite.Unpack(1<<8, int32(n))
		r.table(&m)
		shared := 0
		for _, r := range readers.of {
			shared += len(r.tables)
		}
		if shared > maxTables || len(first.tables) > maxTables {
			t.Fatalf("after %d tables, %d are kept for all, and %d by one reader", n, shared, len(first.tables))
		}
	}
	if !reflect.DeepEqual(first.table(&start), want) {
		t.Error("the table of a mode is another one the second time")
	}
}
