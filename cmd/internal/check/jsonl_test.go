package check

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/robocensus/robocensus/robots"
)

// FuzzJSONL checks that each line that is not blank has one answer, in its place:
// an error or a verdict. The answers do not depend on how the input is split into
// reads.
func FuzzJSONL(f *testing.F) {
	for _, line := range []string{
		`{"robots":"User-agent: *\nDisallow: /","agent":"GPTBot","url":"/x"}`,
		`{"robots_b64":"VXNlci1hZ2VudDogKg==","agents":["a","b"],"url":"https://a.test/"}`,
		"\r", "{", `{"robots":"","agent":"x","url":"\ud800"}`, `{"agent":"a","url":"/"}`, "null", "\xff",
		`{"robots":"","agent":"x","url":"/","profile":"rfc9309"}`, `{"robots":"","agent":"x","url":"/","other":1}`,
		`{"robots":"","agent":"x","url":"/"} {}`,
	} {
		f.Add([]byte(line + "\n" + line))
	}
	profile, _ := robots.ProfileNamed("google")
	f.Fuzz(func(t *testing.T, text []byte) {
		var out, again bytes.Buffer
		err := newCheckFlags().checkJSONL(bytes.NewReader(text), &out, profile)
		if errToo := newCheckFlags().checkJSONL(iotest.OneByteReader(bytes.NewReader(text)), &again,
			profile); out.String() != again.String() || (err == nil) != (errToo == nil) {
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
			if strings.Contains(got.Error, "check.question") {
				t.Fatalf("error %q names a type of ours", got.Error)
			}
		}
		if out.Len() > 0 || failed != (err != nil) {
			t.Fatalf("after all lines: %q, error %v", out.String(), err)
		}
	})
}
