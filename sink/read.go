package sink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/robocensus/robocensus/sink/store"
)

// errOtherBytes tells that a file has other bytes than were written.
var errOtherBytes = errors.New("does not have the bytes that were written")

// openFile opens a file that is named with its digest, if its bytes are those
// that were written: a flipped one may still decode, to other rows.
func openFile(ctx context.Context, s *store.Store, name string, want store.Digest) (*os.File, error) {
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	if err := checkDigest(ctx, f, want); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func checkDigest(ctx context.Context, f *os.File, want store.Digest) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != want.Bytes {
		return fmt.Errorf("has %d bytes, but %d were written", info.Size(), want.Bytes)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, whileRunning{ctx, f}); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 {
		return fmt.Errorf("%w: SHA-256 %.12s… and not %.12s…", errOtherBytes, got, want.SHA256)
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// whileRunning reads until ctx ends.
type whileRunning struct {
	ctx context.Context
	r   io.Reader
}

func (w whileRunning) Read(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.r.Read(p)
}

// OpenPart opens a part below dir that a manifest names, if its bytes are those
// that were written.
func OpenPart(ctx context.Context, dir string, p Part) (*os.File, error) {
	s, err := store.Open(dir)
	if err != nil {
		return nil, unreadable(p, err)
	}
	defer s.Close()
	f, err := openFile(ctx, s, p.Path, p.Digest)
	if err != nil {
		return nil, unreadable(p, err)
	}
	return f, nil
}

// unreadable is the error of a part that cannot be read.
func unreadable(p Part, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("it is gone") // wrapped, it would be taken for a run that is
	}
	return fmt.Errorf("read %s (see robocensus verify): %w", p.Path, err)
}

// ReadTexts streams columns of a part below dir as text: row gets the cells of
// one row, in the order of names, nil for null. They hold only until it
// returns.
func ReadTexts(ctx context.Context, dir string, p Part, names []string, row func(cells []*string)) error {
	s, err := store.Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	return readBatches(ctx, s, p, names, nil, func(batch arrow.RecordBatch) error {
		columns, texts, line := make([]arrow.Array, len(names)), make([]string, len(names)), make([]*string, len(names))
		for k, name := range names {
			columns[k] = Column[arrow.Array](batch, name)
		}
		for i := range int(batch.NumRows()) {
			for k, column := range columns {
				line[k] = nil
				if column.IsValid(i) {
					texts[k] = column.ValueStr(i)
					line[k] = &texts[k]
				}
			}
			row(line)
		}
		return nil
	})
}

// smallFile is read at once instead of column by column: a run of a hundred
// million hosts has fifty thousand parts of a table.
const smallFile = 1 << 20

// readBatches streams the named columns of a part, all where none is named,
// some of its columns of text as dictionaries.
func readBatches(ctx context.Context, s *store.Store, p Part, names, dictionaries []string, take func(arrow.RecordBatch) error) (err error) {
	defer func() {
		// arrow-go panics on some files that are damaged.
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged Parquet: %v", r)
		}
		if err != nil && ctx.Err() == nil {
			err = unreadable(p, err)
		}
	}()
	f, err := openFile(ctx, s, p.Path, p.Digest)
	if err != nil {
		return err
	}
	defer f.Close()
	var source parquet.ReaderAtSeeker = f
	properties := buffered()
	if p.Bytes <= smallFile {
		content, err := io.ReadAll(io.LimitReader(f, smallFile))
		if err != nil {
			return err
		}
		source, properties = bytes.NewReader(content), parquet.NewReaderProperties(memory.DefaultAllocator)
	}
	reader, err := openParquet(source, properties)
	if err != nil {
		return err
	}
	column := func(name string) (int, error) {
		i := reader.MetaData().Schema.ColumnIndexByName(name)
		if i < 0 {
			return 0, fmt.Errorf("there is no column %s", name)
		}
		return i, nil
	}
	var columns []int
	for _, name := range names {
		i, err := column(name)
		if err != nil {
			return err
		}
		columns = append(columns, i)
	}
	options := pqarrow.ArrowReadProperties{BatchSize: 4096}
	for _, name := range dictionaries {
		i, err := column(name)
		if err != nil {
			return err
		}
		options.SetReadDict(i, true)
	}
	rows, err := pqarrow.NewFileReader(reader, options, memory.DefaultAllocator)
	if err != nil {
		return err
	}
	batches, err := rows.GetRecordReader(ctx, columns, nil)
	if err != nil {
		return err
	}
	defer batches.Release()
	for batches.Next() {
		if err := take(batches.RecordBatch()); err != nil {
			return err
		}
	}
	if err := batches.Err(); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
