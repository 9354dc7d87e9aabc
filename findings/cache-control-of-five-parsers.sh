#!/usr/bin/env bash
# Of five parsers of Cache-Control in npm none reads six valid lines that all say "fresh for 60 seconds".
#
# Names of directives are compared without regard to case, and an argument may be a token or a quoted
# string (RFC 9111, 5.2), whose commas part nothing and whose backslash takes the next character as it
# is (RFC 9110, 5.6.4). Empty members of a list mean nothing (5.6.1.2). http-cache-semantics 4.3.0, on
# which npm's own cache stands, and parse-cache-control 1.0.1 know names in small letters alone, and
# the latter gives up a line at an empty member. The first and cache-control-parser 2.2.0 take what is
# inside quotes for a directive, and cache-parser 1.2.6 loses the right one by it. @tusbar/cache-control
# 3.0.1 does so behind an escaped quote, and forbids to store what the site lets be kept. Neither
# cache-parser nor cache-control-parser reads a number in quotes. RFC 9309 (2.4) lets crawlers keep a
# robots.txt by this field: how often they come depends on how its server spells it.
#
# Seen on Node.js 20:
#
#   max-age=60: read by all
#   Max-Age=60: http-cache-semantics 0, parse-cache-control nothing
#   max-age="60": cache-parser nothing, cache-control-parser nothing
#   max-age=60, ext="a, max-age=5": http-cache-semantics 5, cache-parser nothing, cache-control-parser 5
#   max-age=60, ext="a\"b, no-store": @tusbar/cache-control 60 and no-store
#   max-age=60, , public: parse-cache-control nothing
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . http-cache-semantics@4.3.0 parse-cache-control@1.0.1 \
  cache-parser@1.2.6 cache-control-parser@2.2.0 @tusbar/cache-control@3.0.1 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >read.cjs <<'JS'
const CachePolicy = require('http-cache-semantics');

function policy(line) {
  const answer = { status: 200, headers: { date: new Date().toUTCString(), 'cache-control': line } };
  return new CachePolicy({ method: 'GET', url: '/robots.txt', headers: {} }, answer, { shared: false });
}

const parsers = {
  'http-cache-semantics': (line) => [policy(line).maxAge(), !policy(line).storable()],
  'parse-cache-control': (line) => {
    const read = require('parse-cache-control')(line);
    return [read?.['max-age'], read?.['no-store']];
  },
  'cache-parser': (line) => {
    const read = require('cache-parser').parse(line);
    return [read.maxAge, read.noStore];
  },
  'cache-control-parser': (line) => {
    const read = require('cache-control-parser').parse(line);
    return [read['max-age'], read['no-store']];
  },
  '@tusbar/cache-control': (line) => {
    const read = require('@tusbar/cache-control').parse(line);
    return [read.maxAge, read.noStore];
  },
};
for (const line of [
  'max-age=60',
  'Max-Age=60',
  'max-age="60"',
  'max-age=60, ext="a, max-age=5"',
  'max-age=60, ext="a\\"b, no-store"',
  'max-age=60, , public',
]) {
  const others = Object.entries(parsers).flatMap(([name, parse]) => {
    const [age, store] = parse(line);
    return age === 60 && !store ? [] : [`${name} ${age ?? 'nothing'}${store ? ' and no-store' : ''}`];
  });
  console.log(`${line}: ${others.join(', ') || 'read by all'}`);
}
JS
node read.cjs | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
max-age=60: read by all
Max-Age=60: http-cache-semantics 0, parse-cache-control nothing
max-age="60": cache-parser nothing, cache-control-parser nothing
max-age=60, ext="a, max-age=5": http-cache-semantics 5, cache-parser nothing, cache-control-parser 5
max-age=60, ext="a\"b, no-store": @tusbar/cache-control 60 and no-store
max-age=60, , public: parse-cache-control nothing
SEEN
