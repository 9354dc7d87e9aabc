package robots

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/answer"
	"go.yaml.in/yaml/v3"
)

// recordedPrograms are the columns of programs in the recorded answers, by profile.
var recordedPrograms = map[string]string{
	"scrapy": "scrapy-2.8.0", "crawlee": "crawlee-http-3.18.1", "colly": "colly-2.3.0",
	"simplecrawler": "simplecrawler-1.1.9",
	"robotstxt-r":   "robotstxt-r-d3d0a4d5", "wget": "wget-1.21.3", "httrack": "httrack-3.49.4",
	"broken-link-checker": "broken-link-checker-0.7.8", "supercrawler": "supercrawler-2.0.0",
	"linkchecker": "linkchecker-10.2.1",
	"lwp":         "lwp-robotua-6.68", "robots.js": "robots-0.10.1",
}

// misses are recorded answers of programs that no field of a profile says.
var misses = map[string]string{
	"robotstxt-r 301-to-closed": relative, "robotstxt-r 302-to-closed": relative, "robotstxt-r 303-to-closed": relative,
	"robotstxt-r 307-to-closed": relative, "robotstxt-r 308-to-closed": relative,
	"robots.js 200-html-type-closed": shifted, "robots.js 200-html-page": shifted,
	"robots.js 200-html-page-closed": shifted,
	"robots.js 200-empty":            shifted, "robots.js timeout": shifted,
}

const shifted = "from the case loop on, each answer of the column stands one case below its own, as the table beside " +
	"the recorded answers shows"
const relative = "it fails on a redirect to a relative location, and the facts have the URL that it leads to"

// The profiles that stand for a program take answers as it was recorded to take them.
func TestRecordedAnswersOfPrograms(t *testing.T) {
	text, err := os.ReadFile("testdata/programs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var written struct{ Profiles map[string]yaml.Node }
	if err := yaml.Unmarshal(text, &written); err != nil {
		t.Fatal(err)
	}
	profiles := make(map[string]*Profile)
	for name := range recordedPrograms {
		p, ok := ProfileNamed(name)
		if node := written.Profiles[name]; !ok {
			var base struct{ Base string }
			if err := node.Decode(&base); err != nil {
				t.Fatal(err)
			}
			p = named(t, base.Base)
			if err := node.Decode(p); err != nil {
				t.Fatal(err)
			}
			p.Name = name
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
		}
		profiles[name] = p
	}
	r := bufio.NewScanner(gunzipped(t, recordedCrawlers))
	r.Buffer(nil, 1<<20)
	asked, missed := 0, 0
	for r.Scan() {
		var row struct {
			Kind, Case string
			Answers    map[string]string
		}
		if err := json.Unmarshal(r.Bytes(), &row); err != nil || row.Kind != "status" {
			continue
		}
		facts, body := factsOfCase(t, row.Case)
		for profile, program := range recordedPrograms {
			want, ok := row.Answers[program]
			if !ok {
				continue
			}
			p := profiles[profile]
			var f File
			f.Parse([]byte(body), p)
			j := NewJudge(p, []Agent{{Name: "bot", Tokens: []string{"bot"}}})
			j.Load(&f)
			target := p.Target("http://example.com/page")
			a := p.Answer(facts)
			verdict, decided := VerdictOf(a, &target)
			if !decided {
				verdict = Weigh(a, j.Policy(0).Judge(&target))
			}
			got := map[string]string{"allow": "allow", "disallow": "forbid", "undefined": "error"}[verdict.Value.String()]
			asked++
			_, known := misses[profile+" "+row.Case]
			if right := got == want; right == known {
				t.Errorf("%s, %s: %s (%s), and %s was recorded; known as a miss: %v", profile, row.Case, got, a.Reason, want, known)
			}
			if known {
				missed++
			}
		}
	}
	if asked != 538 || missed != len(misses) {
		t.Errorf("%d answers were asked, and %d of %d misses", asked, missed, len(misses))
	}
}

var caseName = regexp.MustCompile(`^([0-9]{3})-(.*)$`)

// factsOfCase returns the facts of a recorded case, and the body that was served.
func factsOfCase(t *testing.T, name string) (f answer.Facts, body string) {
	t.Helper()
	const closed = "User-agent: *\nDisallow: /\n"
	switch name {
	case "drop":
		return answer.Facts{Hops: chain(0), Error: answer.ErrorReset}, ""
	case "timeout":
		return answer.Facts{Hops: chain(0), Error: answer.ErrorTimeout}, ""
	case "loop":
		return answer.Facts{Hops: chain(302, 302), Error: answer.ErrorRedirectLoop}, ""
	}
	m := caseName.FindStringSubmatch(name)
	if m == nil {
		t.Fatalf("what is the case %s?", name)
	}
	status, _ := strconv.Atoi(m[1])
	f = answer.Facts{Hops: chain(status), HasPage: status/100 != 2, ContentType: new("text/plain")}
	if status/100 == 3 && status != 304 {
		f.Error = answer.ErrorRedirectInvalid
	}
	switch m[2] {
	case "to-closed":
		f = answer.Facts{Hops: chain(status, 200), ContentType: new("text/plain")}
		f.Hops[1].URL = strings.Replace(f.Hops[0].URL, "/robots.txt", "/real.txt", 1)
		return f, closed
	case "to-other-host":
		f = answer.Facts{Hops: chain(status, 200), ContentType: new("text/plain")}
		f.Hops[1].URL = "http://127.0.0.2:8080/robots.txt"
		return f, closed
	case "empty":
		return f, ""
	case "html-page", "html-page-closed":
		f.ContentType = new("text/html")
		if body = "<html><body>page</body></html>\n"; m[2] != "html-page" {
			body += closed
		}
		return f, body
	case "open-body":
		return f, "User-agent: *\nDisallow:\n"
	case "html-type-closed":
		f.ContentType = new("text/html; charset=utf-8")
	case "octet-closed":
		f.ContentType = new("application/octet-stream")
	case "notype-closed":
		f.ContentType = new("")
	case "closed", "retry-after":
	default:
		t.Fatalf("what is the case %s?", name)
	}
	if status == 204 || status == 304 {
		return f, ""
	}
	return f, closed
}
