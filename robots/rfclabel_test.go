package robots

import "testing"

func TestRFCLabel(t *testing.T) {
	p := named(t, "rfc9309")
	eachJSON(t, "suites.jsonl.gz", func(_ int, c suiteCase) {
		if len(c.Agents) > 0 {
			return
		}
		v, line := ask(p, c.body(), c.url(), c.Agent)
		if (v.Value == Allowed) != c.RFC9309 {
			b := c.body()
			if len(b) > 300 { b = b[:300] }
			t.Errorf("%s/%s: agent %q url %q got %v line %d (rfc label %v, google %v)\n%q\n%s", c.Suite, c.Name, c.Agent, c.url(), v.Value, line, c.RFC9309, c.Google, b, c.Why)
		}
	})
}
