package client

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// ftpScript is a correct server except for the replies that it overrides by
// command ("" is the greeting). "close" hangs up after the reply, and "PORT"
// stands for the port of the data connection, in the format of 227 or 229.
type ftpScript struct {
	replies map[string]string
	send    func(data *net.TCPConn)   // the transfer; nil sends abc
	nth     func(n int, s *ftpScript) // changes the nth connection, from 1
}

// serveFTP starts the server. It sends the commands of each connection to asked
// when the connection ends.
func serveFTP(t *testing.T, s ftpScript) (at netip.AddrPort, asked <-chan []string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, done := make(chan []string, 10), make(chan struct{})
	go func() {
		defer close(done)
		for n := 1; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			own := s
			if s.nth != nil {
				s.nth(n, &own)
			}
			ended <- own.session(c.(*net.TCPConn))
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return netip.MustParseAddrPort(l.Addr().String()), ended
}

var usualReplies = map[string]string{
	"": "220 ready", "USER": "331 password", "PASS": "230 in", "FEAT": "211-list\r\n EPSV\r\n211 end",
	"TYPE": "200 binary",
	"EPSV": "229 passive (|||PORT|)", "PASV": "227 passive (127,0,0,1,PORT)", "RETR": "150 here it comes",
	"done": "226 done",
}

func (s ftpScript) session(c *net.TCPConn) (commands []string) {
	defer c.Close()
	data, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil
	}
	defer data.Close()
	port := data.Addr().(*net.TCPAddr).Port
	say := func(verb string) (ok bool) {
		reply, changed := s.replies[verb]
		if !changed {
			reply = usualReplies[verb]
		}
		text, hangUp := strings.CutSuffix(reply, "close")
		for _, line := range strings.SplitAfter(text, "\r\n") {
			if line == "" {
				continue
			}
			where := fmt.Sprint(port)
			if verb == "PASV" {
				where = fmt.Sprint(port>>8, ",", port&255)
			}
			line = strings.ReplaceAll(strings.TrimSuffix(line, "\r\n"), "PORT", where)
			if _, err := io.WriteString(c, line+" "+secret+"\r\n"); err != nil {
				return false
			}
		}
		return !hangUp
	}
	if !say("") {
		return nil
	}
	for in := bufio.NewScanner(c); in.Scan(); {
		commands = append(commands, in.Text())
		verb, _, _ := strings.Cut(in.Text(), " ")
		if !say(verb) {
			return commands
		}
		if _, changed := s.replies[verb]; verb != "RETR" || changed {
			continue
		}
		to, err := data.Accept()
		if err != nil {
			return commands
		}
		if s.send == nil {
			io.WriteString(to, "abc")
		} else {
			s.send(to.(*net.TCPConn))
		}
		to.Close()
		if !say("done") {
			return commands
		}
	}
	return commands
}

func sends(s string) func(*net.TCPConn) {
	return func(c *net.TCPConn) { io.WriteString(c, s) }
}
