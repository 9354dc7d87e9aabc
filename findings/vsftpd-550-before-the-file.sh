#!/usr/bin/env bash
# vsftpd 3.0.3 answers PASV, EPSV and TYPE with 550 where its configuration forbids them.
#
# RFC 959 lists 550 ("requested action not taken, file unavailable") among the replies to
# commands on files, RETR, DELE, CWD and the like, and none of it for PASV and TYPE
# (section 5.4); RFC 2428 has 5yz codes of its own for EPSV. With pasv_enable=NO or
# cmds_denied=TYPE a guest gets 550 all the same, before a file was named. A client that
# takes the last 550 for "no such file" reports a robots.txt as missing that is there, and a
# crawler then takes the whole server for open. Only a 550 to RETR is about the file.
#
# Seen with Debian's vsftpd 3.0.3-13+b2:
#
#   pasv_enable=NO: TYPE 200, PASV 550, EPSV 550
#   cmds_denied=TYPE: TYPE 550, PASV 227, EPSV 229
#   neither: TYPE 200, PASV 227, EPSV 229
#
# Exits with 0 if it is still so, with 1 if not. Needs apt-get, dpkg, python3, and root, as
# which alone vsftpd serves guests.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
chmod 755 . # guests must reach their folder
mkdir -m 755 guests
echo "User-agent: *" >guests/robots.txt
apt-get -o APT::Sandbox::User=root download vsftpd=3.0.3-13+b2 libwrap0 >apt.log 2>&1 || { cat apt.log; exit 1; }
for package in *.deb; do dpkg -x "$package" debian; done
export LD_LIBRARY_PATH
LD_LIBRARY_PATH=$(dirname "$(find "$work/debian" -name 'libwrap.so.0' | head -n 1)")

cat >ask.py <<'PY'
import socket, sys, time

def reply(f):
    while True:
        line = f.readline().decode()
        if not line or line[3:4] == " ":
            return line[:3]

for attempt in range(200):
    try:
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
        break
    except ConnectionRefusedError:
        time.sleep(0.05)
f = s.makefile("rb")
reply(f)
said = []
for command in ["USER anonymous", "TYPE I", "PASV", "EPSV"]:
    s.sendall(command.encode() + b"\r\n")
    code = reply(f)
    if command != "USER anonymous":
        said.append(command.split()[0] + " " + code)
print(", ".join(said))
PY

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
ask() { # name, line of the configuration
  cat >conf <<CONF
listen=YES
listen_port=$port
listen_address=127.0.0.1
background=NO
anonymous_enable=YES
no_anon_password=YES
anon_root=$work/guests
ftp_username=daemon
nopriv_user=daemon
secure_chroot_dir=/var
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
$2
CONF
  "$work/debian/usr/sbin/vsftpd" "$work/conf" &
  server=$!
  echo "$1: $(python3 ask.py "$port")"
  kill "$server"
  wait "$server" 2>/dev/null || true
  server=
}
{
  ask pasv_enable=NO pasv_enable=NO
  ask cmds_denied=TYPE cmds_denied=TYPE
  ask neither ""
} | tee seen
diff seen - <<'SEEN'
pasv_enable=NO: TYPE 200, PASV 550, EPSV 550
cmds_denied=TYPE: TYPE 550, PASV 227, EPSV 229
neither: TYPE 200, PASV 227, EPSV 229
SEEN
