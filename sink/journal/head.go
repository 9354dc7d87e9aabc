package journal

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/store"
)

// readHead reads the manifest of a complete run up to its records. It checks the
// digest of the whole file.
func readHead(s store.Store, run string) (*Manifest, error) {
	name := layout.RunFile(run, layout.ManifestName)
	f, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := decodeHead(f)
	if errors.Is(err, ErrDamaged) {
		return nil, fmt.Errorf("%s is %w", s.Path(name), err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Path(name), err)
	}
	m.setDate()
	return m, m.check(s, run)
}

func decodeHead(f *os.File) (*Manifest, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	sealed := info.Size() - int64(len(noSeal))
	switch {
	case sealed < 0:
		return nil, fmt.Errorf("%w: it is truncated", ErrDamaged)
	case info.Size() > maxManifest:
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrDamaged, maxManifest)
	}
	sum := sha256.New()
	body := io.TeeReader(io.NewSectionReader(f, 0, sealed), sum)
	fields, err := headFields(json.NewDecoder(body))
	if err != nil && store.FaultOf(err) != store.OfData {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err) // without reading the rest
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return nil, err
	}
	end := make([]byte, len(noSeal))
	if _, err := f.ReadAt(end, sealed); err != nil {
		return nil, err
	}
	m := &Manifest{head: true}
	if m.digest, err = checkSeal(sum, end); err != nil {
		return nil, err
	}
	text, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(text, m)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return m, nil
}

// headFields returns the fields of an object before its records.
func headFields(d *json.Decoder) (map[string]json.RawMessage, error) {
	if begin, err := d.Token(); err != nil {
		return nil, fmt.Errorf("it is not an object: %w", err)
	} else if begin != json.Delim('{') {
		return nil, errors.New("it is not an object")
	}
	fields := make(map[string]json.RawMessage)
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		if name == "records" {
			break
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		fields[name.(string)] = value
	}
	return fields, nil
}
