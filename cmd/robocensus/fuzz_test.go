package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
)

// FuzzConfiguration checks that a configuration file sets no flag that the command
// line sets, that its profiles are valid, and that a mistake in it is an error with
// its line.
func FuzzConfiguration(f *testing.F) {
	for _, text := range []string{
		"hosts: h.csv\nconcurrency: 7\ntimeout: 3s\nschemes: [http]\ntables: fetches,rules\nkeep-bodies: true\n",
		"out: other\nretries: 9\nprofiles:\n  mine: {base: rfc9309, size_limit: 1000}\nprofile: mine\n", "hots: x\n", "retries: 1\nretries: 2\n", "- a\n", "hosts: [\n", "a: &a [*a]",
		"profiles:\n  x: &p {base: google, user_agent_prefix: true}\n  y: *p\n",
	} {
		f.Add([]byte(text))
	}
	path := filepath.Join(f.TempDir(), "c.yaml")
	f.Fuzz(func(t *testing.T, text []byte) {
		must(t, os.WriteFile(path, text, 0o666))
		flags := newRunFlags()
		must(t, flags.set.Parse([]string{"--out", "given", "--retries", "4"}))
		flags.config = path
		err := flags.applyConfig(t.Context())
		if flags.out != "given" || flags.retries != 4 || flags.config != path {
			t.Fatalf("out is %q, retries %d, config %q", flags.out, flags.retries, flags.config)
		}
		for name, p := range flags.own {
			if p.Name != name || p.Validate() != nil {
				t.Fatalf("profile %q is %+v", name, p)
			}
		}
		var input *userfile.Error
		if err != nil && (!errors.As(err, &input) || input.Path != path || strings.Contains(err.Error(), "\n")) {
			t.Fatalf("error %q", err)
		}
	})
}

// FuzzJSONL checks that each line that is not blank has one answer, in its place:
// an error or a verdict. The answers do not depend on how the input is split into
// reads.
func FuzzJSONL(f *testing.F) {
	for _, line := range []string{
		`{"robots":"User-agent: *\nDisallow: /","agent":"GPTBot","url":"/x"}`, `{"robots_b64":"VXNlci1hZ2VudDogKg==","agents":["a","b"],"url":"https://a.test/"}`,
		"\r", "{", `{"robots":"","agent":"x","url":"\ud800"}`, `{"agent":"a","url":"/"}`, "null", "\xff",
		`{"robots":"","agent":"x","url":"/","profile":"rfc9309"}`, `{"robots":"","agent":"x","url":"/","other":1}`, `{"robots":"","agent":"x","url":"/"} {}`,
	} {
		f.Add([]byte(line + "\n" + line))
	}
	profile, _ := robots.ProfileNamed("google")
	f.Fuzz(func(t *testing.T, text []byte) {
		var out, again bytes.Buffer
		err := newCheckFlags().checkJSONL(bytes.NewReader(text), &out, profile)
		if errToo := newCheckFlags().checkJSONL(iotest.OneByteReader(bytes.NewReader(text)), &again, profile); out.String() != again.String() || (err == nil) != (errToo == nil) {
			t.Fatalf("%q, %v; in pieces %q, %v", out.String(), err, again.String(), errToo)
		}
		failed := false
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			answer, e := out.ReadBytes('\n')
			var got struct{ Verdict, Error string }
			if e != nil || json.Unmarshal(answer, &got) != nil || (got.Verdict == "") == (got.Error == "") {
				t.Fatalf("%q is answered with %q, %v", line, answer, e)
			}
			if got.Error == "" && got.Verdict != "allow" && got.Verdict != "disallow" && got.Verdict != "undefined" {
				t.Fatalf("verdict %q", got.Verdict)
			}
			failed = failed || got.Error != ""
			if strings.Contains(got.Error, "main.question") {
				t.Fatalf("error %q names a type of ours", got.Error)
			}
		}
		if out.Len() > 0 || failed != (err != nil) {
			t.Fatalf("after all lines: %q, error %v", out.String(), err)
		}
	})
}
