package export

import (
	"slices"
	"strconv"
	"testing"
)

// The table access has a column for each agent of a registry: to look each up in all names
// would not end.
func TestManyColumns(t *testing.T) {
	const many = 200000
	var all []column
	for i := range many {
		all = append(all, column{name: strconv.Itoa(i)})
	}
	if got := names(only(all, names(all))); !slices.Equal(got, names(all)) {
		t.Errorf("%d of %d columns", len(got), many)
	}
	if got := names(only(all, []string{"7", "none", "3"})); !slices.Equal(got, []string{"3", "7"}) {
		t.Errorf("columns %v, want 3 and 7", got)
	}
}
