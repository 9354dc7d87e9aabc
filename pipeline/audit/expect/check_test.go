package expect

import (
	"strings"
	"testing"
)

// expectations.csv is opened in spreadsheets, and names of expectations and URLs are of
// whoever wrote them.
func TestBreachesAreNoFormulas(t *testing.T) {
	e := &List{list: []*expectation{{Name: "=cmd()", percent: -1}, {Name: "+x", percent: -1}}}
	var out strings.Builder
	c := newChecker(e, nil, &out, nil)
	agent, url := "-bot", "@x\x1b[31m"
	c.breach(0, Breach{Host: "a.example", Agent: &agent, URL: &url, Found: "disallow"})
	c.promises[1].unchecked("-", false)
	if _, err := c.finish(); err != nil {
		t.Fatal(err)
	}
	const want = "expectation,host,agent,profile,url,found,line\n'=cmd(),a.example,'-bot,,'@x\\u001b[31m,disallow,\n" +
		"'+x,,,,,unchecked: -,\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
