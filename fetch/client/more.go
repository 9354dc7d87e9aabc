package client

import (
	"encoding/json"
	"io"

	"github.com/robocensus/robocensus/fetch"
)

// more is what came of a further question, until [Lease.landMore].
type more struct {
	told                 *fetch.Further // nil while its facts lie on disk
	body, reading, facts span           // of [Lease.kept]
}

// keep keeps of the body of an answer what the question wants: the body, or what is read of it.
func (lease *Lease) keep(q *fetch.Question, m *more, a *heard) error {
	if a.text == nil {
		return nil
	}
	defer lease.drop(a.text)
	switch {
	case q.Read != nil && a.Status()/100 == 2:
		return lease.put(&m.reading, func(to io.Writer) error { return lease.read(q, a.text, to) })
	case m.told.Error == "":
		return lease.put(&m.body, func(to io.Writer) error {
			_, err := io.Copy(to, a.text.reader())
			return err
		})
	}
	return nil
}

// put appends to what is kept what write writes.
func (lease *Lease) put(at *span, write func(io.Writer) error) error {
	from := lease.kept.size()
	err := write(lease.kept)
	*at = span{from, lease.kept.size()}
	return err
}

// layFacts puts the facts of further answers and of recordings to their bytes.
func (lease *Lease) layFacts() {
	for _, m := range lease.more {
		if m.told != nil && layFacts(lease.kept, &m.facts, m.told) {
			m.told = nil
		}
	}
	for _, x := range lease.exchanges {
		if x.Exchange != nil && layFacts(lease.tape, &x.facts, x.Exchange) {
			x.Exchange = nil
		}
	}
}

// layFacts appends facts to a text. What does not get there stays in memory.
func layFacts(to *text, at *span, of json.Marshaler) bool {
	facts, err := of.MarshalJSON()
	from := to.size()
	if err == nil {
		_, err = to.Write(facts)
	}
	*at = span{from, to.size()}
	return err == nil
}

// factsAt reverses layFacts.
func factsAt(from *text, at span, to json.Unmarshaler) error {
	facts, err := from.part(at)
	if err == nil {
		if err = to.UnmarshalJSON(facts); err != nil {
			err = spoolError(err)
		}
	}
	return err
}

// landMore moves further answers into memory.
func (lease *Lease) landMore(got *fetch.Capture) error {
	if len(lease.more) == 0 {
		return nil
	}
	if err := lease.takeLanding(lease.kept); err != nil {
		return err
	}
	for _, m := range lease.more {
		f, err := m.told, error(nil)
		if f == nil {
			f = new(fetch.Further)
			err = factsAt(lease.kept, m.facts, f)
			f.Identity = lease.client.config.identity(f.Identity)
		}
		if err == nil && m.body != noText {
			f.Body, err = lease.kept.part(m.body)
		}
		if err == nil && m.reading != noText {
			f.Reading, err = lease.kept.part(m.reading)
		}
		if err != nil {
			return err
		}
		got.Further = append(got.Further, f)
	}
	return nil
}
