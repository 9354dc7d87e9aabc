#!/usr/bin/env bash
# robots-txt-guard 1.0.2 (npm) says of a site that closes nothing that it closes everything.
#
# isDisallowAll is to say whether an agent may fetch no page at all. It counts the rules that allow
# something or close a part. Of a group without any such rule it says that all is closed, although
# isAllowed allows every path: of "Disallow:" with no path, the oldest way to say that all is open
# (RFC 9309, 5.1), and of a group that has a crawl-delay alone. Who asks once for a site instead of
# for each URL leaves such sites out.
#
# Of several groups of one name it reads the first, where RFC 9309 (2.2.1) demands that their rules
# be combined: what the second closes stands open. And robots-txt-parse 2.0.1, whose result it takes,
# begins a new group after any line that is no rule, a sitemap or a delay between two names. The names
# above it are then left without rules, which other lines must not bring about (2.2.4).
#
# Seen on Node.js 20:
#
#   robots-txt-guard 1.0.2, robots-txt-parse 2.0.1
#   User-agent: * | Disallow: : /a allowed; disallow all: true
#   User-agent: * | Crawl-delay: 1: /a allowed; disallow all: true
#   User-agent: * | Disallow: /a: /a closed; disallow all: false
#   User-agent: * | Disallow: /b | User-agent: * | Disallow: /a: /a allowed; disallow all: false
#   User-agent: bot | User-agent: other | Disallow: /a: /a closed; disallow all: false
#   User-agent: bot | Sitemap: https://s.example/s | User-agent: other | Disallow: /a: /a allowed; disallow all: true
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . robots-txt-guard@1.0.2 robots-txt-parse@2.0.1 >npm.log 2>&1 ||
	{ cat npm.log; exit 1; }

cat >ask.js <<'JS'
const { Readable } = require('stream');
const guard = require('robots-txt-guard');
const parse = require('robots-txt-parse');

const version = name => `${name} ${require(`${name}/package.json`).version}`;
const files = [
  ['User-agent: *', 'Disallow: '],
  ['User-agent: *', 'Crawl-delay: 1'],
  ['User-agent: *', 'Disallow: /a'],
  ['User-agent: *', 'Disallow: /b', 'User-agent: *', 'Disallow: /a'],
  ['User-agent: bot', 'User-agent: other', 'Disallow: /a'],
  ['User-agent: bot', 'Sitemap: https://s.example/s', 'User-agent: other', 'Disallow: /a'],
];

(async () => {
  console.log(`${version('robots-txt-guard')}, ${version('robots-txt-parse')}`);
  for (const lines of files) {
    const robots = guard(await parse(Readable.from([lines.join('\n') + '\n'])));
    const verdict = robots.isAllowed('bot', '/a') ? 'allowed' : 'closed';
    console.log(`${lines.join(' | ')}: /a ${verdict}; disallow all: ${robots.isDisallowAll('bot')}`);
  }
})();
JS
node ask.js | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
robots-txt-guard 1.0.2, robots-txt-parse 2.0.1
User-agent: * | Disallow: : /a allowed; disallow all: true
User-agent: * | Crawl-delay: 1: /a allowed; disallow all: true
User-agent: * | Disallow: /a: /a closed; disallow all: false
User-agent: * | Disallow: /b | User-agent: * | Disallow: /a: /a allowed; disallow all: false
User-agent: bot | User-agent: other | Disallow: /a: /a closed; disallow all: false
User-agent: bot | Sitemap: https://s.example/s | User-agent: other | Disallow: /a: /a allowed; disallow all: true
SEEN
