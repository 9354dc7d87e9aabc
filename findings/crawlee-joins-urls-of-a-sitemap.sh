#!/usr/bin/env bash
# @crawlee/utils 3.18.1 (npm), which reads sitemaps for Crawlee, joins the URLs of a text sitemap where a
# piece of it ends with a line, and finds no URL in CDATA that stands on a line of its own.
#
# A text sitemap has a URL on each line (protocol of sitemaps.org, "Text file"). The reader keeps of each
# piece that it is handed what stands behind the last line feed, for that may go on in the next one. If
# nothing stands there it keeps the last URL, without the line feed, and puts the next piece behind it.
# How a file comes in pieces is nobody's to choose: by the chunks of the transfer (RFC 9112, 7.1), by
# what the socket has, by the decompressor, whose pieces have 16 KiB. A server that sends line by line
# has one URL, that of no page. A compressed file with lines of 64 bytes loses two of 256 and gains a
# wrong one, without a word, and the same file loses none with lines of another length.
#
# In XML a CDATA section may stand wherever text may (XML 1.0, 2.7). Here each piece of text replaces the
# one before it, so that the line feed behind the section is the URL. Nothing is left of such a sitemap
# but a warning that its URLs are of another host. Two other readers have them all.
#
# Seen on Node.js 20, with sitemap 9.0.1 and sitemapper 4.1.6:
#
#   @crawlee/utils 3.18.1
#   3 lines in one piece: 3 URLs, 3 right
#   3 lines, each a piece: 1 URL, 0 right
#   3 lines, cut elsewhere: 3 URLs, 3 right
#   1024 lines of 64 bytes, compressed: 1021 URLs, 1018 right
#   1024 lines of 63 bytes, compressed: 1024 URLs, 1024 right
#   CDATA right behind the tag: crawlee 3, sitemap 3, sitemapper 3
#   CDATA on a line of its own: crawlee 0, sitemap 3, sitemapper 3
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . @crawlee/utils@3.18.1 sitemap@9.0.1 sitemapper@4.1.6 \
  >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { Sitemap } from '@crawlee/utils';
import { parseSitemap } from 'sitemap';
import Sitemapper from 'sitemapper';

const files = new Map();
const server = createServer(async (request, answer) => {
  const { type, pieces } = files.get(request.url);
  answer.writeHead(200, { 'Content-Type': type });
  for (const piece of pieces) {
    answer.write(piece);
    for (let turn = 0; turn < 10; turn++) await wait(10); // let the client read it
  }
  answer.end();
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}`;

async function text(what, urls, name, type, pieces) {
  files.set(name, { type, pieces });
  const found = (await Sitemap.load(site + name)).urls;
  const right = found.filter((url) => urls.includes(url)).length;
  console.log(`${what}: ${found.length} ${found.length === 1 ? 'URL' : 'URLs'}, ${right} right`);
}

const urls = ['/a', '/b', '/c'].map((path) => site + path);
const lines = urls.map((url) => `${url}\n`);
const whole = lines.join('');
await text('3 lines in one piece', urls, '/whole.txt', 'text/plain', [whole]);
await text('3 lines, each a piece', urls, '/lines.txt', 'text/plain', lines);
const elsewhere = [whole.slice(0, 9), whole.slice(9, 40), whole.slice(40)];
await text('3 lines, cut elsewhere', urls, '/cut.txt', 'text/plain', elsewhere);
for (const length of [64, 63]) {
  const many = Array.from({ length: 1024 }, (_, i) => `${site}/${String(i).padStart(length - site.length - 2, '0')}`);
  const file = gzipSync(many.map((url) => `${url}\n`).join(''));
  const what = `1024 lines of ${length} bytes, compressed`;
  await text(what, many, `/${length}.txt.gz`, 'application/gzip', [file]);
}

for (const [what, name, blank] of [
  ['right behind the tag', '/cdata.xml', ''],
  ['on a line of its own', '/line.xml', '\n'],
]) {
  const entry = (url) => `<url><loc>${blank}<![CDATA[${url}]]>${blank}</loc></url>`;
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.map(entry).join('')}</urlset>`;
  files.set(name, { type: 'application/xml', pieces: [xml] });
  const right = (found) => found.filter((url) => urls.includes(url)).length;
  const crawlee = right((await Sitemap.load(site + name)).urls);
  const sitemap = right((await parseSitemap(Readable.from([xml]))).map(({ url }) => url));
  const sitemapper = right((await new Sitemapper({ url: site + name, timeout: 30000 }).fetch()).sites);
  console.log(`CDATA ${what}: crawlee ${crawlee}, sitemap ${sitemap}, sitemapper ${sitemapper}`);
}
server.closeAllConnections();
server.close();
JS
{
	version=$(node -p 'JSON.parse(require("fs").readFileSync("node_modules/@crawlee/utils/package.json")).version')
	echo "@crawlee/utils $version"
	node read.mjs 2>node.log || { cat node.log >&2; exit 1; }
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
@crawlee/utils 3.18.1
3 lines in one piece: 3 URLs, 3 right
3 lines, each a piece: 1 URL, 0 right
3 lines, cut elsewhere: 3 URLs, 3 right
1024 lines of 64 bytes, compressed: 1021 URLs, 1018 right
1024 lines of 63 bytes, compressed: 1024 URLs, 1024 right
CDATA right behind the tag: crawlee 3, sitemap 3, sitemapper 3
CDATA on a line of its own: crawlee 0, sitemap 3, sitemapper 3
SEEN
