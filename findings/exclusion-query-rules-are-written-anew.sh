#!/usr/bin/env bash
# exclusion 0.2.0 (npm, a parser of robots.txt by RFC 9309) closes a whole site for a rule that
# closes its URLs with a query, and opens pages that a rule on a query closes.
#
# It writes the query of a rule anew with URLSearchParams, as if the rule were a URL: an empty
# query loses its question mark, and a name without a value gets "=". But a rule is the beginning
# of a path (RFC 9309, 2.2.2). So "Disallow: /*?" becomes "/*", and "/*?p" becomes "/*?p=", which
# "/list?page=2" does not begin with. Of 2,156 real files 13 have the first rule, and 23 one of
# the second form. And a group whose name holds "netscrape", the name of the crawler that the
# parser was written for, binds every crawler: that name is built in.
#
# Seen on Node.js 20:
#
#   exclusion 0.2.0
#   Disallow: /*? closes /page
#   Disallow: /? closes /page
#   Disallow: /list? closes /listing
#   Disallow: /*?p opens /list?page=2
#   Disallow: /*?page= closes /list?page=2
#   a group of netscrape binds examplebot: true
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . exclusion@0.2.0 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >ask.mjs <<'JS'
import { RobotsTxt } from 'exclusion';

const allows = (file, path) => new RobotsTxt(file).isPathAllowed(path, 'examplebot');

for (const [rule, path] of [
  ['Disallow: /*?', '/page'],
  ['Disallow: /?', '/page'],
  ['Disallow: /list?', '/listing'],
  ['Disallow: /*?p', '/list?page=2'],
  ['Disallow: /*?page=', '/list?page=2'],
]) {
  console.log(`${rule} ${allows(`User-agent: *\n${rule}\n`, path) ? 'opens' : 'closes'} ${path}`);
}
console.log(`a group of netscrape binds examplebot: ${!allows('User-agent: netscrape\nDisallow: /\n', '/')}`);
JS
{
	echo "exclusion $(node -p 'require("./node_modules/exclusion/package.json").version')"
	node ask.mjs
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
exclusion 0.2.0
Disallow: /*? closes /page
Disallow: /? closes /page
Disallow: /list? closes /listing
Disallow: /*?p opens /list?page=2
Disallow: /*?page= closes /list?page=2
a group of netscrape binds examplebot: true
SEEN
