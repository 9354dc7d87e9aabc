package export

import (
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
)

// The table access has a column for each agent of a registry: to look each up in all names
// would not end.
func TestManyColumns(t *testing.T) {
	const many = 200000
	var fields []arrow.Field
	for i := range many {
		fields = append(fields, arrow.Field{Name: strconv.Itoa(i), Type: arrow.BinaryTypes.String})
	}
	all := arrow.NewSchema(fields, nil)
	if got := only(all, names(all)); !got.Equal(all) {
		t.Errorf("%d of %d columns", got.NumFields(), many)
	}
	if got := only(all, []string{"7", "none", "3"}); len(names(got)) != 2 || names(got)[0] != "3" {
		t.Errorf("columns %v, want 3 and 7", names(got))
	}
}
