#!/usr/bin/env bash
# s3rver 3.7.1 (npm), an S3 server for tests, ignores If-None-Match on a PUT.
#
# Amazon S3 has conditional writes since August 2024: PUT with "If-None-Match: *" answers
# 412 if there is an object of that name. s3rver knows the field for GET alone: it answers
# 200, and the second object replaces the first. A program that lets one of several writers
# win by this field is told that all of them have won, and keeps the last one's object.
#
# Seen on Node.js 20:
#
#   s3rver 3.7.1
#   first put: 200
#   second put: 200
#   there now: second
#
# Exits with 0 if it is still so, with 1 if not. Needs node, npm and curl 7.75.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . s3rver@3.7.1 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >serve.js <<'JS'
const S3rver = require('s3rver');
new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: './objects', configureBuckets: [{ name: 'bucket' }] })
  .run().then((address) => console.log(address.port));
JS
node serve.js >port 2>serve.log &
server=$!
for _ in $(seq 100); do [ -s port ] && break; sleep 0.1; done
[ -s port ] || { cat serve.log; exit 1; }
url=http://127.0.0.1:$(cat port)/bucket/record.json

ask() { curl --silent --user S3RVER:S3RVER --aws-sigv4 aws:amz:us-east-1:s3 --header 'x-amz-content-sha256: UNSIGNED-PAYLOAD' "$@"; }
put() { ask --output put.log --write-out '%{http_code}' --request PUT --header 'If-None-Match: *' --data-binary "$1" "$url"; }
{
	echo "s3rver $(node -p 'require("s3rver/package.json").version')"
	echo "first put: $(put first)"
	echo "second put: $(put second)"
	echo "there now: $(ask "$url")"
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
s3rver 3.7.1
first put: 200
second put: 200
there now: second
SEEN
