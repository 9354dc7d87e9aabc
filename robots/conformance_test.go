package robots

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/ascii"
	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

// The recorded answers of Google's parser are kept beside the repository.
// Without them these tests are skipped; the tables of the other tests cover the
// same behaviours.
const (
	conformance = "../../shared/conformance"
	corpusFile  = "../../shared/corpus/robots-real.tar.gz"
)

// open opens a data file, unpacking .gz, or skips the test.
func open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is missing: recorded answers are kept outside the repository", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(name, ".gz") {
		return f
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// eachJSON decodes a file of one JSON value per line.
func eachJSON[T any](t testing.TB, name string, f func(line int, v T)) {
	t.Helper()
	r := bufio.NewReader(open(t, filepath.Join(conformance, name)))
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
			f(n, v)
		}
		if err != nil {
			return
		}
	}
}

// corpus reads the real bodies, by host.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	tr := tar.NewReader(open(t, corpusFile))
	for {
		h, err := tr.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		b, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		files[path.Base(h.Name)] = b
	}
}

func named(t testing.TB, name string) *Profile {
	t.Helper()
	p, ok := ProfileNamed(name)
	if !ok {
		t.Fatalf("no profile %s", name)
	}
	return p
}

// ask returns the verdict on one URL for one agent with the given tokens, and
// the line of the rule behind it, 0 for none.
func ask(p *Profile, body []byte, url string, tokens ...string) (Verdict, int) {
	var f File
	f.Parse(body, p)
	j := NewJudge(p, []Agent{{Tokens: tokens}})
	j.Load(&f)
	t := p.LiteralTarget(url)
	v := j.Policy(0).Judge(&t)
	if v.Rule < 0 {
		return v, 0
	}
	return v, int(f.Rules[v.Rule].Line)
}

func validToken(s string) bool {
	narrow, _ := ascii.Tokens([]byte(s))
	return len(s) > 0 && len(narrow) == len(s)
}

type suiteCase struct {
	Suite, Name string
	Robots      string
	RobotsB64   []byte `json:"robots_b64"`
	Agent       string
	Agents      []string
	URL         string
	URLB64      []byte `json:"url_b64"`
	Google      bool
	GoogleLine  int  `json:"google_line"`
	Allowed     bool // what the suite says
	RFC9309     bool `json:"rfc9309"`
	Why         string
}

func (c *suiteCase) body() []byte {
	if c.RobotsB64 != nil {
		return c.RobotsB64
	}
	return []byte(c.Robots)
}

func (c *suiteCase) url() string {
	if c.URLB64 != nil {
		return string(c.URLB64)
	}
	return c.URL
}

func TestConformanceSuites(t *testing.T) {
	p := named(t, "google")
	asked := 0
	eachJSON(t, "suites.jsonl.gz", func(_ int, c suiteCase) {
		if len(c.Agents) > 0 || !validToken(c.Agent) {
			return
		}
		asked++
		v, line := ask(p, c.body(), c.url(), c.Agent)
		if (v.Value == Permitted) != c.Google || line != c.GoogleLine {
			t.Errorf("%s/%s: agent %q, url %q: got %v line %d, want allowed=%v line %d",
				c.Suite, c.Name, c.Agent, c.url(), v.Value, line, c.Google, c.GoogleLine)
		}
	})
	if asked < 1500 {
		t.Errorf("only %d cases were asked", asked)
	}
	t.Logf("%d cases", asked)
}

func TestConformanceReal(t *testing.T) {
	p := named(t, "google")
	bodies := corpus(t)
	asked := 0
	data, err := io.ReadAll(open(t, filepath.Join(conformance, "real.tsv.gz")))
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		c := strings.Split(text, "\t")
		if strings.HasPrefix(c[0], "#") || !validToken(c[2]) {
			continue
		}
		body, ok := bodies[c[1]]
		if !ok {
			t.Errorf("no body %s", c[1])
			continue
		}
		asked++
		v, line := ask(p, body, c[3], c[2])
		if (v.Value == Permitted) != (c[4] == "1") || fmt.Sprint(line) != c[5] {
			t.Errorf("%s, agent %s, url %s: got %v line %d, want %s %s", c[1], c[2], c[3], v.Value, line, c[4], c[5])
		}
		var f File
		f.Parse(body, p)
		j := NewJudge(p, []Agent{{Tokens: []string{c[2]}}})
		j.Load(&f)
		if match := j.Policy(0).Match; (match == OwnGroup) != (c[6] == "1") {
			t.Errorf("%s, agent %s: match is %v", c[1], c[2], match)
		}
	}
	if asked < 8000 {
		t.Errorf("only %d cases were asked", asked)
	}
	t.Logf("%d cases", asked)
}

func TestConformanceURLPath(t *testing.T) {
	eachJSON(t, "google-url-path.jsonl", func(n int, c struct{ URL, Path string }) {
		if got := URLPath(c.URL); got != c.Path {
			t.Errorf("line %d: %q: got %q, want %q", n, c.URL, got, c.Path)
		}
	})
}

func TestConformanceEscape(t *testing.T) {
	eachJSON(t, "google-escape.jsonl", func(n int, c struct{ Value, Escaped string }) {
		if got := string(rewrite.AppendUpperHex(nil, []byte(c.Value))); got != c.Escaped {
			t.Errorf("line %d: %q: got %q, want %q", n, c.Value, got, c.Escaped)
		}
	})
}

// event is what Google's parser reports about one line.
type event struct {
	Line            int
	Type            string
	Key, Value      string
	KeyB64          []byte `json:"key_b64"`
	ValueB64        []byte `json:"value_b64"`
	Token           string
	Typo            bool
	NoColon         bool
	TooLong         bool
	TrailingComment bool `json:"trailing_comment"`
}

// events returns the events of a File.
func events(f *File) []event {
	lines := f.Lines
	if endsLine(f.Body()) {
		lines++ // Google's parser reports an empty line behind the last line end
	}
	byLine := make([]event, lines+1)
	for i := range byLine {
		byLine[i] = event{Line: i, Type: "empty"}
	}
	set := func(line int32, e event) {
		e.Line = int(line)
		byLine[line] = e
	}
	for _, a := range f.Agents {
		set(a.Line, event{Type: "user-agent", Value: string(a.Value), Token: string(a.Token)})
	}
	for _, r := range f.Rules {
		set(r.Line, event{Type: r.Kind.String(), Value: string(r.Normalized)})
	}
	for _, x := range f.Sitemaps {
		set(x.Line, event{Type: "sitemap", Value: string(x.URL)})
	}
	unknown := func(line int32, key, value []byte) {
		set(line, event{Type: "unknown", Key: string(key), Value: string(rewrite.AppendUpperHex(nil, value))})
	}
	for _, s := range f.Signals {
		unknown(s.Line, s.Field, s.Value)
	}
	for _, r := range f.Remarks {
		e := &byLine[r.Line]
		switch r.Class {
		case Extension, UnknownField:
			unknown(r.Line, r.Field, r.Value)
		case NoField:
			// Google's parser reads two words as a field and a value, even if
			// the field is unknown.
			if k, v, _, ok := split(r.Value, bytes.IndexByte(r.Value, ':')); ok && len(ascii.Trim(k)) > 0 {
				unknown(r.Line, k, v)
				e.NoColon = true
			} else {
				set(r.Line, event{Type: "unparseable"})
			}
		}
	}
	for _, r := range f.Remarks {
		e := &byLine[r.Line]
		switch r.Class {
		case Typo:
			e.Typo = true
		case NoColon:
			e.NoColon = true
		case TooLong:
			e.TooLong = true
		case Comment:
			if e.Type == "empty" {
				e.Type = "comment"
			} else {
				e.TrailingComment = true
			}
		}
	}
	return byLine[1:]
}

func TestConformanceEvents(t *testing.T) {
	p := named(t, "google")
	eachJSON(t, "google-events.jsonl.gz", func(n int, c struct {
		Name      string
		Robots    string
		RobotsB64 []byte `json:"robots_b64"`
		Lines     int
		Events    []event
	}) {
		body := c.RobotsB64
		if body == nil {
			body = []byte(c.Robots)
		}
		f := File{KeepComments: true}
		f.Parse(body, p)
		if endsLine(body) {
			f.Lines++ // Google's parser reports one more, an empty one
		}
		if f.Lines != c.Lines {
			t.Errorf("%s: %d lines, want %d", c.Name, f.Lines, c.Lines)
			return
		}
		got := events(&f)
		for i, want := range c.Events {
			if want.KeyB64 != nil {
				want.Key, want.KeyB64 = string(want.KeyB64), nil
			}
			if want.ValueB64 != nil {
				want.Value, want.ValueB64 = string(want.ValueB64), nil
			}
			if i >= len(got) || fmt.Sprintf("%+v", got[i]) != fmt.Sprintf("%+v", want) {
				t.Errorf("%s: got %+v\nwant %+v", c.Name, got[i], want)
			}
		}
	})
}
