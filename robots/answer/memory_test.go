package answer_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

func named(name string) *robots.Profile {
	p, ok := robots.ProfileNamed(name)
	if !ok {
		panic("no profile " + name)
	}
	return p
}

func chain(statuses ...int) (hops []answer.Hop) {
	for _, s := range statuses {
		hops = append(hops, answer.Hop{URL: "http://example.com/robots.txt", Status: s})
	}
	return hops
}

// kindFacts has facts of every kind that a memory can hold.
var kindFacts = []answer.Facts{
	{Hops: chain(200)}, {Hops: chain(200), HTMLRedirect: true}, {Hops: chain(404)}, {Hops: chain(429)}, {Hops: chain(500)},
	{Hops: chain(500), Misconfigured: true}, {Hops: chain(304)}, {Error: answer.ErrorDNSFailure},
	{Hops: chain(200), Error: answer.ErrorTruncatedBody},
	{Error: answer.ErrorProtocol}, {Hops: chain(301), Error: answer.ErrorRedirectLoop},
	{Hops: chain(301), Error: answer.ErrorRedirectUnsupported},
	{Hops: chain(301, 301, 301, 200)}, {Hops: chain(301, 301, 301, 503)}, {Hops: chain(301, 301, 301),
		Error: answer.ErrorTimeout},
}

// memoryProfiles returns profiles that differ in what they count as
// unreachable.
func memoryProfiles() []*robots.Profile {
	var all []*robots.Profile
	for _, name := range robots.ProfileNames() {
		p, strict := *named(name), *named(name)
		strict.TooManyRequests, strict.MaxRedirects, strict.MisconfiguredAs404 = answer.ServerError, 2, !p.MisconfiguredAs404
		all = append(all, &p, &strict)
	}
	return all
}

// The memory gives the same result as the whole sequence of answers.
func TestMemoryIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.SampledFrom(kindFacts), 0, 40).Draw(t, "answers")
		fresh := rapid.SampledFrom(kindFacts).Draw(t, "fresh")
		day := func(n int) time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) }
		var m answer.Memory
		for i, f := range all {
			m = m.After(f.Kind(), day(i))
		}
		m.HasCopy = m.WholeCopy()
		now := day(len(all))
		for i, p := range memoryProfiles() {
			if !p.Answers.Row(fresh.Kind(), p.MaxRedirects).Unreachable {
				continue
			}
			since, stands := now, false
			for k := len(all) - 1; k >= 0; k-- {
				r := p.Answers.Row(all[k].Kind(), p.MaxRedirects)
				if !r.Unreachable {
					stands = r.Outcome == answer.ConditionalAllow
					break
				}
				since = day(k)
			}
			if gotSince, gotStands := answer.Recall(&p.Answers, &m, now, p.MaxRedirects); !gotSince.Equal(since) ||
				gotStands != stands {
				t.Fatalf("profile %d: since %v, copy stands %v; want %v, %v", i, gotSince, gotStands, since, stands)
			}
		}
		if len(m.Seen) > answer.MaxSeen {
			t.Fatalf("the memory has %d kinds", len(m.Seen))
		}
	})
}

// The cases of SPEC 2 in words: each profile decides what counts as
// unreachable.
func TestMemoryByProfile(t *testing.T) {
	strict := named("rfc9309")
	strict.Name, strict.TooManyRequests = "strict", answer.ServerError
	good, missing, limited, broken := answer.Facts{Hops: chain(200)}, answer.Facts{Hops: chain(404)},
		answer.Facts{Hops: chain(429)}, answer.Facts{Hops: chain(500), Misconfigured: true}
	for _, c := range []struct {
		name    string
		answers []answer.Facts // one a day; the last is the new one
		profile *robots.Profile
		want    string // outcome, reason, day of unreachable_since
	}{
		{"200, 429: the copy is kept", []answer.Facts{good, limited}, strict, "undefined stale_copy 1"},
		{"200, 429: an answer", []answer.Facts{good, limited}, named("rfc9309"), "full_allow client_error -"},
		{"200, misconfigured: not in the standard", []answer.Facts{good, broken}, named("rfc9309"), "undefined stale_copy 1"},
		{"200, misconfigured: as 404", []answer.Facts{good, broken}, named("google"), "full_allow misconfigured_server -"},
		{"200, 429, 5xx: the 429 is of the outage", []answer.Facts{good, limited, broken}, strict, "undefined stale_copy 1"},
		{"200, 429, 5xx: the 429 has superseded the copy", []answer.Facts{good, limited, broken}, named("rfc9309"),
			"full_disallow server_error 2"},
		{"200, 404, 5xx: superseded for all", []answer.Facts{good, missing, broken}, strict, "full_disallow server_error 2"},
		{"429 first", []answer.Facts{limited, limited, broken}, strict, "full_disallow server_error 0"},
		{"429 first: the outage is the 5xx", []answer.Facts{limited, limited, broken}, named("rfc9309"),
			"full_disallow server_error 2"},
		{"200 again", []answer.Facts{good, broken, good, limited}, strict, "undefined stale_copy 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			day := func(n int) time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) }
			var m answer.Memory
			last := len(c.answers) - 1
			for i, f := range c.answers[:last] {
				m = m.After(f.Kind(), day(i))
			}
			m.HasCopy = m.WholeCopy()
			f := c.answers[last]
			f.Time, f.Memory = day(last), &m
			a := c.profile.Answer(f)
			since := "-"
			if !a.UnreachableSince.IsZero() {
				since = fmt.Sprint(int(a.UnreachableSince.Sub(day(0)) / (24 * time.Hour)))
			}
			if got := fmt.Sprint(a.Outcome, " ", a.Reason, " ", since); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			// The memory may contain the answer itself already.
			m = m.After(f.Kind(), f.Time)
			m.HasCopy = m.WholeCopy()
			f.Memory = &m
			if again := c.profile.Answer(f); !a.UnreachableSince.IsZero() && again != a {
				t.Errorf("with itself in the memory: %+v, before %+v", again, a)
			}
		})
	}
}

// A host that keeps giving new kinds of answers costs bounded memory, and its
// outage is reported as no longer than known.
func TestMemoryIsBounded(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := answer.Memory{}.After(answer.Kind{Class: answer.Success}, at)
	for i := range 3 * answer.MaxSeen {
		at = at.AddDate(0, 0, 1)
		m = m.After(answer.Kind{Class: answer.ServerError, Redirects: i}, at)
	}
	if len(m.Seen) != answer.MaxSeen || m.WholeCopy() {
		t.Errorf("%d kinds, whole copy %v", len(m.Seen), m.WholeCopy())
	}
	p := named("google")
	p.MaxRedirects = 1000
	if since, stands := answer.Recall(&p.Answers, &m, at, p.MaxRedirects); stands ||
		!since.Equal(at.AddDate(0, 0, 1-answer.MaxSeen)) {
		t.Errorf("since %v, stands %v", since, stands)
	}
}

// Failure is the column error_class: an outage of any kind.
func TestFailure(t *testing.T) {
	for _, c := range []struct {
		name  string
		facts answer.Facts
		want  answer.ErrorClass
	}{
		{"200", answer.Facts{Hops: chain(200)}, ""},
		{"404", answer.Facts{Hops: chain(404)}, ""},
		{"429", answer.Facts{Hops: chain(429)}, ""},
		{"3xx", answer.Facts{Hops: chain(301), Unfollowed: true}, ""},
		{"500", answer.Facts{Hops: chain(500)}, "server_error"},
		{"misconfigured", answer.Facts{Hops: chain(503), Misconfigured: true}, "server_error"},
		{"redirect to 502", answer.Facts{Hops: chain(301, 502)}, "server_error"},
		{"304", answer.Facts{Hops: chain(304)}, "unexpected_status"},
		{"600", answer.Facts{Hops: chain(600)}, "unexpected_status"},
		{"stopped after a 500", answer.Facts{Hops: chain(500), Error: answer.ErrorCanceled}, "canceled"},
		{"dns", answer.Facts{Hops: chain(0), Error: answer.ErrorDNSNotFound}, "dns_not_found"},
		{"ftp 421", answer.Facts{Hops: []answer.Hop{{URL: "ftp://h/robots.txt", Status: 421}}}, "server_error"},
		{"ftp 550", answer.Facts{Hops: []answer.Hop{{URL: "ftp://h/robots.txt", Status: 550}}}, ""},
	} {
		if got := c.facts.Failure(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A clock that was ahead has dated an earlier answer after this one.
func TestUnreachableSinceIsNeverInTheFuture(t *testing.T) {
	now := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	failed, whole := answer.Facts{Error: answer.ErrorDNSFailure}.Kind(), answer.Facts{Hops: chain(200)}.Kind()
	google := named("google")
	for _, before := range [][]answer.Kind{{failed}, {whole, failed}} {
		var m answer.Memory
		for i, kind := range before {
			m = m.After(kind, now.AddDate(4, 0, i))
		}
		if since, _ := answer.Recall(&google.Answers, &m, now, google.MaxRedirects); !since.Equal(now) {
			t.Errorf("%v: unreachable since %v, which is after %v", before, since, now)
		}
		// Once the clock is right the outage ages.
		m = m.After(failed, now)
		if since, _ := answer.Recall(&google.Answers, &m, now.AddDate(0, 0, 7), google.MaxRedirects); !since.Equal(now) {
			t.Errorf("%v: a week later unreachable since %v, want %v", before, since, now)
		}
	}
}
