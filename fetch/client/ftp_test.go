package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"goftp.io/server/v2"
	"goftp.io/server/v2/driver/file"

	"github.com/robocensus/robocensus/robots/answer"
)

// secret is in the text of every reply and must not appear in any error.
const secret = "SECRET"

func TestAnswersOfFTP(t *testing.T) {
	long := strings.Repeat("x", 1000)
	on := func(verb, reply string) ftpScript { return ftpScript{replies: map[string]string{verb: reply}} }
	passive := func(reply string) ftpScript {
		return ftpScript{replies: map[string]string{"EPSV": "500 what?", "PASV": reply}}
	}
	for _, row := range []struct {
		name      string
		server    ftpScript
		status    int
		class     answer.ErrorClass
		body      string // "-" for none
		truncated bool
	}{
		{"a whole file", ftpScript{}, 226, "", "abc", false},
		{"an empty file", ftpScript{send: sends("")}, 226, "", "", false},
		{"250 for the end", on("done", "250 done"), 250, "", "abc", false},
		{"a greeting of several lines", on("", "220-welcome\r\n  530 to all\r\n220-and\r\n530 more\r\n220 ready"), 226, "",
			"abc", false},
		{"no password wanted", on("USER", "230 in"), 226, "", "abc", false},
		{"FEAT unknown", on("FEAT", "500 what?"), 226, "", "abc", false},
		{"EPSV unknown", on("EPSV", "500 what?"), 226, "", "abc", false},
		{"exactly the limit", ftpScript{send: sends(long)}, 226, "", long, false},
		{"one over the limit", ftpScript{send: sends(long + "x")}, 226, "", long, true},
		{"far over the limit", ftpScript{send: func(c *net.TCPConn) {
			for {
				if _, err := io.WriteString(c, long); err != nil {
					return
				}
			}
		}}, 226, "", long, true},

		{"no such file", on("RETR", "550 no such file"), 550, "", "-", false},
		{"busy", on("RETR", "450 busy"), 450, "", "-", false},
		{"no data connection", on("RETR", "425 cannot"), 425, "", "-", false},
		{"no guests", on("USER", "530 no"), 530, "", "-", false},
		{"no guests, and goodbye at once", on("USER", "530 no\r\n221 goodbye\r\nclose"), 530, "", "-", false},
		{"the password is refused", on("PASS", "530-no\r\n530 no"), 530, "", "-", false},
		{"an account is wanted", on("PASS", "332 account?"), 332, "", "-", false},
		{"too many users", on("", "421 too many\r\nclose"), 421, "", "-", false},
		{"the greeting asks to wait", on("", "120 ready in 5 minutes"), 120, "", "-", false},
		{"shutting down amid the session", on("FEAT", "421 shutting down\r\nclose"), 421, "", "-", false},
		{"no passive mode", passive("502 no"), 502, "", "-", false},
		{"a reply like a redirect is none", on("RETR", "301 elsewhere"), 301, "", "-", false},

		// Recorded from vsftpd 3.0.3 and proftpd 1.3.8, without their text.
		{"vsftpd with pasv_enable=NO", ftpScript{replies: map[string]string{"EPSV": "550 Permission denied.",
			"PASV": "550 Permission denied."}}, 550, answer.ErrorFTPRefused, "-", false},
		{"vsftpd with cmds_denied=TYPE", on("TYPE", "550 Permission denied."), 550, answer.ErrorFTPRefused, "-", false},
		{"EPSV alone refused by 550", on("EPSV", "550 Permission denied."), 226, "", "abc", false},
		{"proftpd that requires TLS", on("USER", "550 SSL/TLS required on the control channel"), 550, answer.ErrorFTPRefused,
			"-", false},
		{"550 for a password", on("PASS", "550 no"), 550, answer.ErrorFTPRefused, "-", false},
		{"550 for a greeting", on("", "550 no"), 550, answer.ErrorFTPRefused, "-", false},
		{"550 for the end", on("done", "550 fault"), 550, answer.ErrorTruncatedBody, "abc", false},
		{"a full proftpd", on("PASS", "530 Sorry, the maximum number of clients (1) for this user are already connected."),
			530, answer.ErrorFTPRefused, "-", false},
		{"proftpd without guests", on("PASS", "530 Login incorrect."), 530, "", "-", false},

		{"success out of turn", on("RETR", "226 done"), 0, answer.ErrorProtocol, "-", false},
		{"no port in the reply", passive("227 (127,0,0,1)"), 0, answer.ErrorProtocol, "-", false},
		{"brackets the wrong way round", passive("227 )("), 0, answer.ErrorProtocol, "-", false},
		{"a port that is none", on("EPSV", "229 (|||65536|)"), 0, answer.ErrorProtocol, "-", false},
		{"a negative port", passive("227 (127,0,0,1,-4,0)"), 0, answer.ErrorProtocol, "-", false},
		{"a port of the system", on("EPSV", "229 (|||25|)"), 0, answer.ErrorProtocol, "-", false},
		{"a port of the system, by PASV", passive("227 (127,0,0,1,3,255)"), 0, answer.ErrorProtocol, "-", false},
		{"not FTP", on("", "SSH-2.0-OpenSSH_9.2"), 0, answer.ErrorProtocol, "-", false},
		{"not FTP after a while", on("TYPE", "okay"), 0, answer.ErrorProtocol, "-", false},
		{"closed before a word", on("", "close"), 0, answer.ErrorReset, "-", false},
		{"closed amid the session", on("PASS", "close"), 0, answer.ErrorReset, "-", false},
		{"closed after EPSV is refused", on("EPSV", "500 what?\r\nclose"), 0, answer.ErrorReset, "-", false},
		{"a greeting without end", on("", strings.Repeat("220-on and on\r\n", 10_000)), 0, answer.ErrorHeaderTooLarge, "-",
			false},
		{"a line without end", on("PASS", "230 "+strings.Repeat("x", 100_000)), 0, answer.ErrorHeaderTooLarge, "-", false},
		{"a line without end where a refusal is passed over", on("EPSV", "500 "+strings.Repeat("x", 100_000)), 0,
			answer.ErrorHeaderTooLarge, "-", false},

		{"the transfer is given up", on("done", "426 aborted"), 426, answer.ErrorTruncatedBody, "abc", false},
		{"a fault of the disk", on("done", "451 fault"), 451, answer.ErrorTruncatedBody, "abc", false},
		{"closed without the last reply", on("done", "close"), 0, answer.ErrorTruncatedBody, "abc", false},
		{"noise for the last reply", on("done", "okay"), 0, answer.ErrorProtocol, "abc", false},
		{"a last reply without end", on("done", strings.Repeat("226-on and on\r\n", 10_000)), 0, answer.ErrorHeaderTooLarge,
			"abc", false},
		{"a reset in the transfer", ftpScript{send: reset}, 0, answer.ErrorReset, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			at, _ := serveFTP(t, row.server)
			got := newClient(t, at, nil).Fetch(context.Background(), origin(t, "ftp://a.example"))
			if got.Status() != row.status || got.Error != row.class || got.Truncated != row.truncated {
				t.Errorf("status %d, error %q (%v), truncated %v; want %d, %q, %v",
					got.Status(), got.Error, got.Err, got.Truncated, row.status, row.class, row.truncated)
			}
			if !hasBody(got, row.body) {
				t.Errorf("body %.40q, want %.40q", got.Body, row.body)
			}
			if (got.Error != "") != (got.Err != nil) || got.Err != nil && strings.Contains(got.Err.Error(), secret) {
				t.Errorf("error %q beside %v", got.Error, got.Err)
			}
			if got.Remote != at || got.HTTPVersion != "" || got.TLSVersion != "" || got.Times.Connect == nil ||
				got.Attempts != 1 {
				t.Errorf("remote %v, HTTP %q, TLS %q, times %+v, %d attempts", got.Remote, got.HTTPVersion, got.TLSVersion,
					got.Times, got.Attempts)
			}
			if diff := cmp.Diff([]answer.Hop{{URL: "ftp://a.example/robots.txt", Status: row.status}}, got.Hops); diff != "" {
				t.Errorf("hops (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFTPSendsOnlyNecessaryCommands(t *testing.T) {
	at, asked := serveFTP(t, ftpScript{})
	newClient(t, at, nil).Fetch(context.Background(), origin(t, "ftp://a.example"))
	want := []string{"USER anonymous", "PASS robocensus@", "FEAT", "TYPE I", "EPSV", "RETR robots.txt", "QUIT"}
	if diff := cmp.Diff(want, <-asked); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
}

// RFC 2577: a server must not be able to make us contact another address.
func TestPassiveModeLeadsToNoOtherAddress(t *testing.T) {
	other, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("no second address on loopback")
	}
	defer other.Close()
	port := other.Addr().(*net.TCPAddr).Port
	here, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port))
	if err != nil {
		t.Skip("the port is taken here")
	}
	defer here.Close()
	met := make(chan string, 2)
	for name, l := range map[string]net.Listener{"other": other, "here": here} {
		go func() {
			if c, err := l.Accept(); err == nil {
				met <- name
				c.Close()
			}
		}()
	}
	at, _ := serveFTP(t, ftpScript{replies: map[string]string{
		"EPSV": "500 what?", "PASV": fmt.Sprintf("227 (127,0,0,2,%d,%d)", port>>8, port&255),
		"RETR": "150 from there\r\n226 done",
	}})
	got := newClient(t, at, nil).Fetch(context.Background(), origin(t, "ftp://a.example"))
	who := "nowhere"
	select {
	case who = <-met: // sent before the end of the data, for which Fetch waits
	default:
	}
	if who != "here" || got.Status() != 226 || got.Error != "" {
		t.Errorf("the data came from %s, status %d, error %q (%v)", who, got.Status(), got.Error, got.Err)
	}
}

func TestADataPortThatIsClosed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().(*net.TCPAddr).Port
	l.Close()
	at, _ := serveFTP(t, ftpScript{replies: map[string]string{"EPSV": fmt.Sprintf("229 (|||%d|)", free)}})
	got := newClient(t, at, nil).Fetch(context.Background(), origin(t, "ftp://a.example"))
	if got.Error != answer.ErrorConnectRefused || got.Status() != 0 || !strings.HasPrefix(got.Err.Error(),
		"data connection: ") {
		t.Errorf("status %d, error %q (%v)", got.Status(), got.Error, got.Err)
	}
}

func TestAHangOfFTPEndsAtTheDeadline(t *testing.T) {
	for name, server := range map[string]ftpScript{
		"before the greeting": {replies: map[string]string{"": ""}},
		"amid the session":    {replies: map[string]string{"PASS": ""}},
		"in a reply":          {replies: map[string]string{"PASS": "230-soon"}},
		"before the transfer": {replies: map[string]string{"RETR": ""}},
		"in the transfer":     {send: func(c *net.TCPConn) { io.WriteString(c, "abc"); io.Copy(io.Discard, c) }},
		"before the end":      {replies: map[string]string{"done": ""}},
	} {
		at, _ := serveFTP(t, server)
		c := newClient(t, at, func(c *settings) { c.Timeout, c.Retries = 300*time.Millisecond, 5 })
		got := c.Fetch(context.Background(), origin(t, "ftp://a.example"))
		if got.Error != answer.ErrorTimeout || got.Status() != 0 {
			t.Errorf("%s: status %d, %q (%v)", name, got.Status(), got.Error, got.Err)
		}
	}
}

func TestCancelWakesATransfer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	at, _ := serveFTP(t, ftpScript{send: func(c *net.TCPConn) { cancel(); io.Copy(io.Discard, c) }})
	got := newClient(t, at, func(c *settings) { c.Timeout = time.Hour }).Fetch(ctx, origin(t, "ftp://a.example"))
	if got.Error != answer.ErrorCanceled {
		t.Errorf("error %q (%v)", got.Error, got.Err)
	}
}

func TestRetriesOfFTP(t *testing.T) {
	for _, row := range []struct {
		verb, reply      string
		stays            bool
		status, attempts int
	}{
		{"", "421 too many\r\nclose", false, 226, 2},
		{"RETR", "450 busy", false, 226, 2},
		{"done", "426 aborted", false, 226, 2},
		{"TYPE", "503 not now", true, 503, 2}, // with HTTP it would be retried "often"
		{"RETR", "550 no such file", true, 550, 1},
		{"PASS", "530 Sorry, the maximum number of clients (1) are already connected.", false, 226, 2},
		{"TYPE", "550 Permission denied.", true, 550, 2},
		{"USER", "530 no", true, 530, 1},
	} {
		t.Run(row.reply[:3]+" to "+row.verb, func(t *testing.T) {
			t.Parallel()
			at, _ := serveFTP(t, ftpScript{nth: func(n int, s *ftpScript) {
				if n == 1 || row.stays {
					s.replies = map[string]string{row.verb: row.reply}
				}
			}})
			c := newClient(t, at, func(c *settings) { c.Retries, c.Timeout = 1, 20*time.Second })
			got := c.Fetch(context.Background(), origin(t, "ftp://a.example"))
			if got.Status() != row.status || got.Attempts != row.attempts {
				t.Errorf("status %d after %d attempts, want %d after %d", got.Status(), got.Attempts, row.status, row.attempts)
			}
		})
	}
}

func TestRedirectsToFTP(t *testing.T) {
	for _, row := range []struct {
		path, command string // "": no command
	}{
		{"/robots.txt", "RETR robots.txt"},
		{"/pub/a%20b%C3%A9.txt?c", "RETR pub/a bé.txt?c"},
		{"/%2Fetc/motd", "RETR /etc/motd"},
		{"/100%25d.txt", "RETR 100%d.txt"},
		{"/x%0D%0ADELE%20y", ""},
		{"/x%0ADELE%20y", ""},
		{"/x?%0d", ""},
		{"/x%00y", ""},
		{"/", ""},
		{"", ""},
	} {
		at, asked := serveFTP(t, ftpScript{})
		to := "ftp://" + at.String() + row.path
		from := serve(t, func(c *net.TCPConn, _ *http.Request, _ int) {
			fmt.Fprintf(c, "HTTP/1.1 302 Found\r\nServer: x\r\nLocation: %s\r\n\r\n", to)
		})
		c := newClient(t, netip.AddrPort{}, func(c *settings) { c.AllowPrivate = true })
		got := c.Fetch(context.Background(), origin(t, "http://"+from.String()))
		if row.command == "" {
			if got.Error != answer.ErrorRedirectInvalid || got.Status() != 0 {
				t.Errorf("%s: status %d, error %q (%v)", to, got.Status(), got.Error, got.Err)
			}
			continue
		}
		if commands := <-asked; !strings.Contains(strings.Join(commands, "\n")+"\n", "\n"+row.command+"\n") {
			t.Errorf("%s: asked %q, want %q", to, commands, row.command)
		}
		if got.Status() != 226 || got.Error != "" || string(got.Body) != "abc" || len(got.Hops) != 2 ||
			got.HTTPVersion != "" || got.Headers.Server != nil {
			t.Errorf("%s: %+v", to, got)
		}
	}
	c := newClient(t, netip.AddrPort{}, nil)
	got := c.Fetch(context.Background(), origin(t, "ftp://127.0.0.1"))
	if got.Error != answer.ErrorAddressBlocked {
		t.Errorf("without AllowPrivate: error %q (%v)", got.Error, got.Err)
	}
}

// guests admits nobody else.
type guests struct{}

func (guests) CheckPasswd(_ *server.Context, user, password string) (bool, error) {
	return user == "anonymous" && strings.Contains(password, "@"), nil
}

func TestAThirdPartyFTPServer(t *testing.T) {
	root := t.TempDir()
	driver, err := file.NewDriver(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		auth   server.Auth
		file   string // "" for none
		status int
		body   string
	}{
		"a file":       {guests{}, "User-agent: *\r\nDisallow: /pub\r\n", 226, "User-agent: *\r\nDisallow: /pub\r\n"},
		"a large file": {guests{}, strings.Repeat("#", 1<<20), 226, strings.Repeat("#", 1000)},
		"none":         {guests{}, "", 551, ""}, // RFC 959 says 550, but not this server
		"no guests":    {&server.SimpleAuth{Name: "admin", Password: "x"}, "a", 530, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(root, "robots.txt")
			os.Remove(path)
			if row.file != "" {
				if err := os.WriteFile(path, []byte(row.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, err := server.NewServer(&server.Options{
				Driver: driver, Auth: row.auth, Perm: server.NewSimplePerm("a", "a"), Logger: &server.DiscardLogger{},
			})
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() { s.Serve(l); close(done) }()
			defer func() { l.Close(); <-done }()
			c := newClient(t, netip.MustParseAddrPort(l.Addr().String()), nil)
			got := c.Fetch(context.Background(), origin(t, "ftp://a.example"))
			if got.Status() != row.status || got.Error != "" || string(got.Body) != row.body ||
				got.Truncated != (len(row.file) > len(row.body) && row.body != "") {
				t.Errorf("status %d, error %q (%v), body %.40q, truncated %v", got.Status(), got.Error, got.Err, got.Body,
					got.Truncated)
			}
		})
	}
}
