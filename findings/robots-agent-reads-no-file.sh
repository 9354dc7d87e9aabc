#!/usr/bin/env bash
# robots-agent 1.0.0 (npm) asks for robots.txt and then forbids every URL, whatever the file says.
#
# It hands the text of the file to robots-parser 2, which takes the URL of the file first and its
# text second. So the rules are those of no file: isAllowed has no answer, isDisallowed is true,
# there is no line and no sitemap. For a URL with a port it asks the standard port of that host,
# which is another origin with a file of its own (RFC 9309, 2.3).
#
# Seen on Node.js 20, with a file that closes /closed on port 80 and one that is empty on another:
#
#   port 80, /open: isAllowed undefined, isDisallowed true
#   port 80, /closed: isAllowed undefined, isDisallowed true
#   other port, /open: isAllowed undefined, isDisallowed true
#   sitemaps: 0 of 1
#   asked for: port 80 /robots.txt
#
# Exits with 0 if it is still so, with 1 if not. Needs node, npm and the right to listen on port 80
# of 127.0.0.1.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . robots-agent@1.0.0 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >ask.js <<'JS'
const http = require('node:http');
const { createRobotsAgent } = require('robots-agent');

const asked = [];
const serve = (port, name, text) =>
  new Promise((resolve) => {
    const server = http.createServer((request, answer) => {
      asked.push(`${name} ${request.url}`);
      answer.end(text);
    });
    server.listen(port, '127.0.0.1', () => resolve(server));
  });

(async () => {
  const file = 'User-agent: *\nDisallow: /closed\nSitemap: http://127.0.0.1/sitemap.xml\n';
  const standard = await serve(80, 'port 80', file);
  const other = await serve(0, 'other port', 'User-agent: *\nDisallow:\n');
  const agent = createRobotsAgent();
  const elsewhere = `http://127.0.0.1:${other.address().port}`;
  for (const [name, origin, path] of [
    ['port 80', 'http://127.0.0.1', '/open'],
    ['port 80', 'http://127.0.0.1', '/closed'],
    ['other port', elsewhere, '/open'],
  ]) {
    const allowed = await agent.isAllowed(origin + path, 'examplebot');
    const disallowed = await agent.isDisallowed(origin + path, 'examplebot');
    console.log(`${name}, ${path}: isAllowed ${allowed}, isDisallowed ${disallowed}`);
  }
  console.log(`sitemaps: ${(await agent.getSitemaps('http://127.0.0.1/')).length} of 1`);
  console.log(`asked for: ${asked.join(', ')}`);
  standard.close();
  other.close();
})();
JS
node ask.js | tee seen
diff - seen <<'SEEN'
port 80, /open: isAllowed undefined, isDisallowed true
port 80, /closed: isAllowed undefined, isDisallowed true
other port, /open: isAllowed undefined, isDisallowed true
sitemaps: 0 of 1
asked for: port 80 /robots.txt
SEEN
