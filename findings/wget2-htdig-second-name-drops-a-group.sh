#!/usr/bin/env bash
# Wget2 1.99.1 and ht://Dig 3.2.0b6 obey a group of several names only if theirs is the last.
#
# RFC 9309 lets a group begin with any number of user-agent lines, each of which it is for
# (section 2.2). These two decide anew at each such line whether the rules below concern them. A
# name that is not theirs, between theirs and the rules, turns the rules off again. So the order of
# names in a group, which means nothing, says whether the site is closed: "*" above "other" opens
# all of it, "other" above "*" closes what the rules say. Wget2 goes further. Once it has met a
# group that it takes, it reads no other: a group for wget2 below the one for "*" is as good as absent.
#
# A census that asks what these crawlers fetch cannot use the groups of the RFC for them.
#
# Seen with Debian's wget2 1.99.1-2.2 and htdig 1:3.2.0b6-19+b1, of the pages /a and /b:
#
#   *, other: wget2 /a /b               (User-agent: *, User-agent: other, Disallow: /a)
#   *, other: htdig /a /b
#   other, *: wget2 /b
#   other, *: htdig /b
#   * above NAME: wget2 /b              (*: Disallow: /a, and the crawler's own: Disallow: /b)
#   * above NAME: htdig /a
#   NAME above *: wget2 /a
#   NAME above *: htdig /a
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg and python3.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download wget2=1.99.1-2.2 libwget0=1.99.1-2.2 \
  htdig=1:3.2.0b6-19+b1 libgpgme11 libassuan0 libpcre2-8-0 >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" debian; done
lib=$work/debian/usr/lib
export LD_LIBRARY_PATH=$lib:$lib/htdig:$lib/htdig_db:$lib/x86_64-linux-gnu

cat >ask.py <<'PY'
import http.server, os, subprocess, sys, threading

asked, robots = [], b""

class Site(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        body, kind = b"<html>end</html>", "text/html"
        if self.path == "/robots.txt":
            body, kind = robots, "text/plain"
        elif self.path == "/":
            body = b'<html><a href="/a">a</a> <a href="/b">b</a></html>'
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            asked.append(self.path)
            self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
threading.Thread(target=server.serve_forever, daemon=True).start()
home = "http://127.0.0.1:%d/" % server.server_port
os.mkdir("index")
with open("htdig.conf", "w") as f:
    f.write(f"database_dir: {os.getcwd()}/index\ncommon_dir: {os.getcwd()}/debian/usr/share/htdig\n"
            f"start_url: {home}\nlimit_urls_to: {home}\n")
crawlers = {
    "wget2": ["debian/usr/bin/wget2", "-q", "--no-proxy", "-r", "-l", "1", "-P", "got", home],
    "htdig": ["debian/usr/bin/htdig", "-i", "-c", "htdig.conf"],
}
files = {
    "*, other": "User-agent: *\nUser-agent: other\nDisallow: /a\n",
    "other, *": "User-agent: other\nUser-agent: *\nDisallow: /a\n",
    "* above NAME": "User-agent: *\nDisallow: /a\n\nUser-agent: NAME\nDisallow: /b\n",
    "NAME above *": "User-agent: NAME\nDisallow: /b\n\nUser-agent: *\nDisallow: /a\n",
}
for title, text in files.items():
    for name, command in crawlers.items():
        asked.clear()
        robots = text.replace("NAME", name).encode()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        pages = sorted(set(asked) - {"/", "/robots.txt"})
        print(f"{title}: {name} {'' if '/robots.txt' in asked else 'without robots.txt '}{' '.join(pages)}")
PY
python3 ask.py | tee seen
diff - seen <<'SEEN'
*, other: wget2 /a /b
*, other: htdig /a /b
other, *: wget2 /b
other, *: htdig /b
* above NAME: wget2 /b
* above NAME: htdig /a
NAME above *: wget2 /a
NAME above *: htdig /a
SEEN
