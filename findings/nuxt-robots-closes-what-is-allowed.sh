#!/usr/bin/env bash
# @nuxtjs/robots 6.2.3 (npm) closes a whole site to everybody if its robots.txt closes it to
# everybody but some, or but for some paths.
#
# The usual way to let only a few in is "Disallow: /" for "*", and a group for each of the few. A
# crawler with a group of its own looks at no other (RFC 9309, 2.2.1), and in a group the longest rule
# that matches holds, so that "Allow: /docs" stands against "Disallow: /" (2.2.2). This module of Nuxt
# reads the site's file when the site is built, moves it away and serves its own. Once it has found
# "Disallow: /" in a group for "*", in whatever company, the site serves two lines that close it,
# without its other groups and rules, and every page says noindex. The build warns that the file blocks
# indexing. It does not say that the site serves another file.
#
# Where no group has that rule the file is served whole, but the field X-Robots-Tag of a page obeys the
# group for "*" even if the crawler that asks has its own: a page that Googlebot may fetch tells it to
# forget the page. Who counts hosts that shut out Googlebot counts sites that were written to let it in.
#
# Seen on Node.js 20 with Nuxt 4.2.2, and grobotstxt 1.0.3, Google's parser in Go, for the verdicts:
#
#   @nuxtjs/robots 6.2.3
#   written: User-agent: *|Disallow: /|Allow: /docs||User-agent: Googlebot|Disallow: /private
#   served: User-agent: *|Disallow: /
#     Googlebot at /page: open as written, closed as served, X-Robots-Tag: noindex, nofollow
#     OtherBot at /docs/a: open as written, closed as served, X-Robots-Tag: noindex, nofollow
#     OtherBot at /page: closed as written, closed as served, X-Robots-Tag: noindex, nofollow
#   written: User-agent: *|Disallow: /page|Allow: /docs||User-agent: Googlebot|Disallow: /private
#   served: User-agent: *|Allow: /docs|Disallow: /page||User-agent: Googlebot|Disallow: /private
#     Googlebot at /page: open as written, open as served, X-Robots-Tag: noindex, nofollow
#     OtherBot at /docs/a: open as written, open as served, X-Robots-Tag: index, follow
#     OtherBot at /page: closed as written, closed as served, X-Robots-Tag: noindex, nofollow
#
# Exits with 0 if it is still so, with 1 if not. Needs node, npm and go, and a minute.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . nuxt@4.2.2 @nuxtjs/robots@6.2.3 >npm.log 2>&1 || { cat npm.log; exit 1; }
export GOFLAGS=-mod=mod GOWORK=off NUXT_TELEMETRY_DISABLED=1
go mod init example.org/seen >go.log 2>&1
go get github.com/jimsmart/grobotstxt@v1.0.3 >>go.log 2>&1 || { cat go.log; exit 1; }

cat >nuxt.config.mjs <<'JS'
export default {
  modules: ['@nuxtjs/robots'],
  robots: { credits: false },
  site: { url: 'https://site.example' },
  ssr: false,
  compatibilityDate: '2025-01-01',
};
JS
mkdir app public
echo '<template><p>A page</p></template>' >app/app.vue
cat >ask.mjs <<'JS'
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

const group = 'User-agent: Googlebot\nDisallow: /private\n';
const files = ['/', '/page'].map((rule) => `User-agent: *\nDisallow: ${rule}\nAllow: /docs\n\n${group}`);
const questions = [['Googlebot', '/page'], ['OtherBot', '/docs/a'], ['OtherBot', '/page']];

const holder = createServer().listen(0, '127.0.0.1');
await once(holder, 'listening');
const { port } = holder.address();
holder.close();

const cases = [];
for (const written of files) {
  rmSync('public/_robots.txt', { force: true });
  writeFileSync('public/robots.txt', written);
  execFileSync('node_modules/.bin/nuxi', ['build'], { stdio: ['ignore', 'ignore', 'inherit'] });
  const env = { ...process.env, HOST: '127.0.0.1', PORT: port };
  const server = spawn('node', ['.output/server/index.mjs'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(server.stdout, 'data');
    const get = (path, agent) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'User-Agent': agent } });
    const served = await (await get('/robots.txt', 'OtherBot')).text();
    const asked = [];
    for (const [agent, path] of questions) {
      const field = (await get(path, `${agent}/1.0`)).headers.get('X-Robots-Tag');
      asked.push({ agent, path, field: field.split(', ').slice(0, 2).join(', ') });
    }
    cases.push({ written, served, asked });
  } finally {
    server.kill();
    await once(server, 'exit');
  }
}
console.log(JSON.stringify(cases));
JS
cat >main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/jimsmart/grobotstxt"
)

func main() {
	var cases []struct {
		Written, Served string
		Asked           []struct{ Agent, Path, Field string }
	}
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	line := func(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "|") }
	for _, c := range cases {
		fmt.Printf("written: %s\nserved: %s\n", line(c.Written), line(c.Served))
		for _, a := range c.Asked {
			verdict := func(text string) string {
				if grobotstxt.AgentAllowed(text, a.Agent, "https://site.example"+a.Path) {
					return "open"
				}
				return "closed"
			}
			fmt.Printf("  %s at %s: %s as written, %s as served, X-Robots-Tag: %s\n",
				a.Agent, a.Path, verdict(c.Written), verdict(c.Served), a.Field)
		}
	}
}
GO
{
	version=$(node -p 'JSON.parse(require("fs").readFileSync("node_modules/@nuxtjs/robots/package.json")).version')
	echo "@nuxtjs/robots $version"
	node ask.mjs 2>nuxt.log | go run . || { cat nuxt.log >&2; exit 1; }
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
@nuxtjs/robots 6.2.3
written: User-agent: *|Disallow: /|Allow: /docs||User-agent: Googlebot|Disallow: /private
served: User-agent: *|Disallow: /
  Googlebot at /page: open as written, closed as served, X-Robots-Tag: noindex, nofollow
  OtherBot at /docs/a: open as written, closed as served, X-Robots-Tag: noindex, nofollow
  OtherBot at /page: closed as written, closed as served, X-Robots-Tag: noindex, nofollow
written: User-agent: *|Disallow: /page|Allow: /docs||User-agent: Googlebot|Disallow: /private
served: User-agent: *|Allow: /docs|Disallow: /page||User-agent: Googlebot|Disallow: /private
  Googlebot at /page: open as written, open as served, X-Robots-Tag: noindex, nofollow
  OtherBot at /docs/a: open as written, open as served, X-Robots-Tag: index, follow
  OtherBot at /page: closed as written, closed as served, X-Robots-Tag: noindex, nofollow
SEEN
