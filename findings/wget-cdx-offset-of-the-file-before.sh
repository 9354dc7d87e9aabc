#!/usr/bin/env bash
# GNU wget 1.21.3 with --warc-max-size and --warc-cdx gives an answer that begins a new archive the
# offset that it would have had in the one before.
#
# wget notes where the record is going to stand, then finds that the archive has its size and opens the
# next one. The line of the index has the name of the new archive and the offset of the old one, its
# whole length. By these two a record is found (fields g and V of CDX). At that place of the new archive
# there is the middle of another record, or its end has come. It happens whenever a request has filled
# the archive, which is rare where answers are large, and common where they are as small as a robots.txt.
# The archives are whole, and a crawl that has just one has a right index: only through the index of
# several are some answers not found. Compressed archives have it too.
#
# Seen with Debian's wget 1.21.3-1+deb12u1, without compression so that sizes are the same in each run,
# and warcio 2.4.11 (npm) on Node.js 20:
#
#   6 archives, 60 lines by wget, 60 by warcio
#   /20/robots.txt: wget got-00001.warc 12431, warcio got-00001.warc 603
#   /41/robots.txt: wget got-00003.warc 12450, warcio got-00003.warc 603
#   /62/robots.txt: wget got-00005.warc 12469, where the file has ended, warcio got-00005.warc 603
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg, python3, node and npm, and the
# libraries of wget.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download wget=1.21.3-1+deb12u1 >apt.log 2>&1 || { cat apt.log; exit 1; }
dpkg -x wget_*.deb debian
npm install --silent --no-fund --no-audit --prefix . warcio@2.4.11 >npm.log 2>&1 || { cat npm.log; exit 1; }

cat >serve.py <<'PY'
import http.server

class Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        body = b"User-agent: *\n" + b"Disallow: /private\n" * (int(self.path.split("/")[1]) % 11)
        self.send_response_only(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.HTTPServer(("127.0.0.1", 0), Site)
print(server.server_port, flush=True)
server.serve_forever()
PY
cat >compare.mjs <<'JS'
import { createReadStream, readFileSync, readdirSync, statSync } from 'node:fs';
import { CDXIndexer } from 'warcio';

const archives = readdirSync('.').filter((name) => /^got-\d+\.warc$/.test(name)).sort();
const right = new Map();
for (const filename of archives)
  for await (const { url, offset } of new CDXIndexer().iterIndex([{ reader: createReadStream(filename), filename }]))
    right.set(url, `${filename} ${offset}`);

const [head, ...lines] = readFileSync('got.cdx', 'utf8').trimEnd().split('\n');
const fields = head.trim().split(' ').slice(1);
const field = (line, letter) => line.split(' ')[fields.indexOf(letter)];
console.log(`${archives.length} archives, ${lines.length} lines by wget, ${right.size} by warcio`);
for (const line of lines) {
  const url = field(line, 'a');
  const there = `${field(line, 'g')} ${field(line, 'V')}`;
  if (there === right.get(url)) continue;
  const past = Number(field(line, 'V')) >= statSync(field(line, 'g')).size ? ', where the file has ended' : '';
  console.log(`${new URL(url).pathname}: wget ${there}${past}, warcio ${right.get(url)}`);
}
JS
mkfifo port
python3 serve.py >port &
server=$!
read -r port <port
for n in $(seq 10 69); do echo "http://127.0.0.1:$port/$n/robots.txt"; done >list
debian/usr/bin/wget --no-config --no-proxy --user-agent=wget -q -O page -i list --warc-file=got --warc-cdx \
  --warc-max-size=12000 --no-warc-compression --no-warc-keep-log --no-warc-digests
node compare.mjs | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
6 archives, 60 lines by wget, 60 by warcio
/20/robots.txt: wget got-00001.warc 12431, warcio got-00001.warc 603
/41/robots.txt: wget got-00003.warc 12450, warcio got-00003.warc 603
/62/robots.txt: wget got-00005.warc 12469, where the file has ended, warcio got-00005.warc 603
SEEN
