package records

import (
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// A document is in the state of what was asked for: licences beyond the bound are so in each run,
// and what redirects lead to beyond it may be, too. Of them alone nothing is known.
func TestDocumentsBeyondTheBound(t *testing.T) {
	for _, row := range []struct {
		rows []schema.Document
		want string
	}{
		{[]schema.Document{{Outcome: "present"}, {Outcome: "not_asked", Remark: new("beyond,more")}}, "present"},
		{[]schema.Document{{Outcome: "present"}, {Outcome: "not_asked", Remark: new("elsewhere,beyond")}}, "present"},
		{[]schema.Document{{Outcome: "present"}, {Outcome: "not_asked", Remark: new("spared")}}, ""},
		{[]schema.Document{{Outcome: "not_asked", Remark: new("elsewhere,beyond")}}, ""},
	} {
		for i := range row.rows {
			row.rows[i].Document = "rsl"
		}
		f := &Fetched{}
		f.beside[OfDocuments] = encodeDocuments(row.rows, nil)
		if got := f.Documents(); len(got) != 1 || got[0].State != row.want {
			t.Errorf("%v: %v, want %q", row.rows, got, row.want)
		}
	}
}
