package robots

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

const recordedCrawlers = "../../shared/conformance/crawlers/answers.jsonl.gz"

// crawlerColumns names the column of each dialect in the recorded answers of little-used
// crawlers.
var crawlerColumns = map[string]string{
	"httrack": "httrack-3.49.4", "spiderbar": "spiderbar-0.2.4", "protego-0.2": "protego-0.2.1",
	"robots-parser": "robots-parser-2.4.0",
	"urllib-3.11":   "urllib-3.11.2", "colly": "colly-2.3.0", "crawlee": "crawlee-utils-3.18.1",
}

// asHTTrack is a file or an agent in which HTTrack stands for the agent that is asked about,
// for HTTrack knows its own names only.
func asHTTrack(text string) string {
	return strings.NewReplacer("FooBot", "HTTrack", "foobot", "httrack", "FOOBOT", "HTTRACK").Replace(text)
}

// Minimal files, and further questions, answered by the crawlers themselves.
func TestDialectsAnswerAsCrawlersDid(t *testing.T) {
	type question struct {
		Kind, Name, Agent, URL string
		Robots                 string `json:"robots_b64"`
		Answers                map[string]string
	}
	read := func(name string, take func(question)) {
		r := bufio.NewScanner(gunzipped(t, name))
		r.Buffer(nil, 64<<20)
		for r.Scan() {
			var q question
			if err := json.Unmarshal(r.Bytes(), &q); err != nil {
				t.Fatal(err)
			}
			take(q)
		}
	}
	probes := make(map[string]question)
	read(recordedAnswers+"probes.jsonl.gz", func(q question) { probes[q.Name] = q })
	missed, asked := make(map[string][]string), make(map[string]int)
	read(recordedCrawlers, func(q question) {
		switch q.Kind {
		case "status":
			return
		case "probe":
			p := probes[q.Name]
			q.Agent, q.URL, q.Robots = p.Agent, p.URL, p.Robots
		}
		body, err := base64.StdEncoding.DecodeString(q.Robots)
		if err != nil {
			t.Fatal(err)
		}
		for name, column := range crawlerColumns {
			want, ok := q.Answers[column]
			if !ok {
				continue
			}
			asked[name]++
			file, agent := string(body), q.Agent
			if name == "httrack" {
				file, agent = asHTTrack(file), asHTTrack(agent)
			}
			if got := answerOf(named(t, name), []byte(file), agent, q.URL); got != want {
				missed[name] = append(missed[name], q.Name+" "+got)
			}
		}
	})
	want := map[string]string{
		"httrack": "double-slash-url 1", // recorded of a link to //x, which is one to a host x
	}
	for name := range crawlerColumns {
		if got := strings.Join(missed[name], ", "); got != want[name] || asked[name] == 0 {
			t.Errorf("%s misses %d of %d answers: %s; want %q", name, len(missed[name]), asked[name], got, want[name])
		}
		t.Logf("%s misses %d of %d: %s", name, len(missed[name]), asked[name], strings.Join(missed[name], ", "))
	}
}
