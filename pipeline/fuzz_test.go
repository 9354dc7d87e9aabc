package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
)

// isInput checks the error of a reader of input: it names the file, and a line
// that the file has.
func isInput(t *testing.T, err error, text []byte) {
	t.Helper()
	var input *userfile.Error
	lines := int64(1 + bytes.Count(text, []byte("\n")) + bytes.Count(text, []byte("\r")) + bytes.Count(text, []byte("\u0085")) +
		bytes.Count(text, []byte("\u2028")) + bytes.Count(text, []byte("\u2029"))) // YAML's line ends
	if !errors.As(err, &input) || input.Path != "file" || input.Line < 0 || input.Line > lines {
		t.Fatalf("error %#v of a file of %d lines", err, lines)
	}
	if said := err.Error(); strings.ContainsAny(said, "\n") || strings.Contains(said, "yaml: ") || strings.Contains(said, "[]yaml") || strings.Contains(said, "strconv.") {
		t.Fatalf("error %q", said)
	}
}

// FuzzHosts: a list gives the same rows however it is packed and cut into pieces,
// each line one at most; each row is a target or is rejected, and no target is
// given twice.
func FuzzHosts(f *testing.F) {
	for _, list := range []string{
		"example.com\n# comment\n\nhttps://a.test:8443/x\n", "rank,host\n1,a.test\n2,\"b.test\"\nx,c.test\n", "#harmonicc_pos\thost_rev\n1\tcom.example\n",
		"\ufeffhost;url\na.test;/x\na.test;https://a.test/y\nb.test;https://other.test/\n", "1,localhost\n", "https://a.test/x,y\n", "m\xfcnchen.test\na.test\na.test\n",
		"GlobalRank,Domain\n1,a.test", "PAR1",
	} {
		f.Add([]byte(list))
		f.Add(gzipped(list))
		f.Add(zstandard(list))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 64<<10 {
			t.Skip("longer than it needs to be")
		}
		read := func(r io.Reader) (rows []row, err error) {
			plain, done, err := decompress(r)
			if err != nil {
				return nil, err
			}
			defer done()
			err = readLines("file", io.LimitReader(plain, 1<<20), func(r row) error { rows = append(rows, r); return nil })
			return rows, err
		}
		rows, err := read(bytes.NewReader(text))
		again, errToo := read(iotest.HalfReader(bytes.NewReader(text)))
		if !reflect.DeepEqual(rows, again) || (err == nil) != (errToo == nil) {
			t.Fatalf("%+v, %v; in pieces %+v, %v", rows, err, again, errToo)
		}
		line := int64(0)
		for _, r := range rows {
			if r.line <= line || len(r.text) > maxLine || r.rank != nil && *r.rank < 1 || strings.ContainsAny(r.host+r.text, "\n") {
				t.Fatalf("row %+v after line %d", r, line)
			}
			line = r.line
		}
		told := make(map[int64]bool)
		targets := int64(0)
		seen := make(map[fetch.Origin]bool)
		s := &source{schemes: []string{"https", "http"}, remark: func(line int64, text, reason string) error { return nil }}
		s.reject = func(line int64, text, reason string) error {
			if told[line] || reason == "" {
				t.Fatalf("line %d is rejected again, or for no reason: %q", line, reason)
			}
			told[line] = true
			return nil
		}
		s.emit = func(target Target) error {
			targets += target.Lines
			if seen[target.Candidates[0]] || target.Lines < 1 {
				t.Fatalf("target %+v is given again, or has no lines", target)
			}
			seen[target.Candidates[0]] = true
			return nil
		}
		for _, r := range rows {
			if err := s.take(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.flush(); err != nil {
			t.Fatal(err)
		}
		if targets+int64(len(told)) != int64(len(rows)) {
			t.Fatalf("of %d rows %d are lines of targets and %d are rejected", len(rows), targets, len(told))
		}
	})
}

// FuzzParquetHosts: a damaged list of hosts in Parquet is an error of input, and
// rows are numbered as they stand.
func FuzzParquetHosts(f *testing.F) {
	type listed struct {
		Host string  `parquet:"host,dict"`
		URL  *string `parquet:"url,optional"`
		Rank int64   `parquet:"rank"`
	}
	for _, rows := range [][]listed{nil, {{"a.test", nil, 1}, {"b.test", nil, 2}}} {
		var b bytes.Buffer
		if err := parquet.Write(&b, rows); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	path := filepath.Join(f.TempDir(), "hosts.parquet")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		line := int64(0)
		err = readParquetHosts(context.Background(), "file", in, func(r row) error {
			if line++; r.line != line {
				t.Fatalf("row %d is numbered %d", line, r.line)
			}
			if line > 10_000 {
				return errEnough // of a few bytes
			}
			return nil
		})
		var input *userfile.Error
		if err != nil && !errors.Is(err, errEnough) && !errors.As(err, &input) {
			t.Fatalf("%#v", err)
		}
	})
}

// FuzzAgents: a registry that is accepted says the same when it is written out
// and read again, and robots can use it.
func FuzzAgents(f *testing.F) {
	for _, text := range []string{
		"- {name: GPTBot, tokens: [GPTBot], category: ai-training}\n", "- name: a\n  falls_back_to: [b]\n  user_agent: a/1.0 x\n  ignores_star: true\n- &x {name: c}\n- *x\n",
		"- {name: a, tokens: [é]}", "- {name: 1, operator: ~}", "a: [", "---\n- {name: a}\n---\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		agents, err := ParseAgents("file", text)
		if err != nil {
			isInput(t, err, text)
			return
		}
		names := make(map[string]bool)
		for _, a := range agents {
			if names[strings.ToLower(a.Name)] || a.Name == "" || a.Robots().Validate() != nil {
				t.Fatalf("agent %+v", a)
			}
			names[strings.ToLower(a.Name)] = true
		}
		// What strconv escapes YAML reads; the library does not read all that it
		// writes.
		quoted := func(words ...string) string {
			for i, w := range words {
				words[i] = strconv.QuoteToASCII(w)
			}
			return strings.Join(words, ", ")
		}
		var out []byte
		for _, a := range agents {
			out = fmt.Appendf(out, "- {name: %s, tokens: [%s], falls_back_to: [%s], operator: %s, category: %s, user_agent: %s, ignores_star: %v, user_triggered: %v}\n",
				quoted(a.Name), quoted(slices.Clone(a.Tokens)...), quoted(slices.Clone(a.FallsBackTo)...), quoted(a.Operator), quoted(a.Category), quoted(a.UserAgent), a.IgnoresStar, a.UserTriggered)
		}
		again, err := ParseAgents("file", out)
		if err != nil {
			t.Fatalf("%q is written as %q: %v", text, out, err)
		}
		for i := range again { // an empty list is none
			if len(again[i].FallsBackTo) == 0 && len(agents[i].FallsBackTo) == 0 {
				again[i].FallsBackTo, agents[i].FallsBackTo = nil, nil
			}
		}
		if diff := cmp.Diff(agents, again); diff != "" {
			t.Fatalf("%q is written as %q:\n%s", text, out, diff)
		}
	})
}

// FuzzExpectations: an expectation that is accepted expects one thing, of what it
// names, and can be held against any host.
func FuzzExpectations(f *testing.F) {
	for _, text := range []string{
		"- {name: open, agents: [GPTBot], class: allow_all, at_most: 1%}\n", "- name: a\n  hosts: ['*.test', '[a-c]?']\n  verdict: allow\n  urls: /\n  category: search\n",
		"- {name: still, no_change: [policy_class], severity: critical, after: disallow_all, at_most: 3}\n- {name: up, reachable: true}", "- {name: x, verdict: allow}", "- a",
	} {
		f.Add([]byte(text), "a.test")
	}
	f.Fuzz(func(t *testing.T, text []byte, host string) {
		e, err := ParseExpectations("file", text)
		if err != nil {
			isInput(t, err, text)
			return
		}
		names := make(map[string]bool)
		for _, x := range e.list {
			if x.Name == "" || names[x.Name] || expectKeys[x.what] == nil || x.table() == "" || x.count < 0 || x.percent > 100 || x.line < 1 {
				t.Fatalf("expectation %+v", x)
			}
			names[x.Name] = true
			if x.matches(host); len(x.Hosts) == 0 && !x.matches(host) {
				t.Fatalf("expectation %+v of all hosts is not about %q", x, host)
			}
			for _, broken := range []int64{0, 1, 100} {
				p := &Promise{Checked: 100, Broken: broken}
				if x.judge(p); p.State != Kept && (p.State != Broken || !p.Fails || broken == 0) {
					t.Fatalf("expectation %+v: %d of 100 broken are %+v", x, broken, p)
				}
			}
		}
		if err := e.Fit(Config{}); err != nil {
			isInput(t, err, text)
		}
	})
}

// FuzzSamples: a list of URLs that is accepted gives the same samples when they
// are listed again, and each can be matched under each profile.
func FuzzSamples(f *testing.F) {
	f.Add([]byte("/\n# comment\n\n/x?y#z\nhttps://a.test/\xff\n/é%zz\n"))
	f.Add([]byte("a.test\n"))
	f.Add([]byte("ftp://[::1]:2121/x y\r\nhttp://user@a.test/\n"))
	var profiles []*robots.Profile
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		profiles = append(profiles, p)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		samples, err := ParseSamples("file", text)
		if err != nil {
			isInput(t, err, text)
			return
		}
		var list strings.Builder
		paths := 0
		for _, s := range samples {
			list.WriteString(s.URL + "\n")
			if s.origin == nil {
				paths++
			}
			if (s.origin == nil) != strings.HasPrefix(s.URL, "/") || s.Line < 1 {
				t.Fatalf("sample %+v", s)
			}
		}
		again, err := ParseSamples("file", []byte(list.String()))
		if err != nil || len(again) != len(samples) {
			t.Fatalf("%d samples, listed again %d, %v", len(samples), len(again), err)
		}
		for i := range again {
			if again[i].URL != samples[i].URL || !reflect.DeepEqual(again[i].origin, samples[i].origin) {
				t.Fatalf("%+v, listed again %+v", samples[i], again[i])
			}
		}
		if s := newSamples(samples, profiles); len(s.paths) != paths || len(s.list)+paths != len(samples) || len(s.unused()) != len(s.list) {
			t.Fatalf("of %d samples %d are paths and %d are URLs", len(samples), len(s.paths), len(s.list))
		}
	})
}
