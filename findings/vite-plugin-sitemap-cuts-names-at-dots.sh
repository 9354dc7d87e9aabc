#!/usr/bin/env bash
# vite-plugin-sitemap 0.8.2 and sitemap-ts 1.10.1 (npm) list pages that a site does not have in the
# place of those whose name has a dot or ends with "index".
#
# The location of a page is its URL (sitemaps.org, "loc"). To both, the last dot of a name begins an
# extension, in the name of a folder too, once "index.html" has been taken off it: v1.9/index.html is
# listed as /v1, and so is v1.10/index.html, so that one URL stands there twice. The text "index.html"
# is taken off wherever it ends a name: sql-reindex.html is listed as /sql-re. Routes that the site
# names itself lose what follows their last dot as well. The sitemap is well formed and has as many
# entries as there are pages. A crawler that goes by it counts answers with 404 where there are pages,
# and sees none of the documentation of a version. static-sitemap-cli 2.2.8 lists each page, and sirv
# 3.0.2, on which Vite's own preview stands, says which URLs there are.
#
# Seen on Node.js 20:
#
#   static-sitemap-cli 2.2.8: / 200, /guide 200, /sql-reindex 200, /v1.10 200, /v1.9 200
#   vite-plugin-sitemap 0.8.2: / 200, /guide 200, /sql-re 404, /v1 404, /v1 404
#     with the route /releases/2.0: /releases/2
#   sitemap-ts 1.10.1: / 200, /guide 200, /sql-re 404, /v1 404, /v1 404
#     with the route /releases/2.0: /releases/2
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --legacy-peer-deps --prefix . vite-plugin-sitemap@0.8.2 sitemap-ts@1.10.1 \
  static-sitemap-cli@2.2.8 sirv@3.0.2 >npm.log 2>&1 || { cat npm.log; exit 1; }
mkdir -p site/v1.9 site/v1.10
for page in index guide sql-reindex v1.9/index v1.10/index; do
  echo "<!doctype html><title>$page</title>" >"site/$page.html"
done

cat >list.mjs <<'JS'
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import { setTimeout } from 'node:timers/promises';
import sirv from 'sirv';
import { generateSitemap } from 'sitemap-ts';
import plugin from 'vite-plugin-sitemap';

const site = 'https://site.example';
const server = http.createServer(sirv('site'));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

const paths = (text) =>
  [...text.matchAll(/<loc>(.*?)<\/loc>/g)].map((found) => found[1].slice(site.length) || '/').sort();

async function asked(paths) {
  const said = [];
  for (const path of paths) {
    const answer = await fetch(`http://127.0.0.1:${server.address().port}${path}`);
    said.push(`${path} ${answer.status}`);
  }
  return said.join(', ');
}

async function written(write, dynamicRoutes) {
  fs.rmSync('site/sitemap.xml', { force: true });
  write({ hostname: site, outDir: 'site', dynamicRoutes, generateRobotsTxt: false });
  while (!fs.existsSync('site/sitemap.xml') || !fs.readFileSync('site/sitemap.xml', 'utf8').endsWith('</urlset>')) {
    await setTimeout(20);
  }
  return paths(fs.readFileSync('site/sitemap.xml', 'utf8'));
}

const command = ['node_modules/static-sitemap-cli/src/cli.js', '-b', site, '-r', 'site', '-f', 'xml', '-o'];
console.log(`static-sitemap-cli 2.2.8: ${await asked(paths(execFileSync('node', command, { encoding: 'utf8' })))}`);
const others = {
  'vite-plugin-sitemap 0.8.2': (options) => plugin(options).closeBundle(),
  'sitemap-ts 1.10.1': generateSitemap,
};
for (const [name, write] of Object.entries(others)) {
  const pages = await written(write, []);
  console.log(`${name}: ${await asked(pages)}`);
  const more = (await written(write, ['/releases/2.0'])).filter((path) => !pages.includes(path));
  console.log(`  with the route /releases/2.0: ${more}`);
}
server.close();
server.closeAllConnections();
JS
timeout 120 node list.mjs | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
static-sitemap-cli 2.2.8: / 200, /guide 200, /sql-reindex 200, /v1.10 200, /v1.9 200
vite-plugin-sitemap 0.8.2: / 200, /guide 200, /sql-re 404, /v1 404, /v1 404
  with the route /releases/2.0: /releases/2
sitemap-ts 1.10.1: / 200, /guide 200, /sql-re 404, /v1 404, /v1 404
  with the route /releases/2.0: /releases/2
SEEN
