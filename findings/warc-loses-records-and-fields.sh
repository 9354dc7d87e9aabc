#!/usr/bin/env bash
# warc 1.0.1 (npm) loses the URL of a record if a dollar sign is in it, and whole archives whose
# writer spells fields in another way than the examples of the standard do.
#
# A field of a WARC record is a name, a colon and a value, with or without white space before the
# value, and names are compared without regard to case (WARC 1.1, clause 4). warc wants exactly a
# colon and one blank, and "Content-Length" in these letters, or else it knows no length, waits for
# the end of the record and never gives it out: the stream ends, without an error, as if the archive
# were empty. A value with "$", which URLs may have as it is (RFC 3986, 2.2), is no value to its
# regular expression, and the field is dropped: an answer without a URL.
#
# Seen on Node.js 20:
#
#   warc 1.0.1
#   as in the examples: http://site.example/robots.txt, 33 bytes
#   a dollar sign: undefined, 33 bytes
#   a tab after the colon of the URL: undefined, 33 bytes
#   no blank after colons: no record
#   names in small letters: no record
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . warc@1.0.1 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.js <<'JS'
const WARCStream = require('warc');

const body = 'HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n';
const fields = url => [
  'WARC-Type: response', `WARC-Target-URI: ${url}`, 'WARC-Date: 2026-01-02T03:04:05Z',
  'WARC-Record-ID: <urn:uuid:5f1b2a9e-6f0c-4c0e-9d1c-0a9f6a1c7e55>',
  'Content-Type: application/http;msgtype=response', `Content-Length: ${body.length}`,
];
const plain = fields('http://site.example/robots.txt');
const archives = {
  'as in the examples': plain,
  'a dollar sign': fields('http://site.example/?most=$5'),
  'a tab after the colon of the URL': plain.map(field => field.replace('URI: ', 'URI:\t')),
  'no blank after colons': plain.map(field => field.replace(': ', ':')),
  'names in small letters': plain.map(field => field.replace(/^[^:]*/, name => name.toLowerCase())),
};

async function read(name, lines) {
  const archive = new WARCStream();
  archive.end(Buffer.from(['WARC/1.1', ...lines, '', body, '', ''].join('\r\n')));
  const found = [];
  for await (const { headers, content } of archive)
    found.push(`${headers['WARC-Target-URI']}, ${content.length} bytes`);
  console.log(`${name}: ${found.join('; ') || 'no record'}`);
}

(async () => {
  console.log(`warc ${require('warc/package.json').version}`);
  for (const [name, lines] of Object.entries(archives)) await read(name, lines);
})();
JS
node --no-deprecation read.js | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
warc 1.0.1
as in the examples: http://site.example/robots.txt, 33 bytes
a dollar sign: undefined, 33 bytes
a tab after the colon of the URL: undefined, 33 bytes
no blank after colons: no record
names in small letters: no record
SEEN
