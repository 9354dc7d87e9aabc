#!/usr/bin/env bash
# robots-parse 0.0.6 (npm) lists each path of a Disallow line as allowed too.
#
# It looks for "Allow: /" anywhere in a line, and "Disallow: /" holds that text from its fourth
# letter on. So the list of allowed paths is the list of all paths. A crawler that asks it first
# fetches what the site closes. A second group of one name replaces the first, where RFC 9309
# (2.2.1) joins them, and a field without a blank behind its colon is not read at all.
#
# Seen on Node.js 20:
#
#   User-agent: * | Disallow: /private: allow /private, disallow /private
#   User-agent: * | Allow: /open: allow /open, disallow nothing
#   User-agent: * | Disallow: /a | User-agent: * | Disallow: /b: allow /b, disallow /b
#   User-agent: * | Disallow:/private: allow nothing, disallow nothing
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . robots-parse@0.0.6 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.js <<'JS'
const { parser } = require('robots-parse');

for (const lines of [
  ['User-agent: *', 'Disallow: /private'],
  ['User-agent: *', 'Allow: /open'],
  ['User-agent: *', 'Disallow: /a', 'User-agent: *', 'Disallow: /b'],
  ['User-agent: *', 'Disallow:/private'],
]) {
  const { allow, disallow } = parser(lines.join('\n') + '\n').agents.all;
  const say = (paths) => paths.join(' ') || 'nothing';
  console.log(`${lines.join(' | ')}: allow ${say(allow)}, disallow ${say(disallow)}`);
}
JS
node read.js | tee seen
diff - seen <<'SEEN'
User-agent: * | Disallow: /private: allow /private, disallow /private
User-agent: * | Allow: /open: allow /open, disallow nothing
User-agent: * | Disallow: /a | User-agent: * | Disallow: /b: allow /b, disallow /b
User-agent: * | Disallow:/private: allow nothing, disallow nothing
SEEN
