package evaluate

import (
	"bytes"
	"testing"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// A hostile line has a path of hundreds of kilobytes that is not text, and a
// hundred thousand keys after it.
func TestSignalsOfALineShareItsPath(t *testing.T) {
	p, _ := robots.ProfileNamed("rfc9309")
	body := []byte("User-agent: *\nContent-Usage: /" + string(bytes.Repeat([]byte{0xff}, 1000)) +
		" a=y, b=y, c=y\nContent-Usage: /x d=y\nContent-Usage: e=y\n")
	a := &Evaluator{indexes: []int32{0}}
	var f robots.File
	f.Parse(body, p)
	rows := a.signalRows(&schema.Fetch{}, &f)
	if len(rows) != 5 {
		t.Fatalf("%d rows, want 5", len(rows))
	}
	if rows[0].Path == nil || rows[1].Path != rows[0].Path || rows[2].Path != rows[0].Path {
		t.Error("each key has the path once more")
	}
	if rows[3].Path == nil || *rows[3].Path != "/x" || rows[4].Path != nil {
		t.Errorf("the paths of other lines are %v and %v", rows[3].Path, rows[4].Path)
	}
}
