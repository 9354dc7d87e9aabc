package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/robocensus/robocensus/robots/consent"
)

// encodingVersion is the first byte of an encoded capture.
const encodingVersion = 2

// encoded is a capture from the network without its bodies, which follow it.
type encoded struct {
	stored  `raw:""`
	Body    *int            `json:"body_bytes,omitempty"` // nil without a body
	Copy    *encodedCopy    `json:"copy,omitempty"`
	Also    []encodedAlso   `json:"also,omitempty" raw:""`
	Further []storedFurther `json:"further,omitempty" raw:""`
}

type encodedCopy struct {
	Fetched   time.Time `json:"copy_time"`
	Truncated bool      `json:"truncated,omitempty"`
	Bytes     int       `json:"bytes"`
}

// encodedAlso is the answer to a further identity.
type encodedAlso struct {
	Identity Identity `json:"identity"`
	stored   `raw:""`
	Price    *consent.Price `json:"price,omitempty" raw:""`
	Body     *int           `json:"body_bytes,omitempty"` // nil without a body
	Same     bool           `json:"same,omitempty"`       // the body is that of the host's own answer, and stands there
}

// A Body is one of the bodies of a capture.
type Body struct {
	Bytes    []byte
	Copy     bool   // the last whole copy, not the answer
	Identity string // name of the further identity that it was the answer to, "" for our own
	Further  int    // number of the further request that it was the answer to, from 1; 0 for none
	Reading  bool   // what was read of that answer instead
}

// Disassemble encodes a capture from the network as JSON without its bodies, and returns
// these: what [Assemble] makes the capture of. It keeps only the text of Err. It refuses
// stored captures and failures of this machine.
func (c *Capture) Disassemble() (facts []byte, bodies []Body, err error) {
	if c.Local != nil || c.Location != "" || c.Unstored {
		return nil, nil, fmt.Errorf("the capture of %s does not come from the network", c.Origin)
	}
	e := encoded{stored: storedOf(c)}
	if c.Body != nil {
		size := len(c.Body)
		e.Body, bodies = &size, append(bodies, Body{Bytes: c.Body})
	}
	if c.Copy != nil {
		e.Copy, bodies = &encodedCopy{c.Copy.Fetched, c.Copy.Truncated, len(c.Copy.Body)},
			append(bodies, Body{Bytes: c.Copy.Body, Copy: true})
	}
	for i := range c.Also {
		identity, other := c.Also[i].Identity, c.Also[i].Capture
		entry := encodedAlso{Identity: identity, stored: storedOf(other), Price: c.Also[i].Price}
		entry.Origin = Origin{} // that of the host
		switch {
		case other.Body == nil:
		case c.Body != nil && bytes.Equal(other.Body, c.Body):
			entry.Same = true
		default:
			size := len(other.Body)
			entry.Body, bodies = &size, append(bodies, Body{Bytes: other.Body, Identity: identity.Name})
		}
		e.Also = append(e.Also, entry)
	}
	for i, f := range c.Further {
		entry := storedFurther{plainFurther: plainOf(f)}
		if f.Body != nil {
			size := len(f.Body)
			entry.Body, bodies = &size, append(bodies, Body{Bytes: f.Body, Further: i + 1})
		}
		if f.Reading != nil {
			size := len(f.Reading)
			entry.Reading, bodies = &size, append(bodies, Body{Bytes: f.Reading, Further: i + 1, Reading: true})
		}
		e.Further = append(e.Further, entry)
	}
	facts, err = encode(&e)
	return facts, bodies, err
}

// Assemble reverses [Capture.Disassemble]. It calls next for each body, in order, with its
// length. Of an answer whose body is not here, but that of another capture, next returns
// that it is unstored. If it returns no body otherwise, that is an error.
func Assemble(facts []byte, next func(bytes int) (body []byte, unstored bool)) (*Capture, error) {
	var e encoded
	if err := decode(facts, &e); err != nil {
		return nil, fmt.Errorf("%w: %w", errNoCapture, err)
	}
	got := e.capture(e.Origin)
	if e.Body != nil {
		if got.Body, got.Unstored = next(*e.Body); got.Body == nil && !got.Unstored {
			return nil, errNoCapture
		}
	}
	if e.Copy != nil {
		got.Copy = &WholeCopy{Fetched: e.Copy.Fetched, Truncated: e.Copy.Truncated}
		if got.Copy.Body, _ = next(e.Copy.Bytes); got.Copy.Body == nil {
			return nil, errNoCapture
		}
	}
	for i := range e.Also {
		entry := &e.Also[i]
		other := entry.capture(e.Origin)
		if entry.Same {
			other.Body, other.Unstored = got.Body, got.Unstored
		} else if entry.Body != nil {
			if other.Body, other.Unstored = next(*entry.Body); other.Body == nil && !other.Unstored {
				return nil, errNoCapture
			}
		}
		got.Also = append(got.Also, Also{Identity: entry.Identity, Capture: other, Price: entry.Price,
			Awaits: entry.Same && other.Unstored})
	}
	for i := range e.Further {
		f := new(Further(e.Further[i].plainFurther))
		for _, part := range []struct {
			size *int
			to   *[]byte
		}{{e.Further[i].Body, &f.Body}, {e.Further[i].Reading, &f.Reading}} {
			if part.size == nil {
				continue
			}
			unstored := false
			if *part.to, unstored = next(*part.size); *part.to == nil && !unstored {
				return nil, errNoCapture
			}
		}
		got.Further = append(got.Further, f)
	}
	return got, nil
}

// MarshalBinary encodes a capture as [Capture.Disassemble] does, with its bodies:
// version, size of the JSON, JSON, bodies.
func (c *Capture) MarshalBinary() ([]byte, error) {
	facts, bodies, err := c.Disassemble()
	if err != nil {
		return nil, err
	}
	size := 1 + binary.MaxVarintLen64 + len(facts)
	for _, b := range bodies {
		size += len(b.Bytes)
	}
	out := make([]byte, 0, size)
	out = binary.AppendUvarint(append(out, encodingVersion), uint64(len(facts)))
	out = append(out, facts...)
	for _, b := range bodies {
		out = append(out, b.Bytes...)
	}
	return out, nil
}

var errNoCapture = errors.New("not a capture encoded by this program")

// UnmarshalBinary decodes the output of MarshalBinary.
func (c *Capture) UnmarshalBinary(data []byte) error {
	if len(data) == 0 || data[0] != encodingVersion {
		return errNoCapture
	}
	size, n := binary.Uvarint(data[1:])
	if data = data[1+max(n, 0):]; n <= 0 || size > uint64(len(data)) {
		return errNoCapture
	}
	facts, data := data[:size], data[size:]
	got, err := Assemble(facts, func(bytes int) (part []byte, unstored bool) {
		if bytes < 0 || bytes > len(data) {
			return nil, false
		}
		part = append([]byte{}, data[:bytes]...) // an empty file is not nil
		data = data[bytes:]
		return part, false
	})
	if err != nil {
		return err
	}
	if len(data) > 0 {
		return errNoCapture
	}
	*c = *got
	return nil
}
