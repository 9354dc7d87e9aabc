#!/usr/bin/env bash
# warcio 2.4.11 (npm) leaves pieces of the chunked coding in the body: trailer fields, and all of
# it where the coding's name has a capital letter.
#
# After the last chunk an answer may have trailer fields (RFC 9112, 7.1.2), which belong to the
# header: Server-Timing is sent so, and Digest. warcio appends them, and the empty line, to the
# body. Names of codings are case-insensitive (7): of "Transfer-Encoding: Chunked" the sizes of
# chunks stay in the body, too. Both bodies have another digest than the file that the server
# sent, so that it seems to change whenever a time in a trailer does. A robots.txt gets a line that
# nobody wrote.
#
# Seen on Node.js 20:
#
#   warcio 2.4.11
#   chunked: "Disallow:\n"
#   chunked, a trailer: "Disallow:\nServer-Timing: total;dur=3\r\n\r\n"
#   Chunked: "a\r\nDisallow:\n\r\n0\r\n\r\n"
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . warcio@2.4.11 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.mjs <<'JS'
import { WARCParser } from 'warcio';

function record(coding, trailers) {
  const block = ['HTTP/1.1 200 OK', 'Content-Type: text/plain', `Transfer-Encoding: ${coding}`, '',
    'a', 'Disallow:\n', '0', ...trailers, '', ''].join('\r\n');
  const fields = [
    'WARC/1.1', 'WARC-Type: response', 'WARC-Target-URI: http://site.example/robots.txt',
    'WARC-Date: 2026-01-02T03:04:05Z', 'WARC-Record-ID: <urn:uuid:5f1b2a9e-6f0c-4c0e-9d1c-0a9f6a1c7e55>',
    'Content-Type: application/http;msgtype=response', `Content-Length: ${block.length}`, '', '',
  ];
  return Buffer.from(`${fields.join('\r\n')}${block}\r\n\r\n`);
}

for (const [name, archive] of [
  ['chunked', record('chunked', [])],
  ['chunked, a trailer', record('chunked', ['Server-Timing: total;dur=3'])],
  ['Chunked', record('Chunked', [])],
]) {
  for await (const r of new WARCParser((async function* () { yield archive; })())) {
    console.log(`${name}: ${JSON.stringify(await r.contentText())}`);
  }
}
JS
{
	echo "warcio $(node -p 'JSON.parse(require("fs").readFileSync("node_modules/warcio/package.json")).version')"
	node read.mjs
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
warcio 2.4.11
chunked: "Disallow:\n"
chunked, a trailer: "Disallow:\nServer-Timing: total;dur=3\r\n\r\n"
Chunked: "a\r\nDisallow:\n\r\n0\r\n\r\n"
SEEN
