package robots

import (
	"reflect"
	"testing"
)

// Whatever is compared, tables take a bounded amount of memory. A reader that forgets its
// tables makes the same ones again.
func TestTablesAreBounded(t *testing.T) {
	first := readerOf(readerKind{views: [maxReaderViews]viewKind{{true, rewritten, rewriter{requote: RequotePath}}}})
	var start readMode
	want := first.table(&start)
	for n := range 3 * maxTables {
		r := first
		if n%2 == 0 {
			r = readerOf(readerKind{plain: n%4 == 0, views: [maxReaderViews]viewKind{{true, rewritten, rewriter{requote: RequoteValid, doubleSlash: n%8 > 3}}}})
		}
		m := start
		m.views[0].utf8 = sequence{need: 1, low: byte(n), high: byte(n >> 8)}
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
