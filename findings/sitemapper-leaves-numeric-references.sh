#!/usr/bin/env bash
# sitemapper 4.1.6 (npm) leaves numeric character references in the URLs of a sitemap.
#
# XML writes "&" as "&amp;" or by its number, "&#38;" or "&#x26;"; the protocol of sitemaps wants
# one of them in each URL that holds an ampersand. sitemapper knows the names and no number.
# Such a URL comes out as "/?a=1&#38;b=2": to a server it is "/?a=1&", and the rest is a fragment
# that is never sent. Rules of robots.txt are then asked about a path that the site does not list.
# The reading part of sitemap 9.0.1 knows both forms.
#
# Seen on Node.js 20:
#
#   /?a=1&amp;b=2   sitemapper /?a=1&b=2       sitemap /?a=1&b=2
#   /?a=1&#38;b=2   sitemapper /?a=1&#38;b=2   sitemap /?a=1&b=2
#   /?a=1&#x26;b=2  sitemapper /?a=1&#x26;b=2  sitemap /?a=1&b=2
#   /it&apos;s      sitemapper /it's           sitemap /it's
#   /it&#39;s       sitemapper /it&#39;s       sitemap /it's
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . sitemapper@4.1.6 sitemap@9.0.1 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.mjs <<'JS'
import http from 'node:http';
import { Readable } from 'node:stream';
import { parseSitemap } from 'sitemap';
import Sitemapper from 'sitemapper';

const site = 'https://example.org';
const written = ['/?a=1&amp;b=2', '/?a=1&#38;b=2', '/?a=1&#x26;b=2', '/it&apos;s', '/it&#39;s'];
const text =
  '<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' +
  written.map((path) => `<url><loc>${site}${path}</loc></url>`).join('') +
  '</urlset>';
const server = http.createServer((_, answer) => {
  answer.setHeader('Content-Type', 'application/xml');
  answer.end(text);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { sites } = await new Sitemapper({ timeout: 10000 }).fetch(
  `http://127.0.0.1:${server.address().port}/sitemap.xml`,
);
server.close();
const others = await parseSitemap(Readable.from([text]));
written.forEach((path, i) => {
  const [one, other] = [sites[i], others[i].url].map((url) => url.slice(site.length));
  console.log(`${path.padEnd(14)}  sitemapper ${one.padEnd(14)}  sitemap ${other}`);
});
JS
node read.mjs | tee seen
diff - seen <<'SEEN'
/?a=1&amp;b=2   sitemapper /?a=1&b=2       sitemap /?a=1&b=2
/?a=1&#38;b=2   sitemapper /?a=1&#38;b=2   sitemap /?a=1&b=2
/?a=1&#x26;b=2  sitemapper /?a=1&#x26;b=2  sitemap /?a=1&b=2
/it&apos;s      sitemapper /it's           sitemap /it's
/it&#39;s       sitemapper /it&#39;s       sitemap /it's
SEEN
