//go:build unix

package client

import (
	"bufio"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/robocensus/robocensus/robots/answer"
)

// ftpServer is an FTP server that others wrote, with a guest's folder.
type ftpServer struct {
	name string
	args func(config string) []string
	// config is the start of its configuration; $PORT, $ROOT, $USER and $GROUP are filled in.
	config string
}

var vsftpd = ftpServer{"vsftpd", func(config string) []string { return []string{config} }, `
listen=YES
listen_port=$PORT
listen_address=127.0.0.1
background=NO
anonymous_enable=YES
no_anon_password=YES
anon_root=$ROOT
ftp_username=$USER
nopriv_user=$USER
secure_chroot_dir=/var
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
`}

var proftpd = ftpServer{"proftpd", func(config string) []string { return []string{"-n", "-q", "-c", config} }, `
ServerName test
ServerType standalone
DefaultAddress 127.0.0.1
UseReverseDNS off
UseIPv6 off
Port $PORT
PidFile $ROOT.pid
ScoreboardFile $ROOT.scores
SystemLog $ROOT.log
WtmpLog off
AuthPAM off
RequireValidShell off
User $USER
Group $GROUP
<Anonymous $ROOT>
  User $USER
  Group $GROUP
  UserAlias anonymous $USER
  RequireValidShell off
  UseFtpUsers off
$GUEST
</Anonymous>
`}

// start runs the server with more configuration, at its end and for its guests. It skips the
// test if the server is not installed.
func (s ftpServer) start(t *testing.T, more, guest string) netip.AddrPort {
	t.Helper()
	path, err := exec.LookPath(s.name)
	if err != nil {
		if path, err = exec.LookPath("/usr/sbin/" + s.name); err != nil {
			t.Skipf("%s is not installed", s.name)
		}
	}
	if os.Getuid() != 0 {
		t.Skipf("%s serves guests only as root", s.name)
	}
	who, err := user.Lookup("daemon") // vsftpd wants a user with a folder
	if err != nil {
		t.Skip("there is no user daemon")
	}
	group, err := user.LookupGroupId(who.Gid)
	if err != nil {
		t.Skip("its group has no name")
	}
	dir, err := os.MkdirTemp("", "ftp") // t.TempDir is in a folder that guests may not read
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	root, config := filepath.Join(dir, "guests"), filepath.Join(dir, "conf")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	os.Chmod(dir, 0o755)
	os.WriteFile(filepath.Join(root, "robots.txt"), []byte("User-agent: *\nDisallow: /pub\n"), 0o644)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(l.Addr().String())
	l.Close()
	text := strings.NewReplacer("$PORT", fmt.Sprint(at.Port()), "$ROOT", root, "$USER", who.Username, "$GROUP",
		group.Name, "$GUEST", guest).Replace(s.config + more)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.CommandContext(t.Context(), path, s.args(config)...)
	var said strings.Builder
	server.Stdout, server.Stderr = &said, &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { server.Wait(); close(ended) }()
	t.Cleanup(func() { server.Process.Signal(os.Interrupt); server.Process.Kill(); <-ended })
	for {
		if conn, err := net.Dial("tcp", at.String()); err == nil {
			bufio.NewReader(conn).ReadString('\n')
			conn.Close()
			return at
		}
		select {
		case <-ended:
			t.Fatalf("%s does not start: %s", s.name, said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Only a 550 to RETR says that there is no file.
func TestRefusalsOfFTPServers(t *testing.T) {
	for _, row := range []struct {
		name        string
		server      ftpServer
		more, guest string
		missing     bool
		status      int
		class       answer.ErrorClass
	}{
		{"a file", vsftpd, "", "", false, 226, ""},
		{"no file", vsftpd, "", "", true, 550, ""},
		{"no PASV", vsftpd, "pasv_enable=NO\n", "", false, 550, answer.ErrorFTPRefused},
		{"no TYPE", vsftpd, "cmds_denied=TYPE\n", "", false, 550, answer.ErrorFTPRefused},
		{"no EPSV", vsftpd, "cmds_denied=EPSV\n", "", false, 226, ""},
		{"no guests", vsftpd, "anonymous_enable=NO\nlocal_enable=YES\n", "", false, 530, ""},
		{"a file", proftpd, "", "", false, 226, ""},
		{"no file", proftpd, "", "", true, 550, ""},
		{"a missing guest's folder", vsftpd, "anon_root=/nonexistent\n", "", false, 500, ""},
		{"no guests", proftpd, "", "<Limit LOGIN>\nDenyAll\n</Limit>\n", false, 530, ""},
		{"full", proftpd, "", "MaxClients 1\n", false, 530, answer.ErrorFTPRefused},
		{"TLS wanted", proftpd, "$TLS", "", false, 550, answer.ErrorFTPRefused},
	} {
		t.Run(row.server.name+", "+row.name, func(t *testing.T) {
			t.Parallel()
			if row.more == "$TLS" {
				row.more = requireTLS(t)
			}
			at := row.server.start(t, row.more, row.guest)
			if row.name == "full" {
				defer occupy(t, at)()
			}
			asked := "ftp://a.example"
			c := newClient(t, at, nil)
			if row.missing {
				from := serve(t, write("HTTP/1.1 302 Found\r\nLocation: ftp://"+at.String()+"/none.txt\r\n\r\n"))
				asked, c = "http://"+from.String(), newClient(t, netip.AddrPort{}, func(c *settings) { c.AllowPrivate = true })
			}
			got := c.Fetch(t.Context(), origin(t, asked))
			if got.Status() != row.status || got.Error != row.class || row.status == 226 != (len(got.Body) > 0) {
				t.Errorf("status %d, error %q (%v), body %q; want %d, %q", got.Status(), got.Error, got.Err, got.Body, row.status,
					row.class)
			}
		})
	}
}

// occupy logs in as a guest until leave is called.
func occupy(t *testing.T, at netip.AddrPort) (leave func()) {
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	for _, command := range []string{"", "USER anonymous\r\n", "PASS a@b.example\r\n"} {
		conn.Write([]byte(command))
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if len(line) > 3 && line[3] == ' ' {
				break
			}
		}
	}
	return func() { conn.Close() }
}

// requireTLS returns the configuration of a proftpd that admits nobody without TLS.
func requireTLS(t *testing.T) string {
	module := "/usr/lib/proftpd/mod_tls.so"
	if _, err := os.Stat(module); err != nil {
		t.Skip("proftpd's mod_tls is not installed")
	}
	pair := filepath.Join(t.TempDir(), "pair.pem")
	made, err := exec.Command("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
		"/CN=a.example", "-keyout", pair, "-out", pair+".crt").CombinedOutput()
	if err != nil {
		t.Skipf("openssl: %v: %s", err, made)
	}
	return "LoadModule mod_tls.c\nTLSEngine on\nTLSRequired on\nTLSLog none\nTLSRSACertificateFile " + pair +
		".crt\nTLSRSACertificateKeyFile " + pair + "\n"
}
