package input

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/sink/store"
)

// The merged file is that of a run without shards: the lines of the list in order,
// then archives in the order of the shards, then samples; of too many the first.
func TestMergeOfRejects(t *testing.T) {
	const head = "line,text,reason,input\n"
	for _, c := range []struct {
		name   string
		most   int
		shards []string
		want   string
	}{
		{"lines in order", 9, []string{"1,a,bad,hosts\n5,b,bad,hosts\n", "2,c,bad,hosts\n"},
			"1,a,bad,hosts\n2,c,bad,hosts\n5,b,bad,hosts\n"},
		{"the list before archives", 9, []string{"7,x,damaged,warc\n3,y,damaged,warc\n", "2,c,bad,hosts\n",
			"1,z,damaged,warc\n"},
			"2,c,bad,hosts\n7,x,damaged,warc\n3,y,damaged,warc\n1,z,damaged,warc\n"},
		{"the first of too many", 3, []string{"1,a,bad,hosts\n4,a,bad,hosts\n7,a,bad,hosts\n",
			"2,b,bad,hosts\n5,b,bad,hosts\n8,b,bad,hosts\n", "3,c,bad,hosts\n6,c,bad,hosts\n9,c,bad,hosts\n"},
			"1,a,bad,hosts\n2,b,bad,hosts\n3,c,bad,hosts\n0,,not_listed: 7 more; the first 3 are listed,\n"},
		{"shards with too many", 3, []string{"1,a,bad,hosts\n0,,not_listed: 10 more; the first 1 are listed,\n",
			"2,b,bad,hosts\n"},
			"1,a,bad,hosts\n2,b,bad,hosts\n4,http://s.test/,unused,urls\n0,,not_listed: 10 more; the first 3 are listed,\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			m := NewRejectedMerge(&out)
			m.most = c.most
			for _, text := range c.shards {
				if err := m.Add(strings.NewReader(head + text)); err != nil {
					t.Fatal(err)
				}
			}
			if c.most == 3 {
				m.Sample(4, "http://s.test/", "unused")
			}
			if err := m.Finish(); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(head+c.want, out.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What was skipped adds up by kind; a kind of which nothing was is none.
func TestKindsOfSkipped(t *testing.T) {
	r := NewAccount(nil, nil, nil)
	for range 2 {
		r.Skip(Skipped{OtherURLs: 1, Earlier: 6, Damaged: 0})
	}
	if d := cmp.Diff(Skipped{OtherURLs: 2, Earlier: 12}, r.Skipped()); d != "" {
		t.Errorf("skipped twice: %s", d)
	}
}

// A row of rejected.csv acts on no terminal and no spreadsheet, of one run and of shards.
func TestRejectedRowsDoNotAct(t *testing.T) {
	in, err := store.CreateFolder(t.TempDir())
	must(t, err)
	defer in.Close()
	file, err := in.Create("rejected.csv")
	must(t, err)
	r := NewAccount(file, func() (*store.Scratch, error) { return in.Scratch(".") }, func(int64) {})
	must(t, r.Host(1, "=cmd|' /c calc'!A0", "bad_host: -x"))
	must(t, r.Remark(2, "\x1b]0;title\a\xff", "=bad_rank"))
	must(t, r.Sample(3, "+https://a.example/", "origin_not_in_run"))
	reject, done, err := r.Archive(0)
	must(t, err)
	must(t, reject(4, "@a.warc", "damaged_record: a\r\nb"))
	must(t, done())
	_, err = r.Finish()
	must(t, err)
	must(t, file.Publish())
	want := "line,text,reason,input\n1,'=cmd|' /c calc'!A0,bad_host: -x,hosts\n" +
		"2,\\u001b]0;title\\u0007%FF,'=bad_rank,hosts\n3,'+https://a.example/,origin_not_in_run,urls\n" +
		"4,'@a.warc,damaged_record: a\\u000d\\u000ab,warc\n"
	whole, err := in.Read("rejected.csv", 1<<20)
	must(t, err)
	if diff := cmp.Diff(want, string(whole)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var merged strings.Builder
	m := NewRejectedMerge(&merged)
	must(t, m.Add(strings.NewReader(want)))
	m.Sample(5, "-x", "origin_not_in_run")
	must(t, m.Finish())
	if diff := cmp.Diff(want+"5,'-x,origin_not_in_run,urls\n", merged.String()); diff != "" {
		t.Errorf("merged (-want +got):\n%s", diff)
	}
}
