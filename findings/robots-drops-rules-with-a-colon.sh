#!/usr/bin/env bash
# robots 0.10.1 (npm) drops each line of a robots.txt that has a second colon, so that no namespace
# of a wiki is closed.
#
# It takes a line for a field and its value only if the colon between them is the last one. A path
# may have colons (RFC 9309, 2.2: any character but controls, blanks and "#"), and that of each special page,
# talk and user of MediaWiki has one. "Disallow: /wiki/Special:" closes nothing then, without a word;
# with the colon as %3A it is read. The scheme and port of a sitemap are spared, and so is a path
# whose colon stands before digits and a slash.
#
# Of two groups for "*" it reads the first alone, where the RFC (2.2.1) wants them combined, and a
# group ends at a blank line between its name and its rules, which then are nobody's.
#
# Seen on Node.js 20:
#
#   robots 0.10.1
#   User-agent: * | Disallow: /wiki/Special: - /wiki/Special:Search allowed
#   User-agent: * | Disallow: /wiki/Special%3A - /wiki/Special:Search closed
#   User-agent: * | Disallow: /wiki/Special - /wiki/Special:Search closed
#   User-agent: * | Disallow: /at/12:30/ - /at/12:30/ closed
#   User-agent: * | Disallow: /a | User-agent: * | Disallow: /b - /b allowed
#   User-agent: * |  | Disallow: /b - /b allowed
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . robots@0.10.1 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >ask.js <<'JS'
const { RobotsParser } = require('robots');

const questions = [
  ['/wiki/Special:Search', 'User-agent: *', 'Disallow: /wiki/Special:'],
  ['/wiki/Special:Search', 'User-agent: *', 'Disallow: /wiki/Special%3A'],
  ['/wiki/Special:Search', 'User-agent: *', 'Disallow: /wiki/Special'],
  ['/at/12:30/', 'User-agent: *', 'Disallow: /at/12:30/'],
  ['/b', 'User-agent: *', 'Disallow: /a', 'User-agent: *', 'Disallow: /b'],
  ['/b', 'User-agent: *', '', 'Disallow: /b'],
];

console.log(`robots ${require('robots/package.json').version}`);
for (const [url, ...lines] of questions) {
  const parser = new RobotsParser().parse(lines);
  console.log(`${lines.join(' | ')} - ${url} ${parser.canFetchSync('bot', url) ? 'allowed' : 'closed'}`);
}
JS
node ask.js | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
robots 0.10.1
User-agent: * | Disallow: /wiki/Special: - /wiki/Special:Search allowed
User-agent: * | Disallow: /wiki/Special%3A - /wiki/Special:Search closed
User-agent: * | Disallow: /wiki/Special - /wiki/Special:Search closed
User-agent: * | Disallow: /at/12:30/ - /at/12:30/ closed
User-agent: * | Disallow: /a | User-agent: * | Disallow: /b - /b allowed
User-agent: * |  | Disallow: /b - /b allowed
SEEN
