package evaluate

import (
	"testing"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

func TestPartsOfTheNetwork(t *testing.T) {
	for tld, want := range map[string]string{"com": "com", "uk": "uk", "ck": "ck", "xn--p1ai": "xn--p1ai", "test": "test",
		"made-up": "other"} {
		if got := tldKey(&tld); got != want {
			t.Errorf("%s is counted as %s, want %s", tld, got, want)
		}
	}
	for address, want := range map[string]string{
		"93.184.216.34": "93.0.0.0/8", "::ffff:10.1.2.3": "10.0.0.0/8", "2a00:1450::1": "2a00::/12",
		"fe80::1%eth0": "fe80::/12", "?": "other",
	} {
		if got := blockKey(&address); got != want {
			t.Errorf("%s is in %s, want %s", address, got, want)
		}
	}
	for header, want := range map[string]string{
		"nginx": "nginx", "nginx/1.2": "nginx", "Apache (Debian)": "apache", "Jetty(9.4.53)": "jetty",
		"Microsoft-IIS/6.0": "microsoft-iis", "": "other", "\x1b[31m": "other",
	} {
		if got := serverKey(&header); got != want {
			t.Errorf("%q is %s, want %s", header, got, want)
		}
	}
}

// countsOf returns the counters that count adds, by metric and key.
func countsOf(t *testing.T, count func(e *Evaluator)) map[string]int64 {
	t.Helper()
	agents, _, err := registry.ParseAgents("agents",
		[]byte("- {name: A, category: search}\n- {name: B, category: search}\n"))
	must(t, err)
	e := Prepare(Config{Agents: agents, Profiles: profilesNamed("google")}).Evaluator()
	e.examples.Reset()
	count(e)
	got := make(map[string]int64)
	for _, c := range e.counts.List() {
		got[c.Metric+" "+c.Key] += c.N
	}
	return got
}

// A failure is one of the host: no answer or a 5xx, and neither our refusal to ask it
// nor a redirect that leads nowhere.
func TestFailuresOfHosts(t *testing.T) {
	for class, want := range map[answer.ErrorClass]int64{
		"": 0, answer.ErrorTimeout: 1, answer.ErrorServerError: 1, answer.ErrorDNSNotFound: 1,
		answer.ErrorRedirectLoop: 0, answer.ErrorAddressBlocked: 0, answer.ErrorNoRoute: 0, answer.ErrorCanceled: 0,
	} {
		got := countsOf(t, func(e *Evaluator) {
			e.countNetwork(&schema.Fetch{Source: "network", TLD: new("com"), ErrorClass: schema.NonZero(string(class))},
				summary.Unranked)
		})
		if got["tld com"] != 1 || got["tld_failed com"] != want {
			t.Errorf("%q: %v, want %d failed", class, got, want)
		}
	}
}

// The times of an answer from memory are those of an earlier run.
func TestTimesAreOfThisRun(t *testing.T) {
	for source, want := range map[string]int64{"network": 1, "cache": 0} {
		got := countsOf(t, func(e *Evaluator) {
			e.countNetwork(&schema.Fetch{Source: source, TLD: new("com"), TotalMicros: new(int64(summary.SlowMicros))},
				summary.Unranked)
		})
		if timed := got["total_us "+summary.BinOf(summary.SlowMicros).String()]; timed != want ||
			got["tld_slow com"] != want {
			t.Errorf("an answer of %s: %v, want %d with a time", source, got, want)
		}
	}
}

// A host that closes to none of a category, but whose policy for one of its agents is
// unknown, is unknown.
func TestCategoriesOfHosts(t *testing.T) {
	for _, row := range []struct{ a, b, want string }{
		{"disallow_all", "disallow_all", "all"}, {"disallow_all", "partial", "some"}, {"allow_all", "partial", "none"},
		{"unknown", "unknown", "unknown"}, {"unknown", "disallow_all", "unknown"}, {"partial", "unknown", "unknown"},
	} {
		got := countsOf(t, func(e *Evaluator) {
			e.policies = []schema.Policy{{Category: "search", Class: row.a}, {Category: "search", Class: row.b}}
			e.countCategories(summary.Unranked, 0)
		})
		if got["category "+row.want] != 1 {
			t.Errorf("%s and %s: %v, want %s", row.a, row.b, got, row.want)
		}
	}
}
