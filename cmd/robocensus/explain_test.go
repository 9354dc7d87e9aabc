package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/words"
)

// nowhere returns a resolver that knows no name.
func nowhere(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return // closed
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) == nil {
				m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeNameError, nil
				if answer, err := m.Pack(); err == nil {
					conn.WriteTo(answer, from)
				}
			}
		}
	}()
	return conn.LocalAddr().String()
}

// An outage is not a policy: check reports a failed request before any verdict.
func TestCheckSaysFirstThatAnOriginIsNotReached(t *testing.T) {
	var out bytes.Buffer
	err := execute(t.Context(), []string{"check", "https://no-such-name.example/x", "--agent", "GPTBot", "--resolver",
		nowhere(t), "--retries", "0"}, nil, &out, &out)
	if err != cli.ExitDisallowed {
		t.Errorf("error %v", err)
	}
	const want = `https://no-such-name.example could not be reached (DNS: no such name)
  profile google: nothing may be fetched while that lasts, for up to 12 hours (full_disallow, network_failure)
  https://no-such-name.example/robots.txt  no answer
  resolve no-such-name.example: no such host

DISALLOW  GPTBot may not fetch https://no-such-name.example/x
  the answer decides, and no rule: could not be reached
`
	if got := out.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCheckAndCompareSayThatAFileWasCut_NoRace asks about a group that lies beyond the size
// limit, in every form of the two commands.
func TestCheckAndCompareSayThatAFileWasCut_NoRace(t *testing.T) {
	const first = "User-agent: *\nAllow: /\n"
	const group = "User-agent: GPTBot\nDisallow: /\n"
	limit := 512_000
	long := first + strings.Repeat("#\n", (limit-len(first))/2) + group
	lines := 2 + (limit-len(first))/2
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	list, utf16 := write("list.txt", "/\n"), write("utf16.txt", "\xff\xfeU\x00s\x00e\x00r\x00\n\x00")
	cut, whole := write("cut.txt", strings.Replace(long, "*", "b", 1)), write("whole.txt", group)
	note := fmt.Sprintf("cut at 512,000 bytes, the size limit of profile google: what follows line %s does not count\n",
		words.Number(int64(lines)))

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, long)
	}))
	t.Cleanup(server.Close)
	question, err := json.Marshal(map[string]any{"robots": long, "agent": "GPTBot", "url": "/"})
	if err != nil {
		t.Fatal(err)
	}
	side := func(name, text string) string {
		one, err := json.Marshal(map[string]any{"robots": text, "agent": "GPTBot"})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%q: %s", name, one)
	}
	for _, row := range []struct {
		words string
		stdin string
		want  []string
		not   string
	}{
		{"check " + cut + " GPTBot /", "", []string{note, "no group is for this agent within the size limit"}, "not one of"},
		{"check " + cut + " b /", "", []string{note, "size limit of profile google-2012", "decides"}, ""},
		{"check " + whole + " GPTBot /", "", nil, "limit"},
		{"check " + utf16 + " GPTBot /", "", []string{"so everything is allowed; the file is UTF-16; convert it: iconv"}, ""},
		{"check " + cut + " GPTBot --urls " + list, "",
			[]string{"allow\t/\tno group is for this agent within the size limit\n", "cut.txt: " + note}, ""},
		{"check " + whole + " GPTBot --urls " + list + " --changed-from " + cut, "",
			[]string{"allow > disallow\t/\tno group is for this agent within the size limit > line 2: ", "cut.txt: " + note},
			"whole.txt: "},
		{"check " + cut + " GPTBot --urls " + list + " --json", "", []string{`"truncated":true`}, ""},
		{"check " + whole + " GPTBot --urls " + list, "", nil, "limit"},
		{"check " + cut + " GPTBot / --json", "", []string{`"truncated": true`}, "cut at"},
		{"check " + whole + " GPTBot / --json", "", nil, "truncated"},
		{"check " + server.URL + "/ --agent GPTBot --allow-private", "", []string{note, "ALLOW"}, ""},
		{"check --jsonl", string(question), []string{`"verdict":"allow"`, `"agent":"*","truncated":true}`}, ""},
		{"compare " + cut + " " + whole + " --agent GPTBot", "",
			[]string{"profile google: no group is for this agent within the size limit\n   " + note}, ""},
		{"compare " + whole + " " + cut + " --agent GPTBot --profile rfc9309", "", []string{"size limit of profile rfc9309"},
			""},
		{"compare " + whole + " " + whole + " --agent GPTBot --agent b", "", nil, "limit"},
		{"compare --jsonl", "{" + side("a", long) + "," + side("b", group) + "}", []string{`"relation":"stricter"`,
			`"truncated_a":true}`}, "truncated_b"},
		{"compare --jsonl", "{" + side("a", group) + "," + side("b", long) + "}", []string{`"truncated_b":true}`},
			"truncated_a"},
	} {
		var out, failed bytes.Buffer
		err := execute(t.Context(), strings.Fields(row.words), strings.NewReader(row.stdin), &out, &failed)
		if code := (cli.ExitCode)(0); err != nil && !errors.As(err, &code) {
			t.Errorf("%s: %v", row.words, err)
		}
		out.Write(failed.Bytes())
		for _, want := range row.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: got %.600s\nwant %q", row.words, out.String(), want)
			}
		}
		if row.not != "" && strings.Contains(out.String(), row.not) {
			t.Errorf("%s: got %.600s\nwith %q", row.words, out.String(), row.not)
		}
	}
}
