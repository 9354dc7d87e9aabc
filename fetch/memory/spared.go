package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/robocensus/robocensus/fetch"
)

// Spare keeps until when an origin wants to be left alone. It is on disk when
// Spare returns.
func (m *Memory) Spare(o fetch.Origin, until time.Time) error {
	b := m.db.NewBatch()
	at := binary.BigEndian.AppendUint64(nil, uint64(until.Unix()+1))
	if err := b.Set(key(sparedPrefix, []byte(o.String())), at, nil); err != nil {
		return fmt.Errorf("keep until when %s wants to be left alone: %w", o, err)
	}
	return m.commit(b, pebble.Sync)
}

// Spared returns until when an origin wants to be left alone, the zero time for one that does not.
func (m *Memory) Spared(o fetch.Origin) (until time.Time, err error) {
	at, err := m.get(key(sparedPrefix, []byte(o.String())))
	if err != nil || at == nil {
		return until, err
	}
	if len(at) != 8 {
		return until, m.unreadable(o.String(), errors.New("is damaged"))
	}
	return time.Unix(int64(binary.BigEndian.Uint64(at)), 0), nil
}
