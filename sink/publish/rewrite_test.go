package publish

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store"
)

// A part that is older than some columns gets them when it is published, without values.
func TestPartsOfAnOlderProgram(t *testing.T) {
	type older struct {
		Seq  int64  `parquet:"seq"`
		Host string `parquet:"host,dict"`
	}
	name := filepath.Join(t.TempDir(), "part")
	if err := parquet.WriteFile(name, []older{{1, "a.example"}, {2, "b.example"}}); err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]bool{"fetches": true, "verdicts": false} {
		if is, err := isOlder(in, sink.Part{Table: table, Digest: store.Digest{Bytes: info.Size()}}); err != nil || is != want {
			t.Errorf("%s: older %v, %v", table, is, err)
		}
	}
	var out bytes.Buffer
	if err := (selection{}).rewriting("fetches", false, true).write(t.Context(), &out, in, info.Size()); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[sink.Fetch](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(rows) != 2 || rows[1].Host != "b.example" || rows[1].CopyTime != nil || len(rows[1].AnswersSince) > 0 {
		t.Errorf("%+v, %v", rows, err)
	}
	opened, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || opened.Root().Column("answers_since") == nil {
		t.Errorf("the part has no column answers_since (%v)", err)
	}
}
