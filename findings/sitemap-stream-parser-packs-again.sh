#!/usr/bin/env bash
# sitemap-stream-parser 1.7.0 (npm) compresses a compressed sitemap once more, and finds nothing.
#
# Where the name of a sitemap ends in .gz it passes what it is sent through gzip's compressor instead
# of its decompressor. Its XML parser takes the outcome for a document without elements: no URL, no
# error, and the sitemap counts as read. A site whose sitemaps are compressed so has no page. A URL in
# CDATA, which is as good as one with references, is left out in the same silence.
#
# In a robots.txt it reads a Sitemap line only if one blank or none stands before the URL, and
# nothing stands after it. A second blank, a blank at the end or a comment hides the line.
#
# Seen on Node.js 20:
#
#   sitemap-stream-parser 1.7.0
#   sitemap.xml: 2 of 2 URLs
#   sitemap.xml.gz, the same: 0 of 2 URLs
#   cdata.xml, the same in CDATA: 0 of 2 URLs
#   "Sitemap: URL": 1 of 1 sitemaps
#   "Sitemap:  URL": 0 of 1 sitemaps
#   "Sitemap: URL ": 0 of 1 sitemaps
#   "Sitemap: URL # all": 0 of 1 sitemaps
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . sitemap-stream-parser@1.7.0 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >ask.js <<'JS'
const http = require('node:http');
const zlib = require('node:zlib');
const sitemaps = require('sitemap-stream-parser');

const pages = ['https://site.example/a', 'https://site.example/b'];
const sitemap = (loc) => `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${pages.map((page) => `<url><loc>${loc(page)}</loc></url>`).join('\n')}
</urlset>
`;
const plain = sitemap((page) => page);
const files = {
  '/sitemap.xml': ['application/xml', plain],
  '/sitemap.xml.gz': ['application/gzip', zlib.gzipSync(plain)],
  '/cdata.xml': ['application/xml', sitemap((page) => `<![CDATA[${page}]]>`)],
};
let robots;
const server = http.createServer((request, answer) => {
  const [type, body] = request.url === '/robots.txt' ? ['text/plain', robots] : files[request.url];
  answer.writeHead(200, { 'Content-Type': type }).end(body);
});

server.listen(0, '127.0.0.1', async () => {
  const origin = `http://127.0.0.1:${server.address().port}`;
  for (const [path, what] of [['/sitemap.xml', ''], ['/sitemap.xml.gz', ', the same'], ['/cdata.xml', ', the same in CDATA']]) {
    const found = [];
    await new Promise((resolve, reject) => {
      sitemaps.parseSitemaps(origin + path, (url) => found.push(url), (error) => (error ? reject(error) : resolve()));
    });
    console.log(`${path.slice(1)}${what}: ${found.length} of ${pages.length} URLs`);
  }
  for (const line of ['Sitemap: URL', 'Sitemap:  URL', 'Sitemap: URL ', 'Sitemap: URL # all']) {
    robots = `User-agent: *\nDisallow:\n${line.replace('URL', 'https://site.example/sitemap.xml')}\n`;
    const found = await new Promise((resolve, reject) => {
      sitemaps.sitemapsInRobots(`${origin}/robots.txt`, (error, urls) => (error ? reject(error) : resolve(urls)));
    });
    console.log(`${JSON.stringify(line)}: ${found.length} of 1 sitemaps`);
  }
  process.exit();
});
JS
{
	echo "sitemap-stream-parser $(node -p 'require("./node_modules/sitemap-stream-parser/package.json").version')"
	node --no-deprecation ask.js
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
sitemap-stream-parser 1.7.0
sitemap.xml: 2 of 2 URLs
sitemap.xml.gz, the same: 0 of 2 URLs
cdata.xml, the same in CDATA: 0 of 2 URLs
"Sitemap: URL": 1 of 1 sitemaps
"Sitemap:  URL": 0 of 1 sitemaps
"Sitemap: URL ": 0 of 1 sitemaps
"Sitemap: URL # all": 0 of 1 sitemaps
SEEN
