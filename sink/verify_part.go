package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/robocensus/robocensus/sink/store"
)

// maxTargets bounds the seqs that are held of one segment, whose parts may
// come from anywhere: 32 MB, a thousand times what a run writes.
const maxTargets = 4 << 20

// segmentFacts are what a segment's part of fetches says.
type segmentFacts struct {
	path        string // of the part
	known       bool   // it is there, and could be read
	targets     int64
	first, last int64 // seq
}

// segmentCheck verifies the parts of one segment.
type segmentCheck struct {
	*verifier
	segmentFacts
	seqs    []int64 // of fetches, ascending; nil where not known
	counted *int64  // targets as summary has them
	summary string  // its path
}

// segment verifies parts; the error is about ctx alone.
func (c *segmentCheck) segment(ctx context.Context, parts []Part) error {
	// The part of fetches comes first, whose targets the others are held
	// against.
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b Part) int {
		return slices.Index(TableNames, a.Table) - slices.Index(TableNames, b.Table)
	})
	for _, p := range parts {
		if err := c.part(ctx, p, nil); err != nil {
			return err
		}
	}
	if c.known && c.counted != nil && *c.counted != c.targets {
		c.add(c.summary, badSummary, fmt.Sprintf("counts %d targets, and fetches holds %d", *c.counted, c.targets))
	}
	return nil
}

// part verifies one part, whose metadata has the keys of all parts and more.
func (c *segmentCheck) part(ctx context.Context, p Part, more map[string]string) error {
	f, err := c.open(ctx, p.Path, p.Digest)
	if f == nil {
		return err
	}
	defer f.Close()
	check := c.check(p)
	ok, err := c.decode(ctx, p, f, more, check.batch)
	if ok {
		check.end()
	}
	return err
}

// open opens a file if its bytes are those that were written: others are not
// decoded, for they would give a hundred problems for one, or take all memory.
// Without a file what is wrong is told; the error is about ctx alone.
func (v *verifier) open(ctx context.Context, name string, want store.Digest) (*os.File, error) {
	f, err := openFile(ctx, v.store, name, want)
	switch {
	case err == nil:
		return f, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		v.add(name, badFile, "is missing")
	case errors.Is(err, errOtherBytes):
		v.add(name, badDigest, err.Error())
	default:
		v.add(name, badFile, err.Error())
	}
	return nil, nil
}

// anyRows is the number of rows of a part that no record names.
const anyRows = -1

// decode decodes every cell of a part, whose metadata has the keys of all parts
// and more, and reports whether that could be done. The error is about ctx
// alone.
func (v *verifier) decode(ctx context.Context, p Part, f *os.File, more map[string]string, each func(arrow.RecordBatch)) (ok bool, err error) {
	ok, err = v.decodeParquet(ctx, p, f, more, each)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if err != nil {
		v.add(p.Path, badParquet, err.Error())
	}
	return ok, nil
}

func (v *verifier) decodeParquet(ctx context.Context, p Part, f *os.File, more map[string]string, each func(arrow.RecordBatch)) (ok bool, err error) {
	defer func() {
		// arrow-go panics on some files that are damaged.
		if r := recover(); r != nil {
			ok, err = false, fmt.Errorf("damaged Parquet: %v", r)
		}
	}()
	reader, err := openParquet(f, buffered())
	if err != nil {
		return false, err
	}
	metadata := reader.MetaData().KeyValueMetadata()
	keys := map[string]string{metadataRun: v.run, metadataSchema: strconv.Itoa(SchemaVersion)}
	if p.Table == "summary" {
		keys[metadataBins] = strconv.Itoa(BinsVersion)
	}
	maps.Copy(keys, more)
	for key, want := range keys {
		if got := metadata.FindValue(key); got == nil || *got != want {
			v.add(p.Path, badSchema, fmt.Sprintf("its metadata says %s = %s, and not %s", key, shown(got), want))
		}
	}
	if n := reader.NumRows(); n != p.Rows && p.Rows != anyRows {
		v.add(p.Path, badRows, fmt.Sprintf("has %d rows, and the manifest says %d", n, p.Rows))
	}
	if text := otherColumn(v.layouts[p.Table], columns(reader.MetaData().Schema)); text != "" {
		v.add(p.Path, badSchema, text)
		return false, nil // its columns cannot be taken for what they are called
	}
	// A batch is held decoded, a body may have a megabyte.
	size := int64(2048)
	if p.Table == "bodies" {
		size = 16
	}
	r, err := pqarrow.NewFileReader(reader, pqarrow.ArrowReadProperties{BatchSize: size}, memory.DefaultAllocator)
	if err != nil {
		return false, err
	}
	batches, err := r.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return false, err
	}
	defer batches.Release()
	read := int64(0)
	for batches.Next() {
		batch := batches.RecordBatch()
		read += batch.NumRows()
		each(batch)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if n := reader.NumRows(); read != n {
		v.add(p.Path, badRows, fmt.Sprintf("holds %d rows, and its footer says %d", read, n))
	}
	return true, nil
}

func openParquet(r parquet.ReaderAtSeeker, properties *parquet.ReaderProperties) (*file.Reader, error) {
	return file.NewParquetReader(r, file.WithReadProps(properties))
}

// buffered has column chunks read as they are decoded: those of bodies may have
// gigabytes.
func buffered() *parquet.ReaderProperties {
	properties := parquet.NewReaderProperties(memory.DefaultAllocator)
	properties.BufferedStreamEnabled = true
	properties.BufferSize = 256 << 10
	return properties
}

func shown(value *string) string {
	if value == nil {
		return "nothing"
	}
	return strconv.Quote(*value)
}
