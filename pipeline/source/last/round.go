package last

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/robocensus/robocensus/sink/store"
)

// A round takes all chains one step further, in sorted passes:
//
//	arrived: capture, last capture ─┬─► asked: name, date, last capture, rank
//	leads: capture, rank, question ─┘     │
//	                                index, names: name, date, capture
//	                                      │
//	             answers: last capture, rank, capture ─► needed, and arrived again
//
// Of the answers to a capture's questions that of the first rank counts.

func (s *search) round(step byte) error {
	byURL, byName, answers := s.sorter(), s.sorter(), s.sorter()
	named, err := s.ask(byURL, byName)
	if err == nil {
		err = s.answer(byURL, s.index, answers)
	}
	if err == nil && named { // else the other names need not be sorted
		err = s.answer(byName, s.names, answers)
	}
	if err == nil {
		err = s.choose(answers, step)
	}
	return err
}

// ask asks the questions of the captures that have arrived. named reports whether any is
// for another name than a URL.
func (s *search) ask(byURL, byName *store.Sorter) (named bool, err error) {
	arrived, err := s.arrived.Sorted()
	if err != nil {
		return false, err
	}
	leads, err := s.leads.Sorted()
	if err != nil {
		return false, err
	}
	var at []byte          // the place whose leads are read
	var questions [][]byte // the ranks and questions there
	key, value, err := leads.Next()
	for err == nil || err == io.EOF {
		arrival, _, e := arrived.Next()
		if e == io.EOF {
			break
		}
		if e != nil {
			return false, e
		}
		to, from := arrival[:len(place{})], arrival[len(place{}):]
		if !bytes.Equal(at, to) {
			at, questions = append(at[:0], to...), questions[:0]
			for err == nil && bytes.Compare(key[:len(place{})], to) <= 0 {
				if bytes.Equal(key[:len(place{})], to) {
					questions = append(questions, append(bytes.Clone(key[len(place{}):]), value...))
				}
				key, value, err = leads.Next()
			}
		}
		for _, q := range questions {
			rank, name, rest := q[:1], q[1:][:store.KeyHashBytes+8], q[1+store.KeyHashBytes+8:]
			asked := append(append(bytes.Clone(name), from...), rank...)
			if isNamed := kind(rest[0]) != redirect; isNamed {
				named = true
				e = byName.Add(asked, rest)
			} else {
				e = byURL.Add(asked, rest)
			}
			if e != nil {
				return false, e
			}
		}
	}
	if err != nil && err != io.EOF {
		return false, err
	}
	old := s.arrived
	s.arrived, s.arrivals = s.sorter(), 0
	return named, old.Close()
}

// answer answers questions with the captures of an index.
func (s *search) answer(asked, index, answers *store.Sorter) error {
	questions, err := asked.Sorted()
	if err != nil {
		return err
	}
	w := &walk{}
	for err == nil {
		var key, value []byte
		if key, value, err = questions.Next(); err != nil {
			break
		}
		if w.index == nil { // without questions the index need not be sorted
			if w.index, err = index.Sorted(); err == nil {
				err = w.advance()
			}
			if err != nil {
				return err
			}
		}
		date, from := binary.BigEndian.Uint64(key[store.KeyHashBytes:]), key[store.KeyHashBytes+8:][:len(place{})]
		q := decodeQuestion(value)
		var to []byte
		if to, err = w.find(key[:store.KeyHashBytes], date, q); err != nil || to == nil || bytes.Equal(to, from) {
			continue
		}
		err = answers.Add(bytes.Clone(key[store.KeyHashBytes+8:]), to)
	}
	if err != io.EOF {
		return err
	}
	return asked.Close()
}

// choose takes the answer of the first rank for each chain.
func (s *search) choose(answers *store.Sorter, step byte) error {
	m, err := answers.Sorted()
	var chosen []byte
	for err == nil {
		var key, to []byte
		if key, to, err = m.Next(); err != nil {
			break
		}
		from := key[:len(place{})]
		if bytes.Equal(chosen, from) {
			continue
		}
		chosen = append(chosen[:0], from...)
		if err = s.needed.Add(append(append(bytes.Clone(to), from...), step), nil); err == nil {
			err = s.arrive(place(to), place(from))
		}
	}
	if err != io.EOF {
		return err
	}
	return answers.Close()
}

// walk walks through the index beside sorted questions.
type walk struct {
	index        *store.Merged
	before, next [2][]byte // entries around the question; nil if there is none
}

func (w *walk) advance() error {
	w.before, w.next = w.next, w.before
	key, value, err := w.index.Next()
	if err == io.EOF {
		w.next = [2][]byte{}
		return nil
	}
	w.next = [2][]byte{append(w.next[0][:0], key...), append(w.next[1][:0], value...)}
	return err
}

// find returns the place of the capture that answers a question, nil for none.
func (w *walk) find(hash []byte, date uint64, q question) ([]byte, error) {
	dateOf := func(e [2][]byte) uint64 { return binary.BigEndian.Uint64(e[0][store.KeyHashBytes:]) }
	for w.next[0] != nil {
		order := bytes.Compare(w.next[0][:store.KeyHashBytes], hash)
		if order > 0 || order == 0 && (dateOf(w.next) > date || dateOf(w.next) == date && q.kind.isNearest()) {
			break
		}
		if err := w.advance(); err != nil {
			return nil, err
		}
	}
	is := func(e [2][]byte) bool { return e[0] != nil && bytes.Equal(e[0][:store.KeyHashBytes], hash) }
	chosen := w.before
	if q.kind.isNearest() && is(w.next) && (!is(w.before) || dateOf(w.next)-date <= date-dateOf(w.before)) {
		chosen = w.next
	}
	if !is(chosen) || !q.accepts(dateOf(chosen), date, chosen[1]) {
		return nil, nil
	}
	return chosen[0][store.KeyHashBytes+8:], nil
}
