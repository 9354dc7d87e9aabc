package lookup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
)

// openPart is a part that is open. Its file is read under the lock.
type openPart struct {
	part    journal.Part
	filters *sync.Map // of the run
	users   int       // under the lock of the run
	once    sync.Once
	err     error

	mu   sync.Mutex
	in   *windowed
	from io.Closer
	file *parquet.File // nil until its whole footer is needed
	rows *rowio.File   // the same
}

// part returns a part that is open, until release. In the place of the one that was used
// least lately it opens another.
func (r *Run) part(p journal.Part) (*openPart, error) {
	r.mu.Lock()
	f := &openPart{part: p, filters: &r.filters}
	if i := slices.IndexFunc(r.open, func(f *openPart) bool { return f.part.Path == p.Path }); i >= 0 {
		f = r.open[i]
		r.open = slices.Delete(r.open, i, i+1)
	}
	for len(r.open) >= atOnce {
		i := slices.IndexFunc(r.open, func(f *openPart) bool { return f.users == 0 })
		if i < 0 {
			break
		}
		r.open[i].close() // nothing was written
		r.open = slices.Delete(r.open, i, i+1)
	}
	f.users++
	r.open = append(r.open, f)
	r.mu.Unlock()
	f.once.Do(func() {
		at, err := r.in.OpenAt(p.Path)
		f.from, f.in, f.err = at, &windowed{in: at, size: p.Bytes}, err
	})
	return f, f.err
}

func (r *Run) release(f *openPart) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.users--
}

// readFooter reads the whole footer, unless it is read.
func (f *openPart) readFooter() (err error) {
	if f.file != nil {
		return nil
	}
	if _, err := f.in.footer(); err != nil {
		return err
	}
	file, err := parquet.OpenFile(f.in, f.in.size, parquet.SkipMagicBytes(true), parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	if err := rowio.HasRows(file.NumRows(), f.part); err != nil {
		return err
	}
	if err := checkIndices(file, f.in.size); err != nil {
		return err
	}
	f.file, f.rows = file, rowio.FileOf(f.in, f.in.size, file)
	return nil
}

func (f *openPart) close() error {
	if f.from == nil {
		return nil
	}
	f.in.giveBack()
	return f.from.Close()
}

// column returns a column chunk of a row group.
func (f *openPart) column(group int, name string) (*parquet.FileColumnChunk, error) {
	column, ok := f.file.Schema().Lookup(name)
	if !ok {
		return nil, fmt.Errorf("damaged Parquet: no column %s", name)
	}
	return f.file.RowGroups()[group].ColumnChunks()[column.ColumnIndex].(*parquet.FileColumnChunk), nil
}

// ofTexts returns the rows whose column has one of some texts.
func (f *openPart) ofTexts(ctx context.Context, column string, texts []string) (found []rowio.Span, err error) {
	groups, known, err := f.mayHave(ctx, column, texts)
	if err != nil || known && len(groups) == 0 {
		return nil, err
	}
	if err := f.readFooter(); err != nil {
		return nil, err
	}
	for i := range f.file.RowGroups() {
		if known && (len(groups) == 0 || groups[0] != i) {
			continue
		} else if known {
			groups = groups[1:]
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chunk, err := f.column(i, column)
		if err != nil {
			return nil, err
		}
		all := rowio.Span{Group: i, N: f.file.RowGroups()[i].NumRows()}
		err = f.values(chunk, all, func(row int64, v parquet.Value) bool {
			if slices.Contains(texts, string(v.ByteArray())) {
				found = append(found, rowio.Span{Group: i, First: row, N: 1})
			}
			return true
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ofTarget returns the rows of a target. They stand together, and seq never falls.
func (f *openPart) ofTarget(ctx context.Context, seq int64) (found []rowio.Span, err error) {
	if err := f.readFooter(); err != nil {
		return nil, err
	}
	for i := range f.file.RowGroups() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		chunk, err := f.column(i, "seq")
		if err != nil {
			return nil, err
		}
		if least, greatest, ok := chunk.Bounds(); ok && (seq < least.Int64() || seq > greatest.Int64()) {
			continue
		}
		some, err := f.inGroup(i, chunk, seq)
		if err != nil {
			return nil, err
		}
		if some.N > 0 {
			found = append(found, some)
		}
	}
	return found, nil
}

func (f *openPart) inGroup(group int, chunk *parquet.FileColumnChunk, seq int64) (some rowio.Span, err error) {
	bounds, err := chunk.ColumnIndex()
	if err != nil {
		return some, err
	}
	offsets, err := chunk.OffsetIndex()
	if err != nil {
		return some, err
	}
	pages := bounds.NumPages()
	if pages != offsets.NumPages() {
		return some, errors.New("damaged Parquet: the two indices of seq have different pages")
	}
	page := sort.Search(pages, func(i int) bool { return bounds.MaxValue(i).Int64() >= seq })
	if page == pages {
		return some, nil
	}
	first := offsets.FirstRowIndex(page)
	some = rowio.Span{Group: group}
	rest := rowio.Span{Group: group, First: first, N: f.file.RowGroups()[group].NumRows() - first}
	err = f.values(chunk, rest, func(row int64, v parquet.Value) bool {
		at := v.Int64()
		if at == seq {
			if some.N == 0 {
				some.First = row
			}
			some.N++
		}
		return at <= seq
	})
	return some, err
}

// values calls each with the values of a column that has no nulls and no lists, in some
// rows, until it returns false.
func (f *openPart) values(
	chunk *parquet.FileColumnChunk, some rowio.Span, each func(row int64, v parquet.Value) bool,
) error {
	if err := f.rows.CheckSome(some, chunk.Column()); err != nil {
		return err
	}
	in := chunk.Pages()
	defer in.Close()
	if err := in.SeekToRow(some.First); err != nil {
		return err
	}
	buffer := make([]parquet.Value, mostRows)
	for row, end := some.First, some.First+some.N; row < end; {
		p, err := in.ReadPage()
		if err != nil {
			return fmt.Errorf("damaged Parquet: %d rows are missing: %w", end-row, err)
		}
		values := p.Values()
		for err == nil {
			var n int
			n, err = values.ReadValues(buffer)
			for _, v := range buffer[:n] {
				if !each(row, v) {
					parquet.Release(p)
					return nil
				}
				row++
			}
		}
		parquet.Release(p)
		if err != io.EOF {
			return err
		}
	}
	return nil
}
