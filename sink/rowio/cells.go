package rowio

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"time"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// A column is a leaf of a row group whose pages are read.
type column interface {
	filler
	// entries returns the levels of the page that are not taken yet, nil for those that the
	// column does not have, and their number.
	entries() (reps, defs []byte, n int, err error)
	// elements fills the elements of a list from the next entries.
	elements(first unsafe.Pointer, stride uintptr, entries int) error
	// drain reads what is left, and fills nothing.
	drain() (rows int64, shape uint64, err error)
	name() string
	damaged(err error) error
}

// cells fills fields with values of one type.
type cells[V any] struct {
	leaf
	chunk *parquet.FileColumnChunk
	pages parquet.Pages

	page  parquet.Page // nil before the first page, and after the last
	defs  []byte       // definition levels of the page
	at, n int          // of its entries: those that are taken, and all

	decode func(parquet.Page) (take func(n int) ([]V, error), err error)
	take   func(n int) ([]V, error) // the next values, valid until the next call

	passing bool // what is taken is not needed: texts are not copied
}

// newCells returns the column of a leaf.
func newCells(chunk *parquet.FileColumnChunk, l leaf) column {
	if l.read != nil {
		return l.read(l, chunk)
	}
	switch pointed(l.goType) {
	case reflect.TypeFor[string]():
		return texts(l, chunk, func(b []byte) string { return string(b) })
	case reflect.TypeFor[[]byte]():
		return texts(l, chunk, bytes.Clone)
	case reflect.TypeFor[int64]():
		return numbers(l, chunk, int64s)
	case reflect.TypeFor[int32]():
		return numbers(l, chunk, int32s)
	case reflect.TypeFor[float64]():
		return numbers(l, chunk, doubles)
	case reflect.TypeFor[time.Time]():
		return numbers(l, chunk, func(p parquet.Page) []time.Time {
			v := p.Data()
			out := make([]time.Time, 0, len(v.Int64()))
			for _, µs := range v.Int64() {
				out = append(out, time.UnixMicro(µs).UTC())
			}
			return out
		})
	default: // bool, by mustFill
		return numbers(l, chunk, booleans)
	}
}

func int64s(p parquet.Page) []int64    { v := p.Data(); return v.Int64() }
func int32s(p parquet.Page) []int32    { v := p.Data(); return v.Int32() }
func doubles(p parquet.Page) []float64 { v := p.Data(); return v.Double() }

func booleans(p parquet.Page) []bool {
	v := p.Data()
	bits := v.Boolean()
	out := make([]bool, p.NumValues()-p.NumNulls())
	for i := range out {
		out[i] = bits[i/8]>>(i%8)&1 == 1
	}
	return out
}

// numbers returns a column whose values a page has as they are.
func numbers[V any](l leaf, chunk *parquet.FileColumnChunk, of func(parquet.Page) []V) *cells[V] {
	c := &cells[V]{leaf: l, chunk: chunk, pages: l.open(chunk)}
	c.decode = func(p parquet.Page) (func(int) ([]V, error), error) {
		var values []V
		if d := p.Dictionary(); d != nil {
			all, numbered := of(d.Page()), p.Data()
			for _, w := range numbered.Int32() {
				if uint(w) >= uint(len(all)) {
					return nil, errDictionary
				}
				values = append(values, all[w])
			}
		} else {
			values = of(p)
		}
		return func(n int) ([]V, error) {
			if n > len(values) {
				return nil, errValues
			}
			taken := values[:n]
			values = values[n:]
			return taken, nil
		}, nil
	}
	return c
}

var (
	errDictionary = errors.New("a value is not in the dictionary")
	errValues     = errors.New("a page has fewer values than it says")
)

// texts returns a column of texts. Each of a dictionary is copied once.
func texts[V string | []byte](l leaf, chunk *parquet.FileColumnChunk, copied func([]byte) V) *cells[V] {
	c := &cells[V]{leaf: l, chunk: chunk, pages: l.open(chunk)}
	scratch := make([]V, 0, batchRows)
	var from parquet.Dictionary
	var dictionary []V
	var has []bool
	c.decode = func(p parquet.Page) (func(int) ([]V, error), error) {
		data := p.Data()
		d := p.Dictionary()
		if d == nil {
			bytes, offsets := data.ByteArray()
			return func(n int) ([]V, error) {
				if n > len(offsets)-1 {
					return nil, errValues
				}
				if scratch = scratch[:0]; c.passing {
					n, offsets = 0, offsets[n:]
				}
				for i := range n {
					scratch = append(scratch, copied(bytes[offsets[i]:offsets[i+1]]))
				}
				offsets = offsets[n:]
				return scratch, nil
			}, nil
		}
		all := d.Page().Data()
		bytes, offsets := all.ByteArray()
		if d != from {
			from, dictionary, has = d, make([]V, d.Len()), make([]bool, d.Len())
		}
		words := data.Int32()
		return func(n int) ([]V, error) {
			if n > len(words) {
				return nil, errValues
			}
			if scratch = scratch[:0]; c.passing {
				n, words = 0, words[n:]
			}
			for _, w := range words[:n] {
				if uint(w) >= uint(len(dictionary)) {
					return nil, errDictionary
				}
				if !has[w] {
					dictionary[w], has[w] = copied(bytes[offsets[w]:offsets[w+1]]), true
				}
				scratch = append(scratch, dictionary[w])
			}
			words = words[n:]
			return scratch, nil
		}, nil
	}
	return c
}

// load reads the next page that has entries, if all of the page are taken. At the end there
// is none.
func (c *cells[V]) load() error {
	for c.at == c.n {
		if c.page != nil {
			parquet.Release(c.page)
			c.page = nil
		}
		p, err := c.pages.ReadPage()
		if err == io.EOF {
			c.at, c.n = 0, 0
			return nil
		}
		if err != nil {
			return c.damaged(err)
		}
		if c.skips != nil {
			c.skips.next++
		}
		c.page, c.at, c.n, c.defs = p, 0, int(p.NumValues()), p.DefinitionLevels()
		if c.maxDef > 0 {
			if len(c.defs) != c.n || c.maxRep > 0 && len(p.RepetitionLevels()) != c.n {
				return c.damaged(errors.New("a page has fewer levels than it says"))
			}
		}
		if c.take, err = c.decode(p); err == nil {
			err = c.bounds.hold(p)
		}
		if err != nil {
			return c.damaged(err)
		}
	}
	return nil
}

func (c *cells[V]) most(n int) (int, error) {
	if err := c.load(); err != nil {
		return 0, err
	}
	if c.kind == parquet.ByteArray && c.n > 0 { // the next page may have texts of its own
		n = min(n, c.n-c.at)
	}
	return n, nil
}

func (c *cells[V]) fill(first unsafe.Pointer, stride uintptr, n int) error {
	for done := 0; done < n; {
		if err := c.load(); err != nil {
			return err
		}
		if c.n == 0 {
			return c.damaged(errors.New("has fewer rows than its row group"))
		}
		some := min(n-done, c.n-c.at)
		if err := c.set(unsafe.Add(first, uintptr(done)*stride), stride, some); err != nil {
			return err
		}
		done += some
	}
	return nil
}

// set fills the field of as many rows, or elements, as there are entries that are none of an
// empty list.
func (c *cells[V]) set(first unsafe.Pointer, stride uintptr, entries int) error {
	defs := c.defs
	if c.maxDef > 0 {
		defs = defs[c.at : c.at+entries]
	}
	c.at += entries
	present := entries
	if c.maxDef > 0 {
		present = 0
		for _, d := range defs {
			if int(d) == c.maxDef {
				present++
			}
		}
	}
	values, err := c.take(present)
	if err != nil {
		return c.damaged(err)
	}
	isPointer := c.goType.Kind() == reflect.Pointer
	if isPointer {
		values = append(make([]V, 0, len(values)), values...)
	}
	if c.maxDef == 0 || present == entries {
		for i := range values {
			at := unsafe.Add(first, c.offset+uintptr(i)*stride)
			if isPointer {
				*(**V)(at) = &values[i]
			} else {
				*(*V)(at) = values[i]
			}
		}
		return nil
	}
	row, k := uintptr(0), 0
	for _, d := range defs {
		if int(d) < c.maxRep { // an empty list
			continue
		}
		if int(d) == c.maxDef { // else null
			at := unsafe.Add(first, c.offset+row*stride)
			if isPointer {
				*(**V)(at) = &values[k]
			} else {
				*(*V)(at) = values[k]
			}
			k++
		}
		row++
	}
	return nil
}

func (c *cells[V]) entries() (reps, defs []byte, n int, err error) {
	if err := c.load(); err != nil || c.n == 0 {
		return nil, nil, 0, err
	}
	return c.page.RepetitionLevels()[c.at:], c.defs[c.at:], c.n - c.at, nil
}

func (c *cells[V]) elements(first unsafe.Pointer, stride uintptr, entries int) error {
	return c.set(first, stride, entries)
}

func (c *cells[V]) end() error {
	if err := c.load(); err != nil {
		return err
	}
	if c.n > 0 {
		return c.damaged(errors.New("has more rows than its row group"))
	}
	return nil
}

func (c *cells[V]) close() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
	c.pages.Close()
}
