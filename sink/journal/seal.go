package journal

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

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

// maxPlain bounds the bytes of a plan that is stored as it is, for people and jq. A longer
// one is compressed, under the same name: each process of a run reads it, and one request
// of a store has to take it. That of 100,000 archives has 19 MB, and 1 MB compressed.
const maxPlain = 1 << 20

// compressed returns the bytes of a file that is longer than maxPlain with gzip, and those
// of another as they are. Its digest stays that of the JSON.
func compressed(content []byte) ([]byte, error) {
	if len(content) <= maxPlain {
		return content, nil
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(content)
	err = cmp.Or(err, w.Close())
	return out.Bytes(), err
}

// decompressed undoes compressed. What has more than most bytes then is damaged.
func decompressed(content []byte, most int64) ([]byte, error) {
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) { // JSON does not begin so
		return content, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(content))
	if err == nil {
		content, err = io.ReadAll(io.LimitReader(r, most+1))
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it does not decompress: %w", ErrDamaged, err)
	case int64(len(content)) > most:
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrDamaged, most)
	}
	return content, nil
}

// readSealed reads a file made by [seal], compressed or not, into an object.
func readSealed(s store.Store, name string, most int64, object any) (digest string, err error) {
	content, err := s.Read(name, most)
	if err != nil {
		return "", err
	}
	if content, err = decompressed(content, most); err == nil {
		digest, err = unseal(content)
	}
	if err == nil {
		if e := json.Unmarshal(content, object); e != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, e)
		}
	}
	if err != nil {
		return "", fmt.Errorf("%s is %w", s.Path(name), err)
	}
	return digest, nil
}
