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

// digestSizes are the bytes of the digests that writers of archives use.
var digestSizes = map[string]int{"md5": 16, "sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64, "blake3": 32}

// parseDigest parses a digest (WARC/1.1 section 5.9): algorithm and value, in base32, with
// its padding or without, or in hexadecimal. An index has the value alone, which then is
// of the algorithm that its length shows. sum is nil for what is no digest of a known
// algorithm.
func parseDigest(text string) (algorithm string, sum []byte) {
	algorithm, value, labelled := strings.Cut(text, ":")
	algorithm = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(algorithm)), "-", "")
	if !labelled {
		algorithm, value = "", text
	}
	value = strings.TrimRight(strings.TrimSpace(value), "=")
	fits := func(sum []byte) bool {
		if labelled {
			return len(sum) == digestSizes[algorithm]
		}
		algorithm = map[int]string{16: "md5", 20: "sha1", 32: "sha256"}[len(sum)]
		return algorithm != ""
	}
	if sum, err := hex.DecodeString(value); err == nil && fits(sum) {
		return algorithm, sum
	}
	unpadded := base32.StdEncoding.WithPadding(base32.NoPadding)
	if sum, err := unpadded.DecodeString(strings.ToUpper(value)); err == nil && fits(sum) {
		return algorithm, sum
	}
	return algorithm, nil
}

// CanonicalDigest returns a digest of an archive or an index in one spelling, by which
// equal ones are found: "sha1:" and hexadecimal. It returns "" for none. The value of an
// algorithm that is not known stays as it is.
func CanonicalDigest(text string) string {
	algorithm, sum := parseDigest(text)
	if sum != nil {
		return algorithm + ":" + hex.EncodeToString(sum)
	}
	_, value, _ := strings.Cut(text, ":")
	value = strings.TrimRight(strings.TrimSpace(value), "=")
	if algorithm == "" || digestSizes[algorithm] > 0 || value == "" {
		return ""
	}
	return algorithm + ":" + value
}

// IsDigestOfNothing reports whether a canonical digest is that of no bytes.
func IsDigestOfNothing(canonical string) bool {
	switch algorithm, _ := parseDigest(canonical); algorithm {
	case "md5":
		return canonical == "md5:d41d8cd98f00b204e9800998ecf8427e"
	case "sha1":
		return canonical == "sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709"
	case "sha256":
		return canonical == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	}
	return false
}

// compareDigest compares a body with the archive's digest. mismatch is a message if they
// differ; own is the SHA-1 of the body in base32 if that is the algorithm, whether they
// differ or not, or if the archive has none. Both are empty for an unknown kind of digest.
func compareDigest(named string, body []byte) (mismatch, own string) {
	algorithm, want := parseDigest(named)
	if named == "" {
		algorithm = "sha1"
	}
	var sum []byte
	switch algorithm {
	case "sha1":
		s := sha1.Sum(body)
		sum, own = s[:], base32.StdEncoding.EncodeToString(s[:])
	case "sha256":
		s := sha256.Sum256(body)
		sum = s[:]
	case "md5":
		s := md5.Sum(body)
		sum = s[:]
	default:
		return "", ""
	}
	if want == nil || bytes.Equal(want, sum) {
		return "", own // an invalid digest proves nothing
	}
	return fmt.Sprintf("the stored body is not the one of the record's WARC-Payload-Digest %s", named), own
}
