package rowio

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// The headers of pages of tables are read at once, as the decoder of Thrift reads them, and so is whatever
// else is taken for one.
func TestHeadersOfTables(t *testing.T) {
	type row struct {
		Seq   int64     `parquet:"seq,delta"`
		Text  *string   `parquet:"text,dict,optional"`
		Body  []byte    `parquet:"body"`
		Is    bool      `parquet:"is"`
		Time  time.Time `parquet:"time,timestamp(microsecond),delta"`
		Share *float64  `parquet:"share,optional"`
		Names []string  `parquet:"names,list,dict"`
	}
	rows := make([]row, 3000)
	for i := range rows {
		text := string(rune('a' + i%7))
		rows[i] = row{Seq: int64(i), Body: bytes.Repeat([]byte{byte(i)}, i%50), Is: i%3 == 0, Names: []string{text}}
		if i%5 > 0 {
			rows[i].Text = &text
		}
	}
	for _, version := range []int{1, 2} {
		headersOf(t, written(t, rows, parquet.PageBufferSize(5000), parquet.DataPageStatistics(true),
			parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(version)))
	}
}

func headersOf(t *testing.T, content []byte) {
	random := rand.New(rand.NewPCG(1, 1))
	headers, taken := 0, 0
	for _, column := range opened(t, content).file.Metadata().RowGroups[0].Columns {
		from, err := pagesFrom(&column.MetaData)
		if err != nil {
			t.Fatal(err)
		}
		c := check{pageChunk: pageChunk{Length: column.MetaData.TotalCompressedSize}, in: bytes.NewReader(content[from:])}
		begin := int64(0)
		if err := c.each(func(_ *format.PageHeader, at, end int64) error {
			header := content[from+begin : from+at]
			begin = end
			headers++
			if _, n := tableHeader(header); n != int64(len(header)) {
				t.Errorf("%s: a header of %d bytes is read as %d", column.MetaData.PathInSchema, len(header), n)
			}
			for range 3000 {
				changed := append(slices.Clone(header), 0, 0, 0)
				for range 1 + random.IntN(2) {
					switch at := random.IntN(len(changed)); random.IntN(4) {
					case 0:
						changed[at] = byte(random.Uint32())
					case 1:
						changed[at] ^= 1 << random.IntN(8)
					case 2:
						changed = slices.Insert(changed, at, changed[random.IntN(len(changed))])
					default:
						changed = slices.Delete(changed, at, at+1)
					}
				}
				got, n := tableHeader(changed)
				if n == 0 {
					continue
				}
				taken++
				in := new(thrift.CompactProtocol).NewReaderFromBytes(changed)
				var want format.PageHeader
				err := thrift.NewDecoder(in).Decode(&want)
				want.DataPageHeader.V.Statistics, want.DataPageHeaderV2.V.Statistics = format.Statistics{}, format.Statistics{}
				if err != nil || n != int64(in.BytesRead()) || !sameHeader(got, want) {
					t.Fatalf("%x: read as %d bytes, %+v; Thrift reads %d, %+v, %v", changed, n, got, in.BytesRead(), want, err)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	if headers < 20 || taken < 1000 {
		t.Errorf("%d headers, and %d changed ones that are taken", headers, taken)
	}
}

func sameHeader(a, b format.PageHeader) bool {
	marshal := func(h format.PageHeader) []byte {
		out, _ := thrift.Marshal(new(thrift.CompactProtocol), &h)
		return out
	}
	return bytes.Equal(marshal(a), marshal(b))
}
