#!/usr/bin/env bash
# Two libraries that check archives disagree on the payload of a chunked answer, so that no
# WARC-Payload-Digest of one is right for both.
#
#   github.com/nlnwa/gowarc/v3 v3.1.0          the body as stored, chunks and all
#   github.com/internetarchive/gowarc v0.8.96  the body without chunks
#
# WARC 1.1 (section 6.3.2) means the entity body, which has no transfer coding; jwarc 0.36
# reads it so too. Whoever deduplicates by this field across writers misses equal bodies,
# and whoever validates finds faults in good archives.
#
# Seen:
#   digest of the chunks: norway accepts, internet archive refuses
#   digest of the body:   norway refuses, internet archive accepts
#
# Needs Go and its module proxy. Exits with 1 if that changes.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
cd "$dir"
cat > main.go <<'GO'
package main

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"log/slog"
	"os"

	archive "github.com/internetarchive/gowarc/cmd/warc/verify"
	norway "github.com/nlnwa/gowarc/v3"
)

func main() {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	const body = "User-agent: *\nDisallow: /\n"
	chunks := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
	for _, payload := range []string{chunks, body} {
		sum := sha1.Sum([]byte(payload))
		record := fmt.Sprintf("WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:7b1a1c1e-5d0c-4f0e-9a51-6a1f3d1c2b3a>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"+
			"WARC-Target-URI: http://a.example/robots.txt\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n"+
			"WARC-Block-Digest: sha256:%x\r\nWARC-Payload-Digest: sha1:%s\r\n\r\n%s\r\n\r\n",
			len(block), sha256.Sum256([]byte(block)), base32.StdEncoding.EncodeToString(sum[:]), block)
		in, err := norway.NewWarcFileReaderFromStream(bytes.NewReader([]byte(record)), 0)
		check(err)
		r, err := in.Next()
		check(err)
		check(os.WriteFile("a.warc", []byte(record), 0o666))
		found, err := archive.ValidateWARCFile("a.warc")
		check(err)
		fmt.Println(len(r.Validation) == 0, found.Valid)
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
GO
go mod init finding 2>/dev/null
go get github.com/nlnwa/gowarc/v3@v3.1.0 github.com/internetarchive/gowarc@v0.8.96 2>/dev/null
go mod tidy 2>/dev/null
seen=$(go run .)
echo "norway, internet archive: of the chunks, of the body"
echo "$seen"
[ "$seen" = $'true false\nfalse true' ] || { echo "this has changed"; exit 1; }
