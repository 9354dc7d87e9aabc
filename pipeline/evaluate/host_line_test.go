package evaluate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
)

// A line lists the agents that are shut out under the first profile, and no others: not
// those of an outage. It counts what a file has, and nothing where none was read.
func TestHostLine(t *testing.T) {
	e := Prepare(Config{
		Agents: []schema.Agent{{Name: "A", Tokens: []string{"A"}}, {Name: "B", Tokens: []string{"B"}},
			{Name: "C", Tokens: []string{"C"}}}, Profiles: profilesNamed("google", "urllib-2025"),
	}).Evaluator()
	own := Prepare(Config{
		Agents: []schema.Agent{{Name: "A", Tokens: []string{"A"}}, {Name: "C", Tokens: []string{"C"},
			ReadsAs: new("urllib-2025")}}, Profiles: profilesNamed("own"), Readers: readers("google", "urllib-2025"),
	}).Evaluator()
	o := fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}
	blank := &fetch.Capture{Origin: o, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 200}},
		Body: []byte("User-agent: A\nUser-agent: C\n\nDisallow: /\n")}
	if l := own.HostLine(&target.Target{Candidates: []fetch.Origin{o}, Capture: blank}); len(l.Closed) != 1 ||
		l.Closed[0] != "A" {
		t.Errorf("under own %v are shut out, want A: C's parser ends a group at a blank line", l.Closed)
	}
	for _, row := range []struct {
		status int
		body   string
		want   string
	}{
		{200, "User-agent: A\nUser-agent: C\nDisallow: /\n\nUser-agent: *\nDisallow: /x\n",
			`"outcome":"conditional_allow","reason":"success","status":200,"error_class":null,"challenge":null,"bytes":68,"groups":2,"rules":2,"closed":["A","C"]}`},
		{200, "",
			`"outcome":"conditional_allow","reason":"success","status":200,"error_class":null,"challenge":null,"bytes":0,"groups":0,"rules":0,"closed":[]}`},
		{404, "User-agent: *\nDisallow: /\n",
			`"outcome":"full_allow","reason":"client_error","status":404,"error_class":null,"challenge":null,"bytes":null,"groups":null,"rules":null,"closed":[]}`},
		{503, "",
			`"outcome":"full_disallow","reason":"server_error","status":503,"error_class":"server_error","challenge":null,"bytes":null,"groups":null,"rules":null,"closed":[]}`},
		{206, "User-agent: *\n",
			`"outcome":"full_disallow","reason":"incomplete_body","status":200,"error_class":"truncated_body","challenge":null,"bytes":14,"groups":null,"rules":null,"closed":[]}`},
	} {
		o := fetch.Origin{Scheme: "https", Host: "a.example", Port: 443}
		c := &fetch.Capture{Origin: o, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: row.status}}}
		switch row.status {
		case 200:
			c.Body = []byte(row.body)
		case 206: // it broke off
			c.Hops[0].Status, c.Error, c.Cut = 200, answer.ErrorTruncatedBody, new(len(row.body))
		}
		text, err := json.Marshal(e.HostLine(&target.Target{Seq: 7, Candidates: []fetch.Origin{o}, Capture: c}))
		must(t, err)
		if want := `{"seq":7,"host":"a.example","origin":"https://a.example","rank":null,` + row.want; string(text) != want {
			t.Errorf("got  %s\nwant %s", text, want)
		}
	}
	wall := &fetch.Capture{Origin: o, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 200}},
		Body: []byte("User-agent: *\nDisallow: /\n"), Challenge: "generic"}
	text, err := json.Marshal(e.HostLine(&target.Target{Candidates: []fetch.Origin{o}, Capture: wall}))
	must(t, err)
	if want := `"error_class":null,"challenge":"generic","bytes":26,"groups":null,"rules":null,"closed":[]}`; !strings.HasSuffix(string(text), want) {
		t.Errorf("a wall: %s, want %s", text, want)
	}
}
