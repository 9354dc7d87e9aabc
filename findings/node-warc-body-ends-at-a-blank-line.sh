#!/usr/bin/env bash
# node-warc 3.3.1 (npm) ends the body of a captured answer at its first blank line.
#
# A WARC record says how many bytes it has. The parser goes by lines instead: behind the head of an
# answer an empty line that ends in CRLF is the end of the record, and what follows is dropped
# without an error. A robots.txt whose groups stand apart by such lines keeps its first group, and
# one with a blank line between names and rules keeps no rule. The same file with bare line feeds
# comes whole, but for two bytes more: the CRLF that ends the record is added to it. So whether a
# host closes its site depends on the line ends of its file.
#
# On Node.js 20 every reading ends in an error besides, and the last record does not come.
# warcio.js 2.4.11 reads all bodies as they are.
#
# Seen on Node.js 20:
#
#   node-warc at the end: Callback called multiple times
#   "User-agent: *\r\nDisallow: /\r\n": node-warc "User-agent: *\r\nDisallow: /\r\n"
#   "User-agent: a\r\nDisallow: /\r\n\r\nUser-agent: b\r\nDisallow: /\r\n": node-warc "User-agent: a\r\nDisallow: /\r\n"
#   "User-agent: *\r\n\r\nDisallow: /\r\n": node-warc "User-agent: *\r\n"
#   "User-agent: *\n\nDisallow: /\n": node-warc "User-agent: *\n\nDisallow: /\n\r\n"
#   "User-agent: c\nDisallow: /\n": node-warc nothing
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --ignore-scripts --legacy-peer-deps --prefix . \
  node-warc@3.3.1 warcio@2.4.11 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.mjs <<'JS'
import fs from 'node:fs';
import zlib from 'node:zlib';
import parsers from 'node-warc/lib/parsers/index.js';
import { WARCParser } from 'warcio';

const bodies = [
  'User-agent: *\r\nDisallow: /\r\n',
  'User-agent: a\r\nDisallow: /\r\n\r\nUser-agent: b\r\nDisallow: /\r\n',
  'User-agent: *\r\n\r\nDisallow: /\r\n',
  'User-agent: *\n\nDisallow: /\n',
  'User-agent: c\nDisallow: /\n',
];
const records = bodies.map((body, i) => {
  const answer = `HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const head = [
    'WARC/1.0',
    'WARC-Type: response',
    `WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-00000000000${i}>`,
    'WARC-Date: 2026-01-01T00:00:00Z',
    `WARC-Target-URI: http://host-${i}.example.org/robots.txt`,
    'Content-Type: application/http; msgtype=response',
    `Content-Length: ${answer.length}`,
  ];
  return zlib.gzipSync(`${head.join('\r\n')}\r\n\r\n${answer}\r\n\r\n`);
});
fs.writeFileSync('robots.warc.gz', Buffer.concat(records));

const seen = [];
try {
  for await (const record of new parsers.AutoWARCParser('robots.warc.gz')) seen.push(record.content.toString());
} catch (error) {
  console.log(`node-warc at the end: ${error.message}`);
}
let i = 0;
for await (const record of new WARCParser(fs.createReadStream('robots.warc.gz'))) {
  const text = await record.contentText();
  if (text !== bodies[i++]) console.log('warcio.js differs', JSON.stringify(text));
}
bodies.forEach((body, i) => console.log(`${JSON.stringify(body)}: node-warc ${JSON.stringify(seen[i]) ?? 'nothing'}`));
JS
node read.mjs | tee seen
diff - seen <<'SEEN'
node-warc at the end: Callback called multiple times
"User-agent: *\r\nDisallow: /\r\n": node-warc "User-agent: *\r\nDisallow: /\r\n"
"User-agent: a\r\nDisallow: /\r\n\r\nUser-agent: b\r\nDisallow: /\r\n": node-warc "User-agent: a\r\nDisallow: /\r\n"
"User-agent: *\r\n\r\nDisallow: /\r\n": node-warc "User-agent: *\r\n"
"User-agent: *\n\nDisallow: /\n": node-warc "User-agent: *\n\nDisallow: /\n\r\n"
"User-agent: c\nDisallow: /\n": node-warc nothing
SEEN
