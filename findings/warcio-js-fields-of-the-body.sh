#!/usr/bin/env bash
# warcio 2.4.11 (npm) takes lines of a body for HTTP header fields where the server ended the
# lines of its header with LF alone.
#
# A WARC keeps an answer as the server sent it, and some servers and scripts send LF. RFC 9112
# (2.2) lets a recipient take a single LF for the end of a line, as browsers and curl do. warcio
# does so for the lines of fields, but the empty line that ends the header must be CRLF to it. So
# it reads on in the body, to the first empty line with CRLF or to the end: a robots.txt, whose
# lines have the form of fields, becomes a header with the fields user-agent and disallow, of
# several groups joined by commas, and the file is empty. A file whose lines end with CRLF
# loses its first group.
#
# Seen on Node.js 20:
#
#   warcio 2.4.11
#   header CRLF, body LF: fields content-type; body of 54 bytes
#   header LF, body LF: fields content-type disallow user-agent; body of 0 bytes
#   header LF, body CRLF: fields content-type disallow user-agent; body of 28 bytes
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . warcio@2.4.11 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.mjs <<'JS'
import { WARCParser } from 'warcio';

const robots = ['User-agent: *', 'Disallow: /a', '', 'User-agent: b', 'Disallow: /', ''];
const header = ['HTTP/1.0 200 OK', 'Content-Type: text/plain', '', ''];
const ends = { LF: '\n', CRLF: '\r\n' };

function record(block) {
  const fields = [
    'WARC/1.1', 'WARC-Type: response', 'WARC-Target-URI: http://site.example/robots.txt',
    'WARC-Date: 2026-01-02T03:04:05Z', 'WARC-Record-ID: <urn:uuid:5f1b2a9e-6f0c-4c0e-9d1c-0a9f6a1c7e55>',
    'Content-Type: application/http;msgtype=response', `Content-Length: ${block.length}`, '', '',
  ];
  return Buffer.from(`${fields.join('\r\n')}${block}\r\n\r\n`);
}

for (const [head, body] of [['CRLF', 'LF'], ['LF', 'LF'], ['LF', 'CRLF']]) {
  const archive = record(header.join(ends[head]) + robots.join(ends[body]));
  for await (const r of new WARCParser((async function* () { yield archive; })())) {
    const names = [...r.httpHeaders.headers].map(([name]) => name.toLowerCase()).sort().join(' ');
    console.log(`header ${head}, body ${body}: fields ${names}; body of ${(await r.contentText()).length} bytes`);
  }
}
JS
{
	echo "warcio $(node -p 'JSON.parse(require("fs").readFileSync("node_modules/warcio/package.json")).version')"
	node read.mjs
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
warcio 2.4.11
header CRLF, body LF: fields content-type; body of 54 bytes
header LF, body LF: fields content-type disallow user-agent; body of 0 bytes
header LF, body CRLF: fields content-type disallow user-agent; body of 28 bytes
SEEN
