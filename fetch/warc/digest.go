package warc

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
)

// compareDigest compares a body with the archive's digest (WARC/1.1 section 5.9):
// algorithm and value, in base32 or hexadecimal. mismatch is a message if they
// differ; own is the SHA-1 of the body in base32 if that is the algorithm, whether they
// differ or not. Both are empty for an unknown kind of digest.
func compareDigest(named string, body []byte) (mismatch, own string) {
	algorithm, value, _ := strings.Cut(named, ":")
	var sum []byte
	switch strings.ToLower(algorithm) {
	case "sha1", "sha-1":
		s := sha1.Sum(body)
		sum, own = s[:], base32.StdEncoding.EncodeToString(s[:])
	case "sha256", "sha-256":
		s := sha256.Sum256(body)
		sum = s[:]
	case "md5":
		s := md5.Sum(body)
		sum = s[:]
	default:
		return "", ""
	}
	want, err := hex.DecodeString(value)
	if err != nil || len(want) != len(sum) {
		want, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(value), "="))
	}
	if err != nil || len(want) != len(sum) || bytes.Equal(want, sum) {
		return "", own // an invalid digest proves nothing
	}
	return fmt.Sprintf("the stored body is not the one of the record's WARC-Payload-Digest %s", named), own
}
