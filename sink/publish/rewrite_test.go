package publish

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
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
	file, err := rowio.Open(in, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	for table, want := range map[string]bool{"fetches": true, "verdicts": false} {
		if is := isOlder(file, table); is != want {
			t.Errorf("%s: older %v", table, is)
		}
	}
	part := &rowio.PartFile{File: file, Raw: in}
	var out bytes.Buffer
	if err := rewriterOf(selection{}, "fetches", false, true).write(t.Context(), &out, part, info.Size()); err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.Read[schema.Fetch](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(rows) != 2 || rows[1].Host != "b.example" || rows[1].CopyTime != nil ||
		len(rows[1].AnswersSince) > 0 {
		t.Errorf("%+v, %v", rows, err)
	}
	opened, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || opened.Root().Column("answers_since") == nil {
		t.Errorf("the part has no column answers_since (%v)", err)
	}
}

// A part is not published with fewer rows than its footer announces.
func TestRowsThatAreAnnounced(t *testing.T) {
	var good bytes.Buffer
	w := parquet.NewGenericWriter[schema.Sitemap](&good)
	_, err := w.Write([]schema.Sitemap{{Seq: 1, URL: "a"}, {Seq: 2, URL: "b"}})
	must(t, err)
	must(t, w.Close())
	for _, announced := range []int64{2, 3} {
		content := bytes.Clone(good.Bytes())
		end := len(content) - 8
		begin := end - int(binary.LittleEndian.Uint32(content[end:]))
		var meta format.FileMetaData
		must(t, thrift.Unmarshal(new(thrift.CompactProtocol), content[begin:end], &meta))
		meta.NumRows, meta.RowGroups[0].NumRows = announced, announced
		text, err := thrift.Marshal(new(thrift.CompactProtocol), meta)
		must(t, err)
		content = append(binary.LittleEndian.AppendUint32(append(content[:begin], text...), uint32(len(text))), "PAR1"...)
		name := filepath.Join(t.TempDir(), "part")
		must(t, os.WriteFile(name, content, 0o666))
		in, err := os.Open(name)
		must(t, err)
		defer in.Close()
		file, err := rowio.Open(in, int64(len(content)))
		must(t, err)
		part := &rowio.PartFile{File: file, Raw: in}
		err = rewriterOf(selection{}, "sitemaps", false, true).write(t.Context(), io.Discard, part, int64(len(content)))
		if (err == nil) != (announced == 2) {
			t.Errorf("of two rows %d are announced: %v", announced, err)
		}
	}
}

// With hashes for hosts no part names a host: not in its own columns, nor in the URLs of
// verdicts. Paths stay.
func TestNoPartNamesAHost(t *testing.T) {
	dir := t.TempDir()
	run := aRun(t, dir, "r", func(segment int, r *rowsOfSegment) {
		for i := range r.verdicts {
			if i%2 == 0 {
				r.verdicts[i].URL = "https://" + r.verdicts[i].Host + "/page"
			}
		}
	})
	set := filepath.Join(t.TempDir(), "set")
	_, err := Write(t.Context(), Config{
		In: sinktest.Open(t, dir), Runs: []*journal.Manifest{run}, To: set, HashHosts: true,
		Metadata: Metadata{Title: "A census", Creators: []string{"Doe, Jane"}, Licence: "CC-BY-4.0"},
	})
	must(t, err)
	rows, err := parquet.ReadFile[schema.Verdict](filepath.Join(set, "verdicts/run=r/part-0000000000.parquet"))
	must(t, err)
	for i, row := range rows {
		host := fmt.Sprintf("h%d.example", row.Seq)
		want := fmt.Sprint("/", i%4)
		if i%2 == 0 {
			want = hash("https://" + host + "/page")
		}
		if row.Host != hash(host) || row.URL != want {
			t.Errorf("row %d: %s %s, want %s %s", i, row.Host, row.URL, hash(host), want)
		}
	}
	if len(rows) != 12 {
		t.Errorf("%d verdicts", len(rows))
	}
	must(t, fs.WalkDir(os.DirFS(set), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(set, name))
		if bytes.Contains(content, []byte("h1.example")) {
			t.Errorf("%s names a host", name)
		}
		return err
	}))
}
