#!/usr/bin/env bash
# robots-txt-parser 2.0.3 (npm) looks for a rule anywhere in the URL, its host included, and keeps
# of a group the last name alone and of an agent the last group alone.
#
# A rule is the beginning of a path (RFC 9309, 2.2.2). Here "Disallow: /private" closes
# "/blog/private" too, and "Allow: /site" opens all of https://site.example/, whose "//site" it
# finds. Of two names above one group only the second is bound (2.1: a group is one or more
# user-agent lines, then its rules), and of two groups of one name the second replaces the first,
# where 2.2.1 demands that they be combined. A file is kept by host without port, and asked for at
# the scheme's own port: what port 8443 says is never read.
#
# Seen on Node.js 20:
#
#   robots-txt-parser 2.0.3
#   a rule in the middle of a path: closed, by RFC 9309 open
#   a rule found in the host: open, by RFC 9309 closed
#   the first of two names: open, by RFC 9309 closed
#   the first of two groups: open, by RFC 9309 closed
#   the file of port 443 is that of port 8443: true
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . robots-txt-parser@2.0.3 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >ask.js <<'JS'
const robotsParser = require('robots-txt-parser');

const robots = robotsParser({ userAgent: 'examplebot' });
for (const [what, lines, path, rfc] of [
  ['a rule in the middle of a path', ['User-agent: *', 'Disallow: /private'], '/blog/private', 'open'],
  ['a rule found in the host', ['User-agent: *', 'Allow: /site', 'Disallow: /'], '/other', 'closed'],
  ['the first of two names', ['User-agent: examplebot', 'User-agent: otherbot', 'Disallow: /'], '/a', 'closed'],
  ['the first of two groups', ['User-agent: examplebot', 'Disallow: /a', '', 'User-agent: otherbot', 'Disallow: /x', '',
    'User-agent: examplebot', 'Disallow: /b'], '/a', 'closed'],
]) {
  robots.parseRobots('https://site.example', `${lines.join('\n')}\n`);
  const here = robots.canCrawlSync(`https://site.example${path}`) ? 'open' : 'closed';
  console.log(`${what}: ${here}, by RFC 9309 ${rfc}`);
}
console.log(`the file of port 443 is that of port 8443: ${robots.isCached('https://site.example:8443')}`);
JS
{
	echo "robots-txt-parser $(node -p 'require("./node_modules/robots-txt-parser/package.json").version')"
	node ask.js
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
robots-txt-parser 2.0.3
a rule in the middle of a path: closed, by RFC 9309 open
a rule found in the host: open, by RFC 9309 closed
the first of two names: open, by RFC 9309 closed
the first of two groups: open, by RFC 9309 closed
the file of port 443 is that of port 8443: true
SEEN
