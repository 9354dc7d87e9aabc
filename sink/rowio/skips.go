package rowio

import (
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// skips reads the pages of a column that is no list, and goes over some of them without
// decoding them. It believes the headers of pages, as those do who decode them, and not the
// offset index, by which somebody could show other rows. parquet-go seeks by that index
// alone, so skips moves the pages that it reads to where the first one stands.
type skips struct {
	in         io.ReaderAt
	first, end int64 // of the pages in the file
	over       int64 // bytes
	pages      []chunkPage
	next       int // number of the page that is read next
}

// skipsOf returns nil for a column whose pages cannot be skipped.
func skipsOf(in io.ReaderAt, column *format.ColumnMetaData, chunk *pageChunk) *skips {
	first := column.DataPageOffset
	if chunk.MaxRep > 0 || chunk.Foreign || len(chunk.Pages) == 0 || chunk.Pages[0].From != first {
		return nil
	}
	return &skips{in: in, first: first, end: chunk.From + chunk.Length, pages: chunk.Pages}
}

// open opens the pages of a column.
func (l *leaf) open(chunk *parquet.FileColumnChunk) parquet.Pages {
	if l.skips == nil {
		return chunk.Pages()
	}
	return chunk.PagesFrom(l.skips)
}

// ReadAt reads what parquet-go takes for the file: a dictionary where it is, and after it
// the pages without those that are skipped.
func (s *skips) ReadAt(b []byte, at int64) (n int, err error) {
	if at < s.first {
		return s.in.ReadAt(b, at)
	}
	at += s.over
	left := max(0, s.end-at)
	if int64(len(b)) <= left {
		return s.in.ReadAt(b, at)
	}
	if n, err = s.in.ReadAt(b[:left], at); err == nil {
		err = io.EOF
	}
	return n, err
}

// skip goes over pages of at most some rows, but for the last one, and returns their rows.
func (c *cells[V]) skip(most int64) (rows int64, err error) {
	s := c.skips
	if s == nil || c.at < c.n {
		return 0, nil
	}
	to := s.next
	for to < len(s.pages)-1 && rows+s.pages[to].Values <= most {
		rows += s.pages[to].Values
		to++
	}
	if rows == 0 {
		return 0, nil
	}
	s.next, s.over = to, s.pages[to].From-s.first
	if err := c.pages.SeekToRow(0); err != nil {
		return 0, c.damaged(err)
	}
	return rows, nil
}
