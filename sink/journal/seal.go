package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/robocensus/robocensus/sink/store"
)

// Plans, records and manifests are JSON objects whose last field is the digest of the
// file: its SHA-256 with zeros in place of the digest.

const sealEnd = "\"\n}\n"

var (
	sealBegin = ",\n \"sha256\": \""
	noSeal    = sealBegin + strings.Repeat("0", 2*sha256.Size) + sealEnd
)

// ErrDamaged reports that a plan, record or manifest differs from what was written.
var ErrDamaged = errors.New("damaged")

// maxSealed bounds the bytes of a record or a plan.
const maxSealed = 64 << 20

// maxManifest bounds the bytes of a manifest. That of a run of 100 million hosts
// without shards has 400 million.
const maxManifest = 2 << 30

// sealManifest returns the file of a manifest.
func sealManifest(m *Manifest) ([]byte, error) {
	content, _, err := seal(m)
	if err == nil && len(content) > maxManifest {
		err = fmt.Errorf("it has %d bytes, more than %d: divide the run into shards", len(content), maxManifest)
	}
	if err != nil {
		return nil, fmt.Errorf("manifest of run %s: %w", m.Run, err)
	}
	return content, nil
}

// seal returns the file of an object, and its digest.
func seal(object any) (content []byte, digest string, err error) {
	content, err = json.MarshalIndent(object, "", " ")
	if err != nil {
		return nil, "", fmt.Errorf("as JSON: %w", err)
	}
	content = append(bytes.TrimSuffix(content, []byte("\n}")), noSeal...)
	sum := sha256.Sum256(content)
	digest = hex.EncodeToString(sum[:])
	copy(content[len(content)-len(noSeal)+len(sealBegin):], digest)
	return content, digest, nil
}

// unseal checks a file and returns its digest.
func unseal(content []byte) (digest string, err error) {
	at := len(content) - len(noSeal)
	if at < 0 {
		return "", fmt.Errorf("%w: it is truncated", ErrDamaged)
	}
	sum := sha256.New()
	sum.Write(content[:at])
	return checkSeal(sum, content[at:])
}

// checkSeal checks the end of a file. sum has hashed the bytes before it.
func checkSeal(sum hash.Hash, end []byte) (digest string, err error) {
	io.WriteString(sum, noSeal)
	digest = hex.EncodeToString(sum.Sum(nil))
	if string(end) != sealBegin+digest+sealEnd {
		return "", fmt.Errorf("%w: its bytes do not match its SHA-256", ErrDamaged)
	}
	return digest, nil
}

// readSealed reads a file made by [seal] into an object.
func readSealed(s store.Store, name string, most int64, object any) (digest string, err error) {
	content, err := s.Read(name, most)
	if err != nil {
		return "", err
	}
	if digest, err = unseal(content); err == nil {
		if e := json.Unmarshal(content, object); e != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, e)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s is %w", s.Path(name), err)
	}
	return digest, nil
}
