#!/usr/bin/env bash
# nginx 1.22.1 as a cache, with proxy_cache_revalidate, passes on the header fields of an answer from
# the day on which its file was last changed, although the site has told it newer ones by 304.
#
# A cache that is told 304 must update the fields of the answer that it has by those of the 304, all
# but Content-Length and the like (RFC 9111, 4.3.4 and 3.2). nginx goes by them for itself, as to when
# it asks next, and keeps none of them. What it hands out stays as it was until the site sends the file
# again: a Cache-Control by which crawlers keep a robots.txt for a day, where the site says minutes by
# now, and an X-Robots-Tag that lets pages be indexed. As the file itself is right and each question is
# answered, no side sees it: the site finds the new fields when it asks its own server, and whoever
# takes a census finds the old ones, week after week. Apache's mod_cache passes on what the 304 says.
#
# Seen with Debian's nginx 1.22.1-9+deb12u11 and apache2 2.4.71-1~deb12u1:
#
#   the site says: 200 all, max-age=86400; nginx all, max-age=86400; Apache all, max-age=86400
#   the site says: 304 noindex, max-age=600; nginx all, max-age=86400; Apache noindex, max-age=600
#   the site says: 304 noindex, max-age=600; nginx all, max-age=86400; Apache noindex, max-age=600
#   the site says: 200 noindex, max-age=600; nginx noindex, max-age=600; Apache noindex, max-age=600
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg, python3, and the libraries of
# nginx and Apache.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -o APT::Sandbox::User=root download nginx=1.22.1-9+deb12u11 apache2-bin libapr1 libaprutil1 \
  >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" debian; done
# Apache keeps answers as nobody where it is started by root.
mkdir kept
chmod 755 .
chmod 777 kept

cat >ask.py <<'PY'
import glob, http.server, os, socket, subprocess, threading, time, urllib.request

work = os.getcwd()
modules = "mpm_event authz_core proxy proxy_http cache cache_disk".split()
libraries = glob.glob(f"{work}/debian/usr/lib/*-linux-gnu")[0]

nginx = """
daemon off; master_process off; pid {work}/nginx.pid; events {{}}
http {{
  access_log off;
  client_body_temp_path {work}/n1; proxy_temp_path {work}/n2; fastcgi_temp_path {work}/n3;
  uwsgi_temp_path {work}/n4; scgi_temp_path {work}/n5;
  proxy_cache_path {work}/n6 keys_zone=kept:1m;
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://127.0.0.1:{site}; proxy_cache kept; proxy_cache_revalidate on; }}
  }}
}}
"""
apache = """
ServerName site.example
PidFile {work}/apache.pid
ErrorLog {work}/apache.log
DefaultRuntimeDir {work}
Listen 127.0.0.1:{port}
{modules}
User nobody
Group nogroup
CacheRoot {work}/kept
CacheEnable disk /
ProxyPass / http://127.0.0.1:{site}/
"""

class Site(http.server.BaseHTTPRequestHandler):
    """A file that is changed at the fourth request, whose fields are changed at the second."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        said = self.server.said
        robots, age = ("noindex", 600) if said else ("all", 86400)
        tag = '"one"' if len(said) < 3 else '"two"'
        status = 304 if self.headers.get("If-None-Match") == tag else 200
        said.append(f"{status} {robots}, max-age={age}")
        self.send_response(status)
        self.send_header("ETag", tag)
        self.send_header("Cache-Control", f"max-age={age}, s-maxage=1")
        self.send_header("X-Robots-Tag", robots)
        if status == 200:
            self.send_header("Content-Length", "24")
        self.end_headers()
        if status == 200:
            self.wfile.write(b"User-agent: *\nDisallow:\n")

def through(configuration, *command):
    """Asks a site four times through the cache, and returns what the site said and what the cache passed on."""
    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    site.said, passed = [], []
    threading.Thread(target=site.serve_forever, daemon=True).start()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with open("conf", "w") as conf:
        loaded = "\n".join(f"LoadModule {m}_module {work}/debian/usr/lib/apache2/modules/mod_{m}.so" for m in modules)
        conf.write(configuration.format(work=work, port=port, site=site.server_port, modules=loaded))
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries}
    with open("log", "w") as log:
        cache = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except ConnectionRefusedError:
                time.sleep(0.1)
        for _ in range(4):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/robots.txt") as answer:
                age = answer.headers["Cache-Control"].split(",")[0]
                passed.append(f"{answer.headers['X-Robots-Tag']}, {age}")
            time.sleep(2.1)
    finally:
        cache.terminate()
        cache.wait()
    return site.said, passed

said, ours = through(nginx, "debian/usr/sbin/nginx", "-e", f"{work}/nginx.log", "-c", f"{work}/conf")
also, theirs = through(apache, "debian/usr/sbin/apache2", "-X", "-d", work, "-f", f"{work}/conf")
if said != also:
    raise SystemExit(f"asked in two ways: {said}, {also}")
for site, one, other in zip(said, ours, theirs):
    print(f"the site says: {site}; nginx {one}; Apache {other}")
PY
no_proxy=127.0.0.1 timeout 120 python3 ask.py | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
the site says: 200 all, max-age=86400; nginx all, max-age=86400; Apache all, max-age=86400
the site says: 304 noindex, max-age=600; nginx all, max-age=86400; Apache noindex, max-age=600
the site says: 304 noindex, max-age=600; nginx all, max-age=86400; Apache noindex, max-age=600
the site says: 200 noindex, max-age=600; nginx noindex, max-age=600; Apache noindex, max-age=600
SEEN
