#!/usr/bin/env bash
# hapi-robots 3.2.2 (npm) adds its own groups to those that a site has configured.
#
# It merges its default options deeply into the site's, lists of paths included. For the environment
# "*", which serves all that is not listed, the default is "Disallow: /" for everybody. So a site
# that says there that everybody may fetch everything is served closed, and one that names a single
# bot there has everybody else shut out by a group that it never wrote. The same list under another
# name of an environment is served as it stands.
#
# Seen on Node.js 20 with @hapi/hapi 21.4.10:
#
#   hapi-robots 3.2.2
#   {"*":{"*":[]}}: User-agent: *|Disallow: /
#   {"*":{"examplebot":["/x"]}}: User-agent: examplebot|Disallow: /x|User-agent: *|Disallow: /
#   {"staging":{"*":[]}}: User-agent: *|Disallow:
#
# Exits with 0 if it is still so, with 1 if not. Needs node and npm.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . @hapi/hapi@21.4.10 hapi-robots@3.2.2 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >write.js <<'JS'
const Hapi = require('@hapi/hapi');
const plugin = require('hapi-robots');

(async () => {
  for (const envs of [
    { '*': { '*': [] } },
    { '*': { examplebot: ['/x'] } },
    { staging: { '*': [] } },
  ]) {
    const given = JSON.stringify(envs); // the plugin writes into it
    const server = Hapi.server();
    await server.register({ plugin, options: { envs, env: 'staging', verbose: false } });
    const { payload } = await server.inject('/robots.txt');
    console.log(`${given}: ${payload.replace(/\n$/, '').replaceAll('\n', '|')}`);
  }
})();
JS
{
	echo "hapi-robots $(node -p 'require("./node_modules/hapi-robots/package.json").version')"
	node write.js
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
hapi-robots 3.2.2
{"*":{"*":[]}}: User-agent: *|Disallow: /
{"*":{"examplebot":["/x"]}}: User-agent: examplebot|Disallow: /x|User-agent: *|Disallow: /
{"staging":{"*":[]}}: User-agent: *|Disallow:
SEEN
