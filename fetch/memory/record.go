package memory

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

// recordVersion is the first byte of a record: the format of a folder. Format 1
// recorded outages as Google's profile saw them; format 2 had no encoded
// capture, format 3 had other names in it.
const recordVersion = 4

// A record is the memory of an origin: version, digest of the last answer's
// body, digest of the whole copy, size of the JSON, JSON, and the last answer
// without its body as [fetch.Capture.MarshalBinary] encodes it. A digest of
// zeros means none. The digests come first so that a sweep reads nothing else.
type record struct {
	body, copy digest
	rest       struct {
		Run    []byte
		Memory answer.Memory
		Copy   *good `json:",omitempty"`
	}
	last *fetch.Capture
}

// good describes the whole copy.
type good struct {
	Fetched   time.Time
	Truncated bool `json:",omitempty"`
}

// followed returns the record after c; see keep.
func (r *record) followed(run string, c *fetch.Capture) *record {
	last := *c
	last.Body, last.Remembered, last.Memory, last.Copy, last.Front, last.Further, last.Also = nil, false, nil, nil, nil,
		nil, nil
	n := &record{last: &last}
	if c.Body != nil {
		n.body = digestOf(c.Body)
	}
	kind := c.Facts().Kind()
	a := &n.rest
	a.Run, a.Memory = []byte(run), r.rest.Memory.After(kind, c.Start.UTC())
	switch {
	case c.Challenge != "" && c.Whole() != nil:
		// The page of a wall is not the file, and says nothing about it.
		n.copy, a.Copy, a.Memory = r.copy, r.rest.Copy, r.rest.Memory
	case !a.Memory.WholeCopy():
	case !kind.Settled():
		n.copy, a.Copy = r.copy, r.rest.Copy
	case c.Whole() != nil:
		n.copy, a.Copy = n.body, &good{c.Start.UTC(), c.Truncated}
	}
	return n
}

func (r *record) past() history {
	a := &r.rest
	p := history{Run: string(a.Run), Last: r.last, Memory: a.Memory}
	if r.body != (digest{}) {
		p.LastBody = &r.body
	}
	if a.Copy != nil {
		p.Copy = &goodCopy{a.Copy.Fetched, r.copy, a.Copy.Truncated}
	}
	return p
}

func (r *record) encode() ([]byte, error) {
	rest, err := json.Marshal(&r.rest)
	if err != nil {
		return nil, err
	}
	last, err := r.last.MarshalBinary()
	if err != nil {
		return nil, err
	}
	value := make([]byte, 0, 1+2*len(digest{})+binary.MaxVarintLen64+len(rest)+len(last))
	value = append(value, recordVersion)
	value = append(value, r.body[:]...)
	value = append(value, r.copy[:]...)
	value = binary.AppendUvarint(value, uint64(len(rest)))
	return append(append(value, rest...), last...), nil
}

// recordDigests decodes the front of a record and returns the rest.
func recordDigests(value []byte) (body, copy digest, rest []byte, err error) {
	const n = len(digest{})
	switch {
	case len(value) > 0 && value[0] > 0 && value[0] != recordVersion:
		return body, copy, nil, fmt.Errorf("has format %d, but this program reads only format %d", value[0], recordVersion)
	case len(value) < 1+2*n || value[0] != recordVersion:
		return body, copy, nil, errors.New("is damaged")
	}
	return digest(value[1:]), digest(value[1+n:]), value[1+2*n:], nil
}

func decodeRecord(value []byte) (*record, error) {
	r := &record{last: new(fetch.Capture)}
	body, copy, rest, err := recordDigests(value)
	if err != nil {
		return nil, err
	}
	r.body, r.copy = body, copy
	size, n := binary.Uvarint(rest)
	if rest = rest[max(n, 0):]; n <= 0 || size > uint64(len(rest)) {
		return nil, errors.New("is damaged")
	}
	if err := json.Unmarshal(rest[:size], &r.rest); err != nil {
		return nil, fmt.Errorf("is damaged (%w)", err)
	}
	if err := r.last.UnmarshalBinary(rest[size:]); err != nil {
		return nil, fmt.Errorf("is damaged (%w)", err)
	}
	if (r.copy != digest{}) != (r.rest.Copy != nil) {
		return nil, errors.New("is damaged (a copy without its digest)")
	}
	return r, nil
}
