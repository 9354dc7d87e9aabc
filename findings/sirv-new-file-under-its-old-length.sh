#!/usr/bin/env bash
# sirv 3.0.2 (npm) sends a file that has grown under the length and the ETag of the old one.
#
# Unless in its mode for development, it reads the size, the time and the ETag of each file once, as
# it starts, but the file itself at each request. A site that adds lines to its robots.txt, in place
# and without a restart, so serves a whole answer, 200 with a Content-Length that holds, in which the
# new lines are missing: here "Disallow: /" for everybody. What follows them on the connection is the
# rest of the new file, where the next answer should begin. A crawler that asks by the ETag that it
# has is told 304, on the day of the change and every day after it. Neither can see that there is a
# newer file; only a restart ends it.
#
# Seen on Node.js 20:
#
#   sirv 3.0.2
#   as it starts: 200, 28 bytes of 28
#   the file has grown: 200, 28 bytes of 40, "Disallow: /" among them: false
#   by the ETag from before: 304
#   bytes behind the answer: 12
#   with dev: true: 200, 40 bytes of 40, "Disallow: /" among them: true
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . sirv@3.0.2 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >ask.mjs <<'JS'
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
import sirv from 'sirv';

const file = 'site/robots.txt';
const old = 'User-agent: *\nDisallow: /a/\n';
const grown = `${old}Disallow: /\n`;

async function serve(options) {
  const server = http.createServer(sirv('site', { etag: true, ...options })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

// ask returns the status, the fields, the body, and what follows it before the server ends.
async function ask(server, field = '') {
  const socket = net.connect(server.address().port, '127.0.0.1');
  socket.write(`GET /robots.txt HTTP/1.1\r\nHost: site.example\r\n${field}Connection: close\r\n\r\n`);
  let text = '';
  for await (const piece of socket) text += piece.toString('latin1');
  const end = text.indexOf('\r\n\r\n') + 4;
  const value = (name) => new RegExp(`^${name}: (.*)\r$`, 'mi').exec(text.slice(0, end))?.[1];
  const length = Number(value('content-length') ?? 0);
  return { status: Number(text.slice(9, 12)), etag: value('etag'), body: text.slice(end, end + length),
    rest: text.length - end - length };
}

const say = (when, a, size) => console.log(`${when}: ${a.status}, ${a.body.length} bytes of ${size}`
  + (size > old.length ? `, "Disallow: /" among them: ${/^Disallow: \/$/m.test(a.body)}` : ''));

fs.mkdirSync('site');
fs.writeFileSync(file, old);
const server = await serve({});
const before = await ask(server);
say('as it starts', before, old.length);
fs.writeFileSync(file, grown);
const after = await ask(server);
say('the file has grown', after, grown.length);
console.log(`by the ETag from before: ${(await ask(server, `If-None-Match: ${before.etag}\r\n`)).status}`);
console.log(`bytes behind the answer: ${after.rest}`);
server.close();

const dev = await serve({ dev: true });
say('with dev: true', await ask(dev), grown.length);
dev.close();
JS
{
	echo "sirv $(node -p 'require("./node_modules/sirv/package.json").version')"
	node ask.mjs
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
sirv 3.0.2
as it starts: 200, 28 bytes of 28
the file has grown: 200, 28 bytes of 40, "Disallow: /" among them: false
by the ETag from before: 304
bytes behind the answer: 12
with dev: true: 200, 40 bytes of 40, "Disallow: /" among them: true
SEEN
