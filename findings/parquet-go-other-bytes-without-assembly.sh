#!/usr/bin/env bash
# parquet-go 0.32.0 writes other bytes for the same rows with its assembly for AVX2 and without:
# checksums of files from two kinds of processors differ where all rows are equal.
#
# A column with a dictionary is written in eights of indices, as runs or bit-packed (the format's
# Encodings.md, RLE/bit-packing hybrid). Where a sequence of bit-packed eights ends is the
# writer's choice. The assembly takes an eight of four equal indices and four other equal ones for
# the beginning of a run, ends the sequence there, and finds that it is none; the Go code, which
# other processors and builds with the tag purego run, goes on. Both files read alike. Who names
# files by their digest, or proves by bytes that a table was made again, must do so on one kind of
# processor.
#
# Seen with Go 1.26 on amd64:
#
#   parquet-go v0.32.0
#   with assembly and without, 16 rows: rows equal, files differ
#   the same without such an eight: rows equal, files equal
#
# Exits with 0 if it is still so, with 1 if not. Needs go, and a processor that has AVX2.
set -euo pipefail
grep -qw avx2 /proc/cpuinfo || { echo "no AVX2 here: nothing to compare"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/parquet-go/parquet-go@v0.32.0 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/parquet-go/parquet-go"
)

type row struct {
	Agent string `parquet:"agent,dict"`
}

// main writes a row for each letter, or prints the rows of a file.
func main() {
	if len(os.Args) == 2 {
		rows, err := parquet.ReadFile[row](os.Args[1])
		if err != nil {
			panic(err)
		}
		fmt.Println(rows)
		return
	}
	var rows []row
	for _, letter := range strings.Split(os.Args[2], "") {
		rows = append(rows, row{letter})
	}
	if err := parquet.WriteFile(os.Args[1], rows); err != nil {
		panic(err)
	}
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
go build -o assembly . && go build -tags purego -o plain .

compare() {
	./assembly assembly.parquet "$2" && ./plain plain.parquet "$2"
	[ "$(./plain assembly.parquet)" = "$(./assembly plain.parquet)" ] && rows=equal || rows=differ
	cmp -s assembly.parquet plain.parquet && files=equal || files=differ
	echo "$1: rows $rows, files $files"
}
{
	echo "parquet-go $(go list -m -f '{{.Version}}' github.com/parquet-go/parquet-go)"
	compare "with assembly and without, 16 rows" abcdefghaaaabbbb
	compare "the same without such an eight" abcdefghaaabbbba
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
parquet-go v0.32.0
with assembly and without, 16 rows: rows equal, files differ
the same without such an eight: rows equal, files equal
SEEN
