#!/usr/bin/env bash
# next-sitemap 4.2.3 (npm) writes invalid XML if a page has an image or a video whose URL contains an
# ampersand.
#
# All values of a sitemap, URLs among them, have "&" as a reference (sitemaps.org, "Entity escaping").
# next-sitemap does so for pages, their alternates and titles, but not for the URLs of images and videos,
# and Next.js's own images have the form /_next/image?url=...&w=640. By such an image all pages of the
# file are lost: Python's parser and sitemap 9.0.1 (npm) refuse it. sitemapper 4.1.6 takes it all the
# same, so that two counts of a site differ by all that it lists. A character beyond U+FFFF in a title,
# as names in Japan have them, becomes two references to halves of it, which are none to XML (1.0, 4.1).
#
# Pages in whose path "favicon" and "ico" stand with one character between are taken for the file of
# that name and left out without a word.
#
# Seen on Node.js 20, of a site with /, /about, /list?page=2&sort=name and /favicon-ico-maker, where
# /about has what the line says:
#
#   nothing more: Python 3 pages, sitemap 3 pages, sitemapper 3 pages
#     of 4: not /favicon-ico-maker
#   image /a.png: Python 3 pages, sitemap 3 pages, sitemapper 3 pages
#   image /_next/image?url=%2Fa.png&w=640: Python no XML, sitemap no XML, sitemapper 3 pages
#   video /watch?v=a&t=5: Python no XML, sitemap no XML, sitemapper 3 pages
#   alternate /?page=about&lang=de: Python 3 pages, sitemap 3 pages, sitemapper 3 pages
#   title "a & b": Python 3 pages, sitemap 3 pages, sitemapper 3 pages
#   title of U+20BB7: Python no XML, sitemap no XML, sitemapper 3 pages
#
# Exits with 0 if it is still so, with 1 if not. Needs node, npm and python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --legacy-peer-deps --prefix . next-sitemap@4.2.3 sitemap@9.0.1 \
  sitemapper@4.1.6 >npm.log 2>&1 || { cat npm.log; exit 1; }

# What a build leaves of its pages.
mkdir -p .next
cat >.next/build-manifest.json <<'JSON'
{"pages": {"/": [], "/about": [], "/favicon-ico-maker": [], "/_app": []}, "ampFirstPages": []}
JSON
cat >.next/prerender-manifest.json <<'JSON'
{"version": 4, "routes": {}, "dynamicRoutes": {}, "notFoundRoutes": [], "preview": {}}
JSON
cat >.next/routes-manifest.json <<'JSON'
{"version": 3, "basePath": "", "redirects": [], "headers": [], "staticRoutes": [], "dynamicRoutes": []}
JSON

cat >config.cjs <<'JS'
const site = 'https://site.example';
const image = (path, title) => ({ images: [{ loc: new URL(path, site), title }] });
const video = (path) => ({
  videos: [{ title: 'a', description: 'a', thumbnailLoc: new URL('/a.png', site), contentLoc: new URL(path, site) }],
});
const more = {
  'nothing more': {},
  'image /a.png': image('/a.png'),
  'image /_next/image?url=%2Fa.png&w=640': image('/_next/image?url=%2Fa.png&w=640'),
  'video /watch?v=a&t=5': video('/watch?v=a&t=5'),
  'alternate /?page=about&lang=de': { alternateRefs: [{ hreflang: 'de', href: `${site}/?page=about&lang=de` }] },
  'title "a & b"': image('/a.png', 'a & b'),
  'title of U+20BB7': image('/a.png', '\u{20bb7}'),
};
module.exports = {
  more: Object.keys(more),
  siteUrl: site,
  autoLastmod: false,
  generateIndexSitemap: false,
  transform: (_, path) => ({ loc: path, ...(path === '/about' ? more[process.env.MORE] : {}) }),
  additionalPaths: () => [{ loc: '/list?page=2&sort=name' }],
};
JS
cat >well.py <<'PY'
import xml.etree.ElementTree as tree

try:
    root = tree.parse("public/sitemap.xml").getroot()
    print(len(root), "pages", end="")
except tree.ParseError:
    print("no XML", end="")
PY
cat >read.mjs <<'JS'
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { parseSitemap } from 'sitemap';
import Sitemapper from 'sitemapper';
import config from './config.cjs';

const server = http.createServer((_, answer) => {
  answer.setHeader('Content-Type', 'application/xml');
  answer.end(fs.readFileSync('public/sitemap.xml'));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}/sitemap.xml`;
const paths = ['/', '/about', '/list?page=2&sort=name', '/favicon-ico-maker'];
for (const more of config.more) {
  fs.rmSync('public', { recursive: true, force: true });
  execFileSync('node', ['node_modules/next-sitemap/bin/next-sitemap.mjs', '--config', 'config.cjs'], {
    env: { ...process.env, MORE: more },
  });
  const python = execFileSync('python3', ['well.py'], { encoding: 'utf8' });
  const { sites } = await new Sitemapper({ timeout: 10000 }).fetch(url);
  const other = await parseSitemap(fs.createReadStream('public/sitemap.xml')).then(
    (pages) => `${pages.length} pages`,
    () => 'no XML',
  );
  console.log(`${more}: Python ${python}, sitemap ${other}, sitemapper ${sites.length} pages`);
  if (more === 'nothing more') {
    const lost = paths.filter((path) => !sites.includes(config.siteUrl + path.replace(/^\/$/, '')));
    console.log(`  of ${paths.length}: not ${lost}`);
  }
}
server.close();
JS
node read.mjs | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
nothing more: Python 3 pages, sitemap 3 pages, sitemapper 3 pages
  of 4: not /favicon-ico-maker
image /a.png: Python 3 pages, sitemap 3 pages, sitemapper 3 pages
image /_next/image?url=%2Fa.png&w=640: Python no XML, sitemap no XML, sitemapper 3 pages
video /watch?v=a&t=5: Python no XML, sitemap no XML, sitemapper 3 pages
alternate /?page=about&lang=de: Python 3 pages, sitemap 3 pages, sitemapper 3 pages
title "a & b": Python 3 pages, sitemap 3 pages, sitemapper 3 pages
title of U+20BB7: Python no XML, sitemap no XML, sitemapper 3 pages
SEEN
