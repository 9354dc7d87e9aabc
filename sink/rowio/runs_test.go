package rowio

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"

	"github.com/robocensus/robocensus/sink/sinktest/oracle"
)

// A codedRow has the columns whose runs are read.
type codedRow struct {
	Seq   int64   `parquet:"seq,delta"`
	Text  string  `parquet:"text,dict"`
	Maybe *string `parquet:"maybe,dict"`
}

func (r codedRow) String() string {
	if r.Maybe == nil {
		return fmt.Sprintf("%d %q null", r.Seq, r.Text)
	}
	return fmt.Sprintf("%d %q %q", r.Seq, r.Text, *r.Maybe)
}

func drawCoded(r *rand.Rand) (rows []codedRow) {
	texts := []string{"", "a", "/x", "é", "long long long"}
	seq := int64(0)
	for len(rows) < 3000 {
		row := codedRow{Seq: seq, Text: texts[r.IntN(len(texts))]}
		if r.IntN(3) > 0 {
			row.Maybe = &texts[r.IntN(len(texts))]
		}
		for range []int{1, 1, 1, 9, 200, 700}[r.IntN(6)] {
			rows = append(rows, row)
		}
		seq += []int64{0, 1, 1, 1 << 20, 1 << 50}[r.IntN(5)]
	}
	return rows
}

// byArrow returns rows as arrow-go reads them, and an error for its panics, too.
func byArrow(content []byte) (rows []string, err error) {
	defer Recovered(&err)
	refused := fatal(func(args ...any) { err = fmt.Errorf("%v", args) })
	oracle.Arrow(refused, content, func(batch arrow.RecordBatch) {
		seq, text, maybe := batch.Column(0).(*array.Int64), batch.Column(1), batch.Column(2)
		for i := range int(batch.NumRows()) {
			row := codedRow{Seq: seq.Value(i), Text: text.ValueStr(i)}
			if !maybe.IsNull(i) {
				row.Maybe = new(maybe.ValueStr(i))
			}
			rows = append(rows, row.String())
		}
	})
	return rows, err
}

type fatal func(...any)

func (f fatal) Fatal(args ...any) {
	f(args...)
	panic(fmt.Sprint(args...))
}

// Of pages that are damaged, the rows are those that arrow-go reads, and those that parquet-go
// does unless it refuses them, or they are refused: read whole, in part, or the seqs alone.
func TestDamagedRunsAreThoseOfOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	accepted, refused := 0, 0
	for range 250 {
		rows := drawCoded(r)
		content := written(t, rows, parquet.DataPageVersion(1+r.IntN(2)), parquet.PageBufferSize(1+r.IntN(9000)),
			parquet.Compression(&parquet.Uncompressed))
		f := opened(t, content)
		m := f.file.Metadata().RowGroups[0].Columns[r.IntN(3)].MetaData
		if r.IntN(8) > 0 { // else it is as it was
			for range 1 + r.IntN(2) {
				at := m.DataPageOffset + r.Int64N(m.TotalCompressedSize-(m.DataPageOffset-max(m.DictionaryPageOffset, 4)))
				content[min(at, int64(len(content)-1))] ^= 1 << r.IntN(8)
			}
		}
		f, err := Open(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			continue
		}
		ours, err := all[codedRow](content, Selection{})
		if err != nil {
			refused++
			continue
		}
		accepted++
		theirs, err := byArrow(content)
		var got []string
		for _, row := range ours {
			got = append(got, row.String())
		}
		if err != nil || !slices.Equal(got, theirs) {
			t.Fatalf("arrow-go reads other rows: %v", err)
		}
		if some, err := Some[codedRow](f, Span{0, 0, int64(len(ours))}); err == nil && !reflect.DeepEqual(some, ours) {
			t.Fatal("parquet-go reads other rows")
		}
		from := 1 + r.Int64N(int64(len(ours))-1)
		to := from + 1 + r.Int64N(int64(len(ours))-from)
		part, err := all[codedRow](content, Selection{Rows: [][2]int64{{0, 1}, {from, to}}})
		if want := slices.Concat(ours[:1], ours[from:to]); err != nil || !reflect.DeepEqual(part, want) {
			t.Fatalf("rows %d to %d are others: %v", from, to, err)
		}
		at := 0
		err = f.EachSeq(t.Context(), func(seq int64, n int) error {
			for range n {
				if seq != ours[at].Seq {
					t.Fatalf("row %d has seq %d", at, seq)
				}
				at++
			}
			return nil
		})
		if err != nil || at != len(ours) {
			t.Fatalf("%d seqs: %v", at, err)
		}
	}
	if accepted < 50 || refused < 50 {
		t.Errorf("%d files are accepted, %d refused", accepted, refused)
	}
}

// Numbers are those that parquet-go has encoded, with differences of any number of bits, and a prefix
// of the encoding is refused.
func TestDeltas(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for width := range 65 {
		want := []int64{r.Int64()}
		for range 5 + r.IntN(400) {
			if want = append(want, want[len(want)-1]); r.IntN(2) > 0 {
				want[len(want)-1] += int64(r.Uint64() >> (64 - width))
			}
		}
		src, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		read := func(src []byte, n int) (got []int64, err error) {
			err = eachDelta(src, n, func(v int64, n int) error {
				got = append(got, slices.Repeat([]int64{v}, n)...)
				return nil
			})
			return got, err
		}
		if got, err := read(src, len(want)); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d bits: %d, %v, want %d", width, got, err, want)
		}
		if got, err := read(src, 7); width > 0 && (err != nil || !slices.Equal(got, want[:7])) {
			t.Fatalf("%d bits: %d, %v", width, got, err)
		}
		if _, err := read(src[:len(src)-1], len(want)); err == nil {
			t.Fatalf("%d bits: an encoding that is cut off is read", width)
		}
		if _, err := read(src, len(want)+1); err == nil {
			t.Fatalf("%d bits: a number that is not there is read", width)
		}
	}
	for _, src := range []string{"", "\x00\x04\x01\x00", "\x80\x01\x00\x02\x00", "\x80\x01\x80\x01\x02\x00\x00",
		"\x80\x01\x04\x02\x00\x00\x41\x00\x00\x00" + strings.Repeat("\x00", 300),
		"\x80\x80\x80\x80\x10\x04\x02\x00\x00", "\x80\x01\x04\xff\xff\xff\xff\xff\xff\x01\x00\x00"} {
		if err := eachDelta([]byte(src), 2, func(int64, int) error { return nil }); err == nil {
			t.Errorf("%q is read", src)
		}
	}
}

// Runs are read word by word, and passed over, whatever their lengths; what does not stand there is
// an error, and no run takes memory.
func TestRuns(t *testing.T) {
	long := hybrid{src: []byte("\xfe\xff\xff\xff\x0f\x07\x02\x01"), width: 3} // 2³¹-1 times 7, then 1
	if err := long.pass(math.MaxInt32 - 1); err != nil {
		t.Fatal(err)
	}
	for _, want := range []uint32{7, 1} {
		if w, n, err := long.next(9); w != want || n != 1 || err != nil {
			t.Errorf("%d × %d, %v", n, w, err)
		}
	}
	packed := hybrid{src: []byte("\x05\x0f\xf0\x06\x01"), width: 1} // 1111 0000 0000 1111, then 111
	if err := packed.pass(2); err != nil {
		t.Fatal(err)
	}
	if n, err := packed.ones(12); n != 4 || err != nil {
		t.Errorf("%d ones, %v", n, err)
	}
	if n, err := packed.ones(5); n != 5 || err != nil {
		t.Errorf("%d ones, %v", n, err)
	}
	if wide := (hybrid{src: []byte("\x03" + strings.Repeat("\xff\xee\xdd\xcc", 8)), width: 32}); true {
		if err := wide.pass(7); err != nil {
			t.Fatal(err)
		}
		if w, n, err := wide.next(9); w != 0xccddeeff || n != 1 || err != nil {
			t.Errorf("%d × %x, %v", n, w, err)
		}
	}
	for _, src := range []string{"", "\x80", "\x02", "\x03\x00", "\x00", "\xfe\xff\xff\xff\x1f\x07", "\x02\x08", "\xff\xff\xff\xff\x0f\x07",
		"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		h := hybrid{src: []byte(src), width: 3}
		_, _, of := h.next(9)
		h = hybrid{src: []byte(src), width: 3}
		if err := h.pass(1); err == nil || of == nil {
			t.Errorf("%q is read: %v, %v", src, of, err)
		}
	}
}
