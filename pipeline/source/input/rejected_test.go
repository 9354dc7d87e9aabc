package input

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/store"
)

// The limit of rejected.csv applies to all archives together, and lines beyond it
// are counted.
func TestRejectsOfArchivesAreBounded(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Create(t.Context(), dir)
	must(t, err)
	defer s.Close()
	file, err := s.Create("rejected.csv")
	must(t, err)
	must(t, file.Publish())
	r := NewAccount(file, in(t, dir), func(int64) {})
	r.most = 3
	for i := range 2 {
		reject, done, err := r.Archive(i)
		must(t, err)
		for range 2 + 3*i { // the second alone exceeds the limit
			must(t, reject(7, "a.warc", "damaged_record"))
		}
		must(t, done())
	}
	_, err = r.Finish()
	must(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "rejected.csv"))
	must(t, err)
	line := "7,a.warc,damaged_record,warc\n"
	if diff := cmp.Diff("line,text,reason,input\n"+line+line+line+"0,,not_listed: 4 more; the first 3 are listed,\n",
		string(text)); diff != "" || r.n != 7 {
		t.Errorf("%d counted\n%s", r.n, diff)
	}
}

// The first place is that of an archive in bytes, and that of a list by its line.
func TestFirstPlace(t *testing.T) {
	r := NewAccount(nil, in(t, t.TempDir()), func(int64) {})
	reject, _, err := r.Archive(0)
	must(t, err)
	must(t, reject(4061, "a.warc", "damaged_record: x"))
	if _, first := r.Found(); first != "at byte 4061 of a.warc: damaged_record: x" {
		t.Errorf("in an archive: %q", first)
	}
	r = NewAccount(nil, nil, func(int64) {})
	must(t, r.Line(7, "b.warc", "duplicate", "warc-paths"))
	if _, first := r.Found(); first != "line 7: duplicate" {
		t.Errorf("in a list: %q", first)
	}
}

func TestRejectsAreBounded(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Create(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	file, err := s.Create("rejected.csv")
	if err == nil {
		err = file.Publish()
	}
	if err != nil {
		t.Fatal(err)
	}
	r := NewAccount(file, in(t, dir), func(int64) {})
	r.most = 3
	for i := range 10 {
		if err := r.Host(int64(i+1), "x", "duplicate"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Finish(); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(filepath.Join(dir, "rejected.csv"))
	want := "line,text,reason,input\n1,x,duplicate,hosts\n2,x,duplicate,hosts\n3,x,duplicate,hosts\n" +
		"0,,not_listed: 7 more; the first 3 are listed,\n"
	if diff := cmp.Diff(want, string(text)); diff != "" || r.n != 10 {
		t.Errorf("%d counted\n%s", r.n, diff)
	}
}
