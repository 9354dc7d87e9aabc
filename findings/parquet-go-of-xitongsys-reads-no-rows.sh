#!/usr/bin/env bash
# xitongsys/parquet-go 1.6.2 reads no rows, and no error, of a file that has one column which it
# cannot read.
#
# The footer says how many rows a file has (num_rows in FileMetaData), and each page how it is
# compressed and encoded. This reader knows neither Brotli nor LZ4_RAW (Compression.md of the
# format), nor BYTE_STREAM_SPLIT for integers (Encodings.md, since 2.11). It drops the error of
# such a page, and takes the column for one that has ended. Read by rows, the whole file has ended:
# three rows in the footer, none in the slice, and nil for an error, although the other columns are
# readable. A census whose writer changes the codec of one column is an empty table to such a
# program, which reports zero hosts.
#
# Seen with Go 1.26; the files are written by parquet-go 0.32.0 of parquet-go:
#
#   xitongsys/parquet-go v1.6.2
#   all columns SNAPPY: 3 rows in the footer, 3 rows read, error <nil>
#   all columns ZSTD: 3 rows in the footer, 3 rows read, error <nil>
#   one column BROTLI: 3 rows in the footer, 0 rows read, error <nil>
#   one column LZ4_RAW: 3 rows in the footer, 0 rows read, error <nil>
#   one column BYTE_STREAM_SPLIT: 3 rows in the footer, 0 rows read, error <nil>
#
# Exits with 0 if it is still so, with 1 if not. Needs go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/xitongsys/parquet-go@v1.6.2 \
  github.com/xitongsys/parquet-go-source@v0.0.0-20241021075129-b732d2ac9c9b \
  github.com/parquet-go/parquet-go@v0.32.0 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"bytes"
	"fmt"
	"log"

	writer "github.com/parquet-go/parquet-go"
	"github.com/xitongsys/parquet-go-source/buffer"
	"github.com/xitongsys/parquet-go/reader"
)

type (
	snappy struct {
		Host string `parquet:"host,snappy"`
		Rank int32  `parquet:"rank,snappy"`
	}
	zstd struct {
		Host string `parquet:"host,zstd"`
		Rank int32  `parquet:"rank,zstd"`
	}
	brotli struct {
		Host string `parquet:"host,snappy"`
		Rank int32  `parquet:"rank,brotli"`
	}
	lz4raw struct {
		Host string `parquet:"host,snappy"`
		Rank int32  `parquet:"rank,lz4"`
	}
	split struct {
		Host string `parquet:"host,snappy"`
		Rank int32  `parquet:"rank,split"`
	}
)

type row struct {
	Host string `parquet:"name=host, type=BYTE_ARRAY, convertedtype=UTF8"`
	Rank int32  `parquet:"name=rank, type=INT32"`
}

func read[T any](what string, rows ...T) {
	var file bytes.Buffer
	if err := writer.Write(&file, rows); err != nil {
		log.Fatal(err)
	}
	r, err := reader.NewParquetReader(buffer.NewBufferFileFromBytes(file.Bytes()), new(row), 1)
	if err != nil {
		log.Fatal(err)
	}
	got := make([]row, r.GetNumRows())
	err = r.Read(&got)
	for i, g := range got {
		if want := (row{fmt.Sprintf("host%d.example", i+1), int32(i + 1)}); g != want {
			log.Fatalf("%s: row %d is %v", what, i, g)
		}
	}
	fmt.Printf("%s: %d rows in the footer, %d rows read, error %v\n", what, r.GetNumRows(), len(got), err)
}

func main() {
	const a, b, c = "host1.example", "host2.example", "host3.example"
	read("all columns SNAPPY", snappy{a, 1}, snappy{b, 2}, snappy{c, 3})
	read("all columns ZSTD", zstd{a, 1}, zstd{b, 2}, zstd{c, 3})
	read("one column BROTLI", brotli{a, 1}, brotli{b, 2}, brotli{c, 3})
	read("one column LZ4_RAW", lz4raw{a, 1}, lz4raw{b, 2}, lz4raw{c, 3})
	read("one column BYTE_STREAM_SPLIT", split{a, 1}, split{b, 2}, split{c, 3})
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
{
	echo "xitongsys/parquet-go $(go list -m -f '{{.Version}}' github.com/xitongsys/parquet-go)"
	go run .
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
xitongsys/parquet-go v1.6.2
all columns SNAPPY: 3 rows in the footer, 3 rows read, error <nil>
all columns ZSTD: 3 rows in the footer, 3 rows read, error <nil>
one column BROTLI: 3 rows in the footer, 0 rows read, error <nil>
one column LZ4_RAW: 3 rows in the footer, 0 rows read, error <nil>
one column BYTE_STREAM_SPLIT: 3 rows in the footer, 0 rows read, error <nil>
SEEN
