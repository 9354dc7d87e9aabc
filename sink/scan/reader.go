package scan

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// reader decodes one field, row group by row group.
type reader struct {
	*field
	records  file.RecordReader // nil for a field with children
	children []*reader

	dictionary int64 // bytes of the dictionary of the last batch
}

func newReader(f *field, in *file.Reader) *reader {
	r := &reader{field: f}
	if len(f.children) == 0 {
		column := in.MetaData().Schema.Column(f.leaf)
		r.records = file.NewRecordReader(column, f.levels, f.Type, memory.DefaultAllocator, in.BufferPool())
	}
	for _, child := range f.children {
		r.children = append(r.children, newReader(child, in))
	}
	return r
}

func (r *reader) release() {
	if r.records != nil {
		r.records.Release()
	}
	for _, child := range r.children {
		child.release()
	}
}

// begin starts a row group.
func (r *reader) begin(group *file.RowGroupReader) error {
	for _, child := range r.children {
		if err := child.begin(group); err != nil {
			return err
		}
	}
	if r.records == nil {
		return nil
	}
	pages, err := group.GetColumnPageReader(r.leaf)
	if err != nil {
		return err
	}
	return r.records.(file.RecordReaderWithError).SetPageReaderWithError(pages)
}

// next decodes n rows, or fewer at the end of the row group.
func (r *reader) next(n int64) (arrow.Array, error) {
	if err := r.load(n); err != nil {
		return nil, err
	}
	return r.build(n)
}

func (r *reader) load(n int64) error {
	for _, child := range r.children {
		if err := child.load(n); err != nil {
			return err
		}
	}
	if r.records == nil {
		return nil
	}
	r.records.Reset()
	if err := r.records.Reserve(n); err != nil {
		return err
	}
	for n > 0 && r.records.HasMore() {
		read, err := r.records.ReadRecords(n)
		if err != nil {
			return err
		}
		if read == 0 {
			break
		}
		n -= read
	}
	return nil
}

// build returns the decoded values, at most n, as an array.
func (r *reader) build(n int64) (arrow.Array, error) {
	switch r.Type.ID() {
	case arrow.LIST:
		return r.list(n)
	case arrow.STRUCT:
		return r.structure(n)
	case arrow.STRING, arrow.BINARY, arrow.DICTIONARY:
		return r.texts()
	}
	var values *memory.Buffer
	valid := r.records.ReleaseValidBits()
	if b, ok := r.records.(file.BooleanRecordReader); ok && r.Type.ID() == arrow.BOOL {
		values = b.ReleaseValueBitmap()
	} else {
		values = r.records.ReleaseValues()
	}
	return made(r.Type, r.records.ValuesWritten(), int(r.records.NullCount()), nil, valid, values), nil
}

// made returns an array of buffers and takes ownership of them. The first is the
// validity bitmap.
func made(t arrow.DataType, n, nulls int, children []arrow.ArrayData, buffers ...*memory.Buffer) arrow.Array {
	if nulls == 0 && buffers[0] != nil {
		buffers[0].Release()
		buffers[0] = nil
	}
	data := array.NewData(t, n, buffers, children, nulls, 0)
	defer data.Release()
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return array.MakeFromData(data)
}

// texts returns the values of a column of bytes. They arrive in several chunks when
// a page does not use the dictionary of the pages before it, or when offsets would
// overflow.
func (r *reader) texts() (arrow.Array, error) {
	chunks := r.records.(file.BinaryRecordReader).GetBuilderChunks()
	defer func() {
		for _, c := range chunks {
			c.Release()
		}
	}()
	switch len(chunks) {
	case 0:
		return array.MakeArrayOfNull(memory.DefaultAllocator, r.Type, 0), nil
	case 1:
		return array.MakeFromData(chunks[0].Data()), nil
	}
	return array.Concatenate(chunks, memory.DefaultAllocator)
}

// structure returns n values of a struct that is never null.
func (r *reader) structure(n int64) (arrow.Array, error) {
	fields := make([]arrow.ArrayData, 0, len(r.children))
	var built []arrow.Array
	defer func() {
		for _, c := range built {
			c.Release()
		}
	}()
	for _, child := range r.children {
		c, err := child.build(n)
		if err != nil {
			return nil, err
		}
		built, fields = append(built, c), append(fields, c.Data())
		if c.Len() != built[0].Len() {
			return nil, errors.New("the fields of a struct have different numbers of values")
		}
	}
	return made(r.Type, built[0].Len(), 0, fields, nil), nil
}

// list returns at most n lists.
func (r *reader) list(n int64) (arrow.Array, error) {
	leaf := r.children[0]
	for leaf.records == nil {
		leaf = leaf.children[0]
	}
	levels := leaf.records.LevelsPos()
	def, rep := leaf.records.DefLevels()[:levels], leaf.records.RepLevels()[:levels]
	valid := memory.NewResizableBuffer(memory.DefaultAllocator)
	valid.Resize(int(bitutil.BytesForBits(n)))
	offsets := make([]int32, n+1)
	io := file.ValidityBitmapInputOutput{ReadUpperBound: n}
	if r.Nullable {
		io.ValidBits = valid.Bytes()
	}
	if err := file.DefRepLevelsToListInfo(def, rep, r.levels, &io, offsets); err != nil {
		valid.Release()
		return nil, err
	}
	offsets = offsets[:io.Read+1]
	element, err := r.children[0].build(int64(offsets[io.Read]))
	if err == nil && element.Len() != int(offsets[io.Read]) {
		element.Release()
		err = errors.New("the elements of lists are not as many as the lists have")
	}
	if err != nil {
		valid.Release()
		return nil, err
	}
	defer element.Release()
	return made(r.Type, int(io.Read), int(io.NullCount), []arrow.ArrayData{element.Data()}, valid, memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(offsets))), nil
}
