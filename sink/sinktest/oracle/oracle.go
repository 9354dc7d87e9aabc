// Package oracle reads tables by code that shares nothing with ours. It is apart from
// package sinktest so that a test links arrow-go, most of its binary, only where it asks it.
package oracle

import (
	"bytes"
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Arrow reads a Parquet file as arrow-go does.
func Arrow(t interface{ Fatal(...any) }, content []byte, each func(arrow.RecordBatch)) *arrow.Schema {
	r, err := file.NewParquetReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	in, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	table, err := in.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	for batches := array.NewTableReader(table, 0); batches.Next(); {
		each(batches.RecordBatch())
	}
	return table.Schema()
}
