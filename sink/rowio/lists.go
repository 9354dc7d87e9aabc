package rowio

import (
	"errors"
	"reflect"
	"slices"
	"unsafe"
)

// mostElements is how many elements the lists of a batch may have, of several rows.
const mostElements = 1 << 20

// A list fills a field that holds a list, from the columns of its elements. A batch does not
// cross their pages, which begin with a row.
type list struct {
	of     *listField
	leaves []column
	counts []int // elements of each row of the batch
	others []int
}

func (l *list) most(n int) (int, error) {
	for _, c := range l.leaves {
		reps, _, entries, err := c.entries()
		if err != nil {
			return 0, err
		}
		if entries == 0 {
			continue // fill reports it
		}
		rows := 0
		for i, r := range reps {
			if r != 0 {
				continue
			}
			if rows == n || rows > 0 && i > mostElements {
				break
			}
			rows++
		}
		n = max(1, rows)
	}
	return n, nil
}

func (l *list) fill(first unsafe.Pointer, stride uintptr, n int) error {
	var elements unsafe.Pointer
	size := l.of.element.Size()
	for i, c := range l.leaves {
		reps, defs, _, err := c.entries()
		if err != nil {
			return err
		}
		counts := &l.counts
		if i > 0 {
			counts = &l.others
		}
		var entries, total int
		*counts, entries, total = count(reps, defs, n, (*counts)[:0])
		if len(*counts) < n {
			return errors.New("damaged Parquet: a list has fewer rows than its row group")
		}
		if i == 0 {
			if elements, err = l.make(first, stride, total); err != nil {
				return err
			}
		} else if !slices.Equal(l.counts, l.others) {
			return errors.New("damaged Parquet: the columns of a list have different lengths")
		}
		if err := c.elements(elements, size, entries); err != nil {
			return err
		}
	}
	return nil
}

// count returns how many elements each of the next rows has, and how many entries and
// elements these rows have together.
func count(reps, defs []byte, rows int, into []int) (counts []int, entries, total int) {
	for i, r := range reps {
		if r == 0 {
			if len(into) == rows {
				return into, i, total
			}
			into = append(into, 0)
		}
		if defs[i] > 0 {
			if len(into) > 0 {
				into[len(into)-1]++
			}
			total++
		}
	}
	return into, len(reps), total
}

// make makes the elements of a batch, and gives each row its own. An empty list is nil.
func (l *list) make(first unsafe.Pointer, stride uintptr, total int) (unsafe.Pointer, error) {
	all := reflect.MakeSlice(reflect.SliceOf(l.of.element), total, total).UnsafePointer()
	taken := 0
	for i, n := range l.counts {
		if n > 0 {
			at := unsafe.Add(all, uintptr(taken)*l.of.element.Size())
			*(*slice)(unsafe.Add(first, l.of.offset+uintptr(i)*stride)) = slice{at, n, n}
			taken += n
		}
	}
	return all, nil
}

// slice is how Go lays a slice out.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

func (l *list) end() error {
	for _, c := range l.leaves {
		if err := c.end(); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) close() {
	for _, c := range l.leaves {
		c.close()
	}
}
