package fetch

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/robocensus/robocensus/robots"
)

// encodingVersion is the first byte of an encoded capture.
const encodingVersion = 1

// encoded is a capture from the network without its bodies, which follow it.
type encoded struct {
	Origin Origin
	facts
	Body       *int           `json:",omitempty"` // bytes, nil without a body
	Remembered bool           `json:",omitempty"`
	Memory     *robots.Memory `json:",omitempty"`
	Copy       *encodedCopy   `json:",omitempty"`
	Also       []encodedAlso  `json:",omitempty"`
}

// encodedAlso is the answer to a further identity.
type encodedAlso struct {
	Identity Identity
	facts
	Body *int `json:",omitempty"` // bytes, nil without a body
	Same bool `json:",omitempty"` // the body is that of the host's own answer, and stands there
}

type encodedCopy struct {
	Fetched   time.Time
	Truncated bool `json:",omitempty"`
	Bytes     int
}

// MarshalBinary encodes a capture from the network with its bodies: version,
// size of the JSON, JSON, body, earlier copy, bodies of the answers to identities. It keeps only the text of Err. It
// refuses stored captures and failures of this machine.
func (c *Capture) MarshalBinary() ([]byte, error) {
	if c.Local != nil || c.Location != "" || c.Unstored {
		return nil, fmt.Errorf("the capture of %s does not come from the network", c.Origin)
	}
	e := encoded{Origin: c.Origin, facts: factsOf(c), Remembered: c.Remembered, Memory: c.Memory}
	var copied []byte
	if c.Body != nil {
		bytes := len(c.Body)
		e.Body = &bytes
	}
	if c.Copy != nil {
		copied = c.Copy.Body
		e.Copy = &encodedCopy{c.Copy.Fetched, c.Copy.Truncated, len(copied)}
	}
	var others []byte
	for i := range c.Also {
		other := c.Also[i].Capture
		entry := encodedAlso{Identity: c.Also[i].Identity, facts: factsOf(other)}
		switch {
		case other.Body == nil:
		case bytes.Equal(other.Body, c.Body) && c.Body != nil:
			entry.Same = true
		default:
			size := len(other.Body)
			entry.Body, others = &size, append(others, other.Body...)
		}
		e.Also = append(e.Also, entry)
	}
	head, err := json.Marshal(&e)
	if err != nil {
		return nil, err
	}
	out := binary.AppendUvarint([]byte{encodingVersion}, uint64(len(head)))
	return slices.Concat(out, head, c.Body, copied, others), nil
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
	var e encoded
	if err := json.Unmarshal(data[:size], &e); err != nil {
		return fmt.Errorf("%w: %w", errNoCapture, err)
	}
	data = data[size:]
	cut := func(bytes int) []byte {
		if bytes < 0 || bytes > len(data) {
			return nil
		}
		part := append([]byte{}, data[:bytes]...) // an empty file is not nil
		data = data[bytes:]
		return part
	}
	got := e.capture(e.Origin)
	got.Remembered, got.Memory = e.Remembered, e.Memory
	if e.Body != nil {
		if got.Body = cut(*e.Body); got.Body == nil {
			return errNoCapture
		}
	}
	if e.Copy != nil {
		got.Copy = &WholeCopy{Fetched: e.Copy.Fetched, Truncated: e.Copy.Truncated}
		if got.Copy.Body = cut(e.Copy.Bytes); got.Copy.Body == nil {
			return errNoCapture
		}
	}
	for i := range e.Also {
		entry := &e.Also[i]
		other := entry.capture(e.Origin)
		if entry.Same {
			other.Body = got.Body
		} else if entry.Body != nil {
			if other.Body = cut(*entry.Body); other.Body == nil {
				return errNoCapture
			}
		}
		got.Also = append(got.Also, Also{entry.Identity, other})
	}
	if len(data) > 0 {
		return errNoCapture
	}
	*c = *got
	return nil
}
