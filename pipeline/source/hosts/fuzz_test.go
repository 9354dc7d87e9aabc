package hosts

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
)

// FuzzHosts checks that a list gives the same rows however it is compressed and
// split into reads, in the order of the lines. Each row is a target or is rejected, and
// no target occurs twice.
func FuzzHosts(f *testing.F) {
	for _, list := range []string{
		"example.com\n# comment\n\nhttps://a.test:8443/x\n", "rank,host\n1,a.test\n2,\"b.test\"\nx,c.test\n",
		"#harmonicc_pos\thost_rev\n1\tcom.example\n",
		"\ufeffhost;url\na.test;/x\na.test;https://a.test/y\nb.test;https://other.test/\n", "1,localhost\n",
		"https://a.test/x,y\n", "m\xfcnchen.test\na.test\na.test\n",
		"GlobalRank,Domain\n1,a.test", "PAR1", "sep=;\nid;Website URL\n1;\"https//a.test;\n", "a.test b.test, c.test\n",
		"\"Address\",\"Status\"\n\"https://a.test/\",\"5\" x",
	} {
		f.Add([]byte(list))
		f.Add(gzipped(list))
		f.Add(zstandard(list))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			t.Skip("longer than it needs to be")
		}
		read := func(r io.Reader) (rows []row, err error) {
			plain, done, err := input.Decompress(r)
			if err != nil {
				return nil, err
			}
			defer done()
			err = readLines("file", io.LimitReader(plain, 1<<20), form{}, func(r row) error {
				rows = append(rows, r)
				return nil
			})
			return rows, err
		}
		rows, err := read(bytes.NewReader(text))
		again, errToo := read(iotest.HalfReader(bytes.NewReader(text)))
		if !reflect.DeepEqual(rows, again) || (err == nil) != (errToo == nil) {
			t.Fatalf("%+v, %v; in pieces %+v, %v", rows, err, again, errToo)
		}
		line := int64(0)
		for _, r := range rows {
			if r.line < line || len(r.text) > input.MaxLine || r.rank != nil && *r.rank < 1 ||
				strings.ContainsAny(r.host+r.text, "\n") {
				t.Fatalf("row %+v after line %d", r, line)
			}
			line = r.line
		}
		told := 0
		targets := int64(0)
		seen := make(map[fetch.Origin]bool)
		s := &grouper{schemes: []string{"https", "http"}, remark: func(line int64, text, reason string) error { return nil }}
		s.reject = func(line int64, text, reason string) error {
			if reason == "" {
				t.Fatalf("line %d is rejected for no reason: %q", line, reason)
			}
			told++
			return nil
		}
		s.emit = func(target target.Target) error {
			targets += target.Lines
			if seen[target.Candidates[0]] || target.Lines < 1 {
				t.Fatalf("target %+v is given again, or has no lines", target)
			}
			seen[target.Candidates[0]] = true
			return nil
		}
		for _, r := range rows {
			if err := s.take(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		if targets+int64(told) != int64(len(rows)) {
			t.Fatalf("of %d rows %d are lines of targets and %d are rejected", len(rows), targets, told)
		}
	})
}

// errMany ends the reading of a list: a few bytes can hold millions of rows.
var errMany = errors.New("many rows")

// FuzzParquetHosts checks that a damaged list of hosts in Parquet is an input
// error, and that rows are numbered in order.
func FuzzParquetHosts(f *testing.F) {
	type listed struct {
		Host string  `parquet:"host,dict"`
		URL  *string `parquet:"url,optional"`
		Rank int64   `parquet:"rank"`
	}
	for _, rows := range [][]listed{nil, {{"a.test", nil, 1}, {"b.test", nil, 2}}} {
		var b bytes.Buffer
		if err := parquet.Write(&b, rows); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	path := filepath.Join(f.TempDir(), "hosts.parquet")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		line := int64(0)
		err = readParquetHosts(context.Background(), "file", in, form{}, func(r row) error {
			if line++; r.line != line {
				t.Fatalf("row %d is numbered %d", line, r.line)
			}
			if line > 10_000 {
				return errMany
			}
			return nil
		})
		var input *userfile.Error
		if err != nil && !errors.Is(err, errMany) && !errors.As(err, &input) {
			t.Fatalf("%#v", err)
		}
	})
}
