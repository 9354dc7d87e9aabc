#!/usr/bin/env bash
# js-wacz 0.1.6 (npm) writes an index that has some captures twice, and a list of pages without those
# whose HTML leaves out the tags that may be left out.
#
# A WACZ holds archives, an index of their captures and a list of their pages. Each line of the index is
# a single capture (CDXJ 0.1.0, introduction). js-wacz compresses an index of 3,000 lines and more in
# blocks, and puts the first line of each block at the end of the one before it as well. So a count of
# lines is too high by one for each block but the first, and a look-up of that URL finds two captures
# where there is one. warcio, which makes the lines, makes one for each.
#
# A page is an answer with status 200, as text/html, and an element in its body, for which js-wacz asks
# a parser that knows no HTML but what is written. The tag of body may be left out (HTML Standard,
# 13.1.2.4), text needs no element, and types are compared without regard to case (RFC 9110, 8.3.1):
# such pages are not in the list. Of two captures of a page it has one.
#
# Seen on Node.js 20, with parse5 8.1.1, which follows the HTML Standard:
#
#   js-wacz 0.1.6, warcio 2.4.11
#   2999 captures: warcio 2999 lines, js-wacz 2999 lines
#   3000 captures: warcio 3000 lines, js-wacz 3000 lines
#   6100 captures: warcio 6100 lines, js-wacz 6102 lines
#     twice: http://3000.example/robots.txt
#     twice: http://6000.example/robots.txt
#   all tags, text/html: parse5 body "Hello", js-wacz 1 page
#   all tags, Text/HTML: parse5 body "Hello", js-wacz 0 pages
#   no tag of body, text/html: parse5 body "Hello", js-wacz 0 pages
#   text without an element, text/html: parse5 body "Hello", js-wacz 0 pages
#   all tags on two days, text/html: parse5 body "Hello", js-wacz 1 page
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . @harvard-lil/js-wacz@0.1.6 warcio@2.4.11 parse5@8.1.1 \
  node-html-parser@6.1.13 node-stream-zip@1.15.0 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >pack.mjs <<'JS'
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { WACZ } from '@harvard-lil/js-wacz';
import StreamZip from 'node-stream-zip';
import { parse } from 'parse5';
import { CDXIndexer } from 'warcio';

const nothing = () => {};
const log = { trace: nothing, debug: nothing, info: nothing, warn: console.error, error: console.error };

let records = 0;
function response(url, type, body, day = '02') {
  const block = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const fields = [
    'WARC/1.1', 'WARC-Type: response', `WARC-Target-URI: ${url}`, `WARC-Date: 2026-01-${day}T03:04:05Z`,
    `WARC-Record-ID: <urn:uuid:5f1b2a9e-6f0c-4c0e-9d1c-${String(++records).padStart(12, '0')}>`,
    'Content-Type: application/http;msgtype=response', `Content-Length: ${block.length}`, '', '',
  ];
  return `${fields.join('\r\n')}${block}\r\n\r\n`;
}

async function packed(archive) {
  writeFileSync('got.warc', archive.join(''));
  await new WACZ({ input: 'got.warc', output: 'got.wacz', log }).process();
  const zip = new StreamZip.async({ file: 'got.wacz' });
  const names = Object.keys(await zip.entries());
  const lines = async (name) => {
    const data = await zip.entryData(name);
    return (name.endsWith('.gz') ? gunzipSync(data) : data).toString().trimEnd().split('\n');
  };
  const index = await lines(names.find((name) => /^indexes\/index\.cdx(\.gz)?$/.test(name)));
  const pages = (await lines('pages/pages.jsonl')).slice(1);
  await zip.close();
  return { index, pages };
}

async function byWarcio() {
  let lines = 0;
  for await (const _ of new CDXIndexer().iterIndex([{ reader: createReadStream('got.warc'), filename: 'got.warc' }]))
    lines++;
  return lines;
}

function text(node) {
  return node.nodeName === '#text' ? node.value : (node.childNodes ?? []).map(text).join('');
}

function body(html) {
  return text(parse(html).childNodes.find((node) => node.nodeName === 'html').childNodes[1]).trim();
}

const version = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version;
console.log(`js-wacz ${version('@harvard-lil/js-wacz')}, warcio ${version('warcio')}`);

for (const captures of [2999, 3000, 6100]) {
  const hosts = Array.from({ length: captures }, (_, i) => `http://${String(i).padStart(4, '0')}.example`);
  const { index } = await packed(hosts.map((host) => response(`${host}/robots.txt`, 'text/plain', 'User-agent: *\n')));
  console.log(`${captures} captures: warcio ${await byWarcio()} lines, js-wacz ${index.length} lines`);
  for (const line of index.filter((line, i) => line === index[i - 1]).sort())
    console.log(`  twice: ${JSON.parse(line.slice(line.indexOf('{'))).url}`);
}

const whole = '<!DOCTYPE html><html><head><title>t</title></head><body><p>Hello</p></body></html>';
for (const [what, type, html, days] of [
  ['all tags', 'text/html', whole, ['02']],
  ['all tags', 'Text/HTML', whole, ['02']],
  ['no tag of body', 'text/html', '<!DOCTYPE html><title>t</title><p>Hello', ['02']],
  ['text without an element', 'text/html', '<!DOCTYPE html><html><title>t</title><body>Hello</body></html>', ['02']],
  ['all tags on two days', 'text/html', whole, ['02', '03']],
]) {
  const { pages } = await packed(days.map((day) => response('http://site.example/', type, html, day)));
  const count = `${pages.length} ${pages.length === 1 ? 'page' : 'pages'}`;
  console.log(`${what}, ${type}: parse5 body "${body(html)}", js-wacz ${count}`);
}
JS
node pack.mjs 2>node.log | tee seen || { cat node.log; exit 1; }
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
js-wacz 0.1.6, warcio 2.4.11
2999 captures: warcio 2999 lines, js-wacz 2999 lines
3000 captures: warcio 3000 lines, js-wacz 3000 lines
6100 captures: warcio 6100 lines, js-wacz 6102 lines
  twice: http://3000.example/robots.txt
  twice: http://6000.example/robots.txt
all tags, text/html: parse5 body "Hello", js-wacz 1 page
all tags, Text/HTML: parse5 body "Hello", js-wacz 0 pages
no tag of body, text/html: parse5 body "Hello", js-wacz 0 pages
text without an element, text/html: parse5 body "Hello", js-wacz 0 pages
all tags on two days, text/html: parse5 body "Hello", js-wacz 1 page
SEEN
