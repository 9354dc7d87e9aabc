package robots

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strconv"
	"testing"

	"github.com/robocensus/robocensus/robots/answer"
)

// misses are recorded answers of programs that no field of a profile says.
var misses = map[string]string{
	"httrack 206-closed": "it reads no body but that of 200",
}

// The profiles that stand for a program take answers as it was recorded to take them.
func TestRecordedAnswersOfPrograms(t *testing.T) {
	programs := map[string]string{"wget": "wget-1.21.3", "httrack": "httrack-3.49.4"}
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
		for profile, program := range programs {
			p := named(t, profile)
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
			got := map[string]string{"allow": "allow", "disallow": "forbid"}[verdict.Value.String()]
			asked++
			_, known := misses[profile+" "+row.Case]
			if right := got == row.Answers[program]; right == known {
				t.Errorf("%s, %s: %s, and %s was recorded; known as a miss: %v", profile, row.Case, got, row.Answers[program], known)
			}
			if known {
				missed++
			}
		}
	}
	if asked != 45*len(programs) || missed != len(misses) {
		t.Errorf("%d answers were asked, and %d of %d misses", asked, missed, len(misses))
	}
}

var caseName = regexp.MustCompile(`^([0-9]{3})-(.*)$`)

// factsOfCase returns the facts of a recorded case, and the body that was served.
func factsOfCase(t *testing.T, name string) (answer.Facts, string) {
	t.Helper()
	const closed = "User-agent: *\nDisallow: /\n"
	switch name {
	case "drop":
		return answer.Facts{Error: answer.ErrorReset}, ""
	case "timeout":
		return answer.Facts{Error: answer.ErrorTimeout}, ""
	case "loop":
		return answer.Facts{Hops: chain(302, 302), Error: answer.ErrorRedirectLoop}, ""
	}
	m := caseName.FindStringSubmatch(name)
	if m == nil {
		t.Fatalf("what is the case %s?", name)
	}
	status, _ := strconv.Atoi(m[1])
	switch m[2] {
	case "to-closed", "to-other-host":
		return answer.Facts{Hops: chain(status, 200)}, closed
	case "empty":
		return answer.Facts{Hops: chain(status)}, ""
	case "html-page":
		return answer.Facts{Hops: chain(status)}, "<html><body>page</body></html>\n"
	case "html-page-closed":
		return answer.Facts{Hops: chain(status)}, "<html><body>page</body></html>\n" + closed
	case "open-body":
		return answer.Facts{Hops: chain(status)}, "User-agent: *\nDisallow:\n"
	case "closed", "retry-after", "html-type-closed", "octet-closed", "notype-closed":
		if status == 204 {
			return answer.Facts{Hops: chain(status)}, ""
		}
		return answer.Facts{Hops: chain(status)}, closed
	}
	t.Fatalf("what is the case %s?", name)
	return answer.Facts{}, ""
}
