#!/usr/bin/env bash
# httpsfv 1.1.2 (Go) refuses a structured field for a byte sequence without padding, and
# structured-headers 2.0.2 (npm) reads it.
#
# RFC 9651 (4.2.7, as RFC 8941 before) says that a parser should not fail where the "=" at the
# end of base64 is missing, unless its decoder cannot be told so; Go's has RawStdEncoding. All
# members of the field go with the one: a Content-Usage line with such a parameter says nothing
# any more, and a Signature field of a crawler that signs its requests is no signature.
#
# Seen with Go 1.26 and Node.js 20:
#
#   httpsfv v1.1.2
#   train-ai=n: train-ai
#   train-ai=n, sig=:aGVsbG8=:: train-ai sig
#   train-ai=n, sig=:aGVsbG8:: refused
#   structured-headers 2.0.2
#   train-ai=n: train-ai
#   train-ai=n, sig=:aGVsbG8=:: train-ai sig
#   train-ai=n, sig=:aGVsbG8:: train-ai sig
#
# Exits with 0 if it is still so, with 1 if not. Needs go, node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >log 2>&1
go get github.com/dunglas/httpsfv@v1.1.2 >>log 2>&1 || { cat log; exit 1; }
npm install --silent --no-fund --no-audit --prefix . structured-headers@2.0.2 >>log 2>&1 || { cat log; exit 1; }

cat >main.go <<'GO'
package main

import (
	"fmt"
	"strings"

	"github.com/dunglas/httpsfv"
)

func main() {
	for _, field := range []string{"train-ai=n", "train-ai=n, sig=:aGVsbG8=:", "train-ai=n, sig=:aGVsbG8:"} {
		members, err := httpsfv.UnmarshalDictionary([]string{field})
		read := "refused"
		if err == nil {
			read = strings.Join(members.Names(), " ")
		}
		fmt.Printf("%s: %s\n", field, read)
	}
}
GO
cat >main.mjs <<'JS'
import { parseDictionary } from 'structured-headers';
for (const field of ['train-ai=n', 'train-ai=n, sig=:aGVsbG8=:', 'train-ai=n, sig=:aGVsbG8:']) {
  let read = 'refused';
  try {
    read = [...parseDictionary(field).keys()].join(' ');
  } catch {}
  console.log(`${field}: ${read}`);
}
JS
go mod tidy >>log 2>&1 || { cat log; exit 1; }
{
	echo "httpsfv $(go list -m -f '{{.Version}}' github.com/dunglas/httpsfv)"
	go run .
	echo "structured-headers $(node -p 'JSON.parse(fs.readFileSync("node_modules/structured-headers/package.json")).version')"
	node main.mjs
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
httpsfv v1.1.2
train-ai=n: train-ai
train-ai=n, sig=:aGVsbG8=:: train-ai sig
train-ai=n, sig=:aGVsbG8:: refused
structured-headers 2.0.2
train-ai=n: train-ai
train-ai=n, sig=:aGVsbG8=:: train-ai sig
train-ai=n, sig=:aGVsbG8:: train-ai sig
SEEN
