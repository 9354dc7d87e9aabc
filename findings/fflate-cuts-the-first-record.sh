#!/usr/bin/env bash
# fflate 0.8.3 (npm) gives of a compressed WARC its first record or a piece of it, and no error.
#
# A gzip file is a series of members (RFC 1952, 2.2), and a compressed WARC has one for each record
# (WARC 1.1, annex D). gunzipSync, decompressSync and gunzip take the size that the last member states
# for the size of the whole, fill as many bytes from the first member and stop. If the last record is
# the longer one, the first comes out whole and looks like a file of its own. If it is shorter, the
# first ends in its middle, and an empty last member leaves nothing at all. None of them compares what
# it got with the checksum. A reader that counts captures so has one of each archive. The class Gunzip
# of the same package reads all members, and so do pako 3.0.3 and zlib of Node.js.
#
# Seen on Node.js 20:
#
#   records of 224, 264, 2372 bytes: zlib 2860, pako 2860, Gunzip 2860
#     gunzipSync 224, decompressSync 224, gunzip 224: 1 of 3 records, whole
#   records of 2372, 264, 224 bytes: zlib 2860, pako 2860, Gunzip 2860
#     gunzipSync 224, decompressSync 224, gunzip 224: 1 of 3 records, cut
#   records of 224, 264, 2372, 0 bytes: zlib 2860, pako 2860, Gunzip 2860
#     gunzipSync 0, decompressSync 0, gunzip 0: 0 of 3 records
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . fflate@0.8.3 pako@3.0.3 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.mjs <<'JS'
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import * as fflate from 'fflate';
import * as pako from 'pako';

function record(type, mediaType, block) {
  const id = '<urn:uuid:00000000-0000-4000-8000-00000000000' + type.length + '>';
  const uri = type === 'warcinfo' ? '' : 'WARC-Target-URI: https://site.example/robots.txt\r\n';
  return `WARC/1.1\r\nWARC-Type: ${type}\r\nWARC-Record-ID: ${id}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n${uri}` +
    `Content-Type: ${mediaType}\r\nContent-Length: ${block.length}\r\n\r\n${block}\r\n\r\n`;
}

const info = record('warcinfo', 'application/warc-fields', 'format: WARC File Format 1.1\r\n');
const request = record('request', 'application/http', 'GET /robots.txt HTTP/1.1\r\n\r\n');
const rules = Array.from({ length: 100 }, (_, i) => `Disallow: /page/${1000 + i}\n`).join('');
const response = record('response', 'application/http', `HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n${rules}`);

function streamed(packed) {
  const pieces = [];
  const stream = new fflate.Gunzip((piece) => pieces.push(piece));
  stream.push(packed, true);
  return Buffer.concat(pieces);
}

for (const records of [[info, request, response], [response, request, info], [info, request, response, '']]) {
  const packed = Buffer.concat(records.map((text) => zlib.gzipSync(text)));
  const all = records.join('');
  const right = { zlib: zlib.gunzipSync(packed), pako: pako.ungzip(packed), Gunzip: streamed(packed) };
  const wrong = {
    gunzipSync: fflate.gunzipSync(packed),
    decompressSync: fflate.decompressSync(packed),
    gunzip: await promisify(fflate.gunzip)(packed),
  };
  const lengths = (got) => Object.entries(got).map(([name, bytes]) => `${name} ${bytes.length}`).join(', ');
  const same = Object.values(right).every((bytes) => Buffer.from(bytes).toString() === all);
  const sizes = records.map((text) => text.length).join(', ');
  console.log(`records of ${sizes} bytes: ${same ? lengths(right) : 'not all'}`);
  const text = Buffer.from(wrong.gunzipSync).toString();
  const count = (text) => text.split('WARC/1.1\r\n').length - 1;
  const end = text === '' ? '' : text === records[0] ? ', whole' : records[0].startsWith(text) ? ', cut' : ', other';
  console.log(`  ${lengths(wrong)}: ${count(text)} of ${count(all)} records${end}`);
}
JS
node read.mjs | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
records of 224, 264, 2372 bytes: zlib 2860, pako 2860, Gunzip 2860
  gunzipSync 224, decompressSync 224, gunzip 224: 1 of 3 records, whole
records of 2372, 264, 224 bytes: zlib 2860, pako 2860, Gunzip 2860
  gunzipSync 224, decompressSync 224, gunzip 224: 1 of 3 records, cut
records of 224, 264, 2372, 0 bytes: zlib 2860, pako 2860, Gunzip 2860
  gunzipSync 0, decompressSync 0, gunzip 0: 0 of 3 records
SEEN
