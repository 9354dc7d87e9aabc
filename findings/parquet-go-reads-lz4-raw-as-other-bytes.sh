#!/usr/bin/env bash
# parquet-go 0.32.0 reads most pages that are compressed with LZ4_RAW as other values than were
# written, without an error, its own files among them.
#
# Its LZ4 codec begins with room for three times the compressed bytes. Where that is more than
# the page has, the codec decompresses into memory of its own; the caller takes over a result
# that is longer than the page, cuts one that is shorter, and lets one of exactly the right
# length go. So a page that LZ4 makes smaller by less than two thirds is lost, and one that
# compresses better is read rightly, which is what a small test of equal rows would see.
# pyarrow and arrow-go write LZ4_RAW where a user asks for lz4; checksums of pages do not help,
# for they are of the compressed bytes.
# Whether another page already has that memory is a matter of scheduling and garbage collection:
# on two processors about half of all readings are right. The program below does without either.
#
# Seen with Go 1.26:
#
#   parquet-go v0.32.0
#   snappy, numbers that differ: other rows are read: false
#   lz4_raw, numbers that differ: other rows are read: true
#   lz4_raw, numbers that are alike: other rows are read: false
#
# Exits with 0 if it is still so, with 1 if not. Needs go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/parquet-go/parquet-go@v0.32.0 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"bytes"
	"fmt"
	"log"
	"runtime"
	"runtime/debug"

	"github.com/parquet-go/parquet-go"
)

type row struct {
	N int64 `parquet:"n"`
}

func others(rows []row, codec parquet.WriterOption) (n int) {
	var out bytes.Buffer
	if err := parquet.Write(&out, rows, codec); err != nil {
		log.Fatal(err)
	}
	got, err := parquet.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(got) != len(rows) {
		log.Fatal(len(got), err)
	}
	for i := range got {
		if got[i] != rows[i] {
			n++
		}
	}
	return n
}

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	differ, alike := make([]row, 2000), make([]row, 2000)
	for i := range differ {
		differ[i].N, alike[i].N = int64(i%97)*int64(i), 7
	}
	snappy, lz4 := parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Lz4Raw)
	fmt.Printf("snappy, numbers that differ: other rows are read: %t\n", others(differ, snappy) > 0)
	fmt.Printf("lz4_raw, numbers that differ: other rows are read: %t\n", others(differ, lz4) > 1000)
	fmt.Printf("lz4_raw, numbers that are alike: other rows are read: %t\n", others(alike, lz4) > 0)
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
got=$(go run .)
echo "parquet-go $(go list -m -f '{{.Version}}' github.com/parquet-go/parquet-go)"
echo "$got"
want='snappy, numbers that differ: other rows are read: false
lz4_raw, numbers that differ: other rows are read: true
lz4_raw, numbers that are alike: other rows are read: false'
[ "$got" = "$want" ] || { echo "it is no longer so"; exit 1; }
